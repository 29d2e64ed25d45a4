"""What ИС Сканирование read becomes lines, and nothing that it was unsure of becomes a number."""

import json
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armka.contract.result import Document
from armka.contract.vocabulary import Column, ErrorCode, Severity
from armka.osv import misread
from armka.osv.amounts import to_text
from armka.sdk.handler import Refused
from tests.books.ledger import Ledger, make
from tests.books.recognised import lines, text, texts, total, truth
from tests.scan_gateway.printed import (
    EDGES,
    HEIGHT,
    WIDTH,
    Paper,
    answer,
    line_of_words,
    money,
    page,
    whole,
)
from tests.scan_gateway.reading import read, refusal

WORD = {"text": "x", "box": [0, 0, 1, 1]}
SURE = Paper(source="ocr", confidence=0.96)


@pytest.fixture
def ledger() -> Ledger:
    """A whole balance with off-balance accounts."""
    return make(Random(1), off_balance=True)


def errors(document: Document) -> list[str]:
    return [check.rule for check in document.checks if check.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "paper",
    [
        Paper(),
        Paper(rows_a_page=20),
        Paper(rows_a_page=20, header_again=False),
        Paper(rows_a_page=10, source="ocr", confidence=0.95),
        Paper(rows_a_page=20, numbered_columns=True),
    ],
    ids=["a-page", "header-again", "no-header-again", "recognised", "numbered-columns"],
)
def test_pages_become_one_checked_document(tmp_path, ledger, paper):
    ledger.inn = "7707083893"
    read_out = read(tmp_path, answer(ledger, paper))
    (document,) = read_out.documents
    assert (lines(document), total(document)) == (truth(ledger), texts(ledger.total))
    assert (document.checks, read_out.needs_check) == ([], False)
    assert document.organisation is not None
    assert (document.organisation.name, document.organisation.inn) == (
        'ООО "Ромашка-Трейд"',
        "7707083893",
    )
    assert document.period is not None
    assert (document.period.from_, document.period.to) == ledger.dates


def test_each_value_keeps_its_page_its_box_and_its_confidence(tmp_path, ledger):
    def spoil(code, column, cell):
        if (code, column) == ("60.01", 4):
            cell["confidence"] = 0.81

    paper = Paper(rows_a_page=10, source="ocr", confidence=0.95, spoil=spoil)
    (document,) = read(tmp_path, answer(ledger, paper)).documents
    line = next(line for line in document.lines if line.account == "60.01")
    at = [line.account for line in document.lines].index("60.01")
    assert (line.row, line.page) == (None, at // 10 + 1)
    assert line.confidence is not None
    assert line.confidence[2] == (0.81 if line.values[2] else None)
    assert line.boxes is not None
    for which, box in enumerate(line.boxes):
        assert box is not None
        assert box[0] * WIDTH == pytest.approx(EDGES[2 + which], abs=1)
        assert 0 < box[1] < box[3] <= 1
    assert document.columns is None
    assert document.source.pages == list(range(1, -(-len(document.lines) // 10) + 1))


def test_nobody_invents_the_confidence_of_a_text_layer(tmp_path, ledger):
    (document,) = read(tmp_path, answer(ledger)).documents
    assert {value for line in document.lines for value in line.confidence or []} == {None}
    assert all(line.page == 1 for line in document.lines)


@pytest.mark.parametrize(
    ("spoiled", "suggested"),
    [
        ({"confidence": 0.3}, True),
        ({"alternatives": [{"text": "9 876,50", "confidence": 0.2}]}, True),
        ({"text": "nothing of it"}, False),
    ],
    ids=["low-confidence", "two-readings", "no-figure"],
)
def test_an_unsure_amount_is_unknown_with_a_proposal(tmp_path, ledger, spoiled, suggested):
    target = next(account for account in ledger.accounts if account.values[2] > 100)

    def spoil(code, column, cell):
        if (code, column) == (target.code, 4):
            cell.update(spoiled)

    read_out = read(tmp_path, answer(ledger, Paper(source="ocr", confidence=0.95, spoil=spoil)))
    (document,) = read_out.documents
    line = next(line for line in document.lines if line.account == target.code)
    assert line.values[2] is None
    (unknown,) = line.unknown
    assert unknown.column is Column.TURNOVER_DEBIT
    # The row's own equation says what it must be, whatever the engine makes of it.
    assert (unknown.suggested, unknown.rule) == (text(target.values[2]), "R1")
    assert read_out.needs_check
    assert (unknown.raw == money(target.values[2])) is suggested


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=100, max_value=10**12), st.data())
def test_a_figure_misread_by_shape_is_proposed_and_never_taken(hundredths, data):
    printed = money(hundredths)
    shapes = {"0": "О", "3": "З", "6": "б", "8": "В", "1": "l", "5": "S"}
    places = [at for at, char in enumerate(printed) if char in shapes]
    spoiled = set(data.draw(st.lists(st.sampled_from(places), max_size=2))) if places else set()
    seen = "".join(shapes[c] if at in spoiled else c for at, c in enumerate(printed))
    if misread.looks_like_amount(seen):
        meant = misread.meant(seen, kopecks=True)
        assert meant is not None
        assert Decimal(to_text(meant)) == Decimal(text(hundredths))


def test_a_comma_that_was_lost_is_no_hundredfold_amount(tmp_path, ledger):
    """By itself "123456" is a number; among amounts with kopecks it is one that lost its comma."""
    total_of = ledger.total[2]

    def spoil(code, column, cell):
        if column == 4 and cell["text"] == money(total_of):
            cell["text"] = cell["text"].replace(",", "").replace(" ", "")

    (document,) = read(
        tmp_path, answer(ledger, Paper(source="ocr", confidence=0.95, spoil=spoil))
    ).documents
    found = next(line for line in document.lines if line.name == "Итого")
    assert found.values[2] is None
    assert found.unknown[0].suggested == text(total_of)


def test_an_empty_cell_that_may_hold_something_is_not_empty(tmp_path, ledger):
    target = next(account for account in ledger.accounts if account.values[2] > 100)

    def spoil(code, column, cell):
        if (code, column) == (target.code, 4):
            cell.update(text="", confidence=0.1)

    (document,) = read(
        tmp_path, answer(ledger, Paper(source="ocr", confidence=0.9, spoil=spoil))
    ).documents
    line = next(line for line in document.lines if line.account == target.code)
    assert (line.values[2], line.unknown[0].raw) == (None, "")


@pytest.mark.parametrize(("dpi", "shrunk"), [(150, 1), (300, 2.5), (None, 2.5)])
def test_a_coarse_page_goes_to_an_analyst_whatever_its_sums_say(tmp_path, ledger, dpi, shrunk):
    """Whatever resolution is claimed: no more than an A4 sheet of so many pixels has."""
    made = answer(ledger, Paper(source="ocr", confidence=0.99, dpi=dpi))
    for it in (made["pages"][0], *made["pages"][0]["words"], *made["pages"][0]["tables"]):
        shrink(it, shrunk)
    for cell in made["pages"][0]["tables"][0]["cells"]:
        shrink(cell, shrunk)
    (document,) = read(tmp_path, made).documents
    assert lines(document) == truth(ledger)
    assert errors(document) == ["R11"]
    assert "Разрешение ниже 200" in document.checks[0].message


def shrink(it, by):
    if "box" in it:
        it["box"] = [side / by for side in it["box"]]
    if "width" in it:
        it.update(width=int(it["width"] / by), height=int(it["height"] / by))


def test_labels_that_came_out_smudged_are_understood(tmp_path, ledger):
    smudged = {
        "Обороты за период": "О55ззты за период",
        "Наименование счета": "Наимен=ание счета",
        "Кредит": "Кредпт",
        "Дебет": "Дебег",
        "Счет": "Счет",
        "Итого": "Итоrо",
    }

    made = answer(ledger, SURE)
    for cell in made["pages"][0]["tables"][0]["cells"]:
        cell["text"] = smudged.get(cell["text"], cell["text"])
    (document,) = read(tmp_path, made).documents
    assert (lines(document), total(document)) == (truth(ledger), texts(ledger.total))
    assert document.checks == []


def test_a_text_layer_has_no_resolution_to_speak_of(tmp_path, ledger):
    assert not read(tmp_path, answer(ledger, Paper(dpi=72))).needs_check


def test_amounts_of_which_nobody_knows_how_sure_they_are_go_to_an_analyst(tmp_path, ledger):
    (document,) = read(tmp_path, answer(ledger, Paper(source="ocr"))).documents
    assert errors(document) == ["R11"]
    assert lines(document) == truth(ledger)


@pytest.mark.parametrize(
    ("column", "change"),
    [(0, {"confidence": 0.2}), (0, {"text": "60,01"})],
    ids=["low-confidence", "comma-for-point"],
)
def test_an_unsure_code_is_said(tmp_path, ledger, column, change):
    def spoil(code, at, cell):
        if (code, at) == ("60.01", column):
            cell.update(change)

    (document,) = read(
        tmp_path, answer(ledger, Paper(source="ocr", confidence=0.9, spoil=spoil))
    ).documents
    assert "R8" in errors(document)
    assert any("неуверенно" in check.message for check in document.checks)


def test_a_row_whose_account_was_not_read_is_said_with_its_amounts(tmp_path, ledger):
    target = next(account for account in ledger.accounts if account.values[2] > 100)

    def spoil(code, column, cell):
        if code == target.code and column < 2:
            cell.update(text="", confidence=None)

    read_out = read(tmp_path, answer(ledger, Paper(source="ocr", confidence=0.9, spoil=spoil)))
    (document,) = read_out.documents
    said = [check.message for check in document.checks if "счет не прочитан" in check.message]
    assert len(said) == 1
    assert money(target.values[2]) in said[0]
    assert read_out.needs_check
    assert len(lines(document)) == len(truth(ledger)) - 1


def test_an_unsure_period_is_said(tmp_path, ledger):
    made = answer(ledger, SURE)
    for word in made["pages"][0]["words"]:
        if word["text"] == "2023":
            word["confidence"] = 0.3
    (document,) = read(tmp_path, made).documents
    assert errors(document) == ["R13"]


def test_amounts_outside_every_table_are_said(tmp_path, ledger):
    made = answer(ledger, SURE)
    made["pages"][0]["words"] += line_of_words("51 Расчетные счета 1 234,56", 5000)
    (document,) = read(tmp_path, made).documents
    assert errors(document) == ["R11"]
    assert "вне таблицы" in document.checks[0].message


def test_messages_speak_of_pages(tmp_path, ledger):
    def spoil(code, column, cell):
        if (code, column) == ("80", 4):
            cell["text"] = "1,00" if cell["text"] != "1,00" else "2,00"

    paper = Paper(rows_a_page=30, spoil=spoil)
    (document,) = read(tmp_path, answer(ledger, paper)).documents
    said = [check.message for check in document.checks]
    assert said
    assert all("страницы" in message for message in said if message.startswith("Строка"))


def test_columns_are_matched_by_where_they_stand(tmp_path, ledger):
    """On the second page a rule was lost: codes and names are one column there."""
    made = answer(ledger, Paper(rows_a_page=40, header_again=False))
    table = made["pages"][1]["tables"][0]
    table["columns"] = 7
    cells: list[dict[str, Any]] = []
    for cell in table["cells"]:
        if cell["column"] == 1:
            before = cells[-1]
            before["text"] = f"{before['text']}, {cell['text']}".strip(", ")
            before["box"][2] = cell["box"][2]
            continue
        cell["column"] -= cell["column"] > 1
        cells.append(cell)
    table["cells"] = cells
    (document,) = read(tmp_path, made).documents
    assert [(one, four) for one, _, _, _, four in lines(document)] == [
        (one, four) for one, _, _, _, four in truth(ledger)
    ]


def test_two_reports_in_one_file_are_two_documents(tmp_path):
    ledgers = [make(Random(seed)) for seed in (1, 2)]
    first, second = (answer(one)["pages"][0] for one in ledgers)
    read_out = read(tmp_path, whole([first, second | {"number": 2}]))
    assert [lines(document) for document in read_out.documents] == [truth(one) for one in ledgers]
    assert [document.source.pages for document in read_out.documents] == [[1], [2]]


def test_a_book_of_two_columns_is_read_column_by_column(tmp_path, ledger):
    made = answer(ledger, Paper(rows_a_page=40))
    left, right = made["pages"]
    for cell in right["tables"][0]["cells"]:
        cell["box"] = [
            cell["box"][0] + WIDTH,
            cell["box"][1],
            cell["box"][2] + WIDTH,
            cell["box"][3],
        ]
    box = right["tables"][0]["box"]
    right["tables"][0]["box"] = [box[0] + WIDTH, box[1], box[2] + WIDTH, box[3]]
    spread = page(1, left["words"], [right["tables"][0], left["tables"][0]], width=2 * WIDTH)
    (document,) = read(tmp_path, whole([spread | {"height": HEIGHT}])).documents
    assert lines(document) == truth(ledger)


def test_a_file_that_is_no_trial_balance_says_so(tmp_path):
    words = line_of_words("Договор поставки № 5", 100)
    refused = refusal(tmp_path, whole([page(1, words, [])]))
    assert refused.code is ErrorCode.INVALID_DOCUMENT
    assert "на страницах" in refused.message


def test_a_blank_file_cannot_be_read(tmp_path):
    assert refusal(tmp_path, whole([page(1, [], []), page(2, [], [])])).code is ErrorCode.UNREADABLE


def _cell(**fields):
    return {"row": 0, "column": 0, "box": [0, 0, 1, 1], "text": "", **fields}


def _with_table(**fields):
    table = {"box": [0, 0, 1, 1], "rows": 1, "columns": 1, "cells": []} | fields
    return json.dumps(whole([page(1, [], [table])])).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"x":' * 100_000,
        b'{"schema_version":"1.0","pages":' + b"[" * 50_000,
        json.dumps(whole([]))[:-30].encode(),
        json.dumps(whole([]) | {"schema_version": "2.0"}).encode(),
        json.dumps(whole([], "another")).encode(),
        json.dumps(whole([page(0, [], [])])).encode(),
        json.dumps(whole([page(1, [], []), page(1, [], [])])).encode(),
        json.dumps(whole([page(1, [], [], source="magic")])).encode(),
        json.dumps(whole([page(1, [{"text": "x", "box": [1, 2, 3]}], [])])).encode(),
        json.dumps(whole([page(1, [WORD | {"confidence": 97}], [])])).encode(),
        _with_table(cells=[_cell(row=1)]),
        _with_table(cells=[_cell(), _cell()]),
        _with_table(cells=[_cell(column_span=10**6, row_span=10**6)]),
        _with_table(rows=10**6, columns=10**6, cells=[_cell(column_span=10**6, row_span=10**6)]),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_a_schema_mismatch(tmp_path, body):
    refused = refusal(tmp_path, body)
    assert refused.code is ErrorCode.SCHEMA_MISMATCH
    assert len(refused.message) < 1000


def test_limits_are_said(tmp_path):
    many = whole([page(number, [], []) for number in range(1, 502)])
    assert refusal(tmp_path, many).code is ErrorCode.FILE_READ_ERROR
    large = refusal(tmp_path, whole([page(1, [], [], width=50_000, height=50_000)]))
    assert large.code is ErrorCode.FILE_READ_ERROR
    assert "50000 × 50000" in large.message


_TEXTS = st.text(max_size=12) | st.sampled_from(["Дебет", "Кредит", "1 234,56", "60.01", "Счет"])
_CELLS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 8), _TEXTS, st.none() | st.floats(0, 1)),
    max_size=90,
    unique_by=lambda cell: cell[:2],
)


@settings(max_examples=80, deadline=None)
@given(_CELLS, st.sampled_from(["ocr", "text"]), st.lists(_TEXTS, max_size=5))
def test_whatever_the_cells_hold_it_is_read_or_refused(tmp_path_factory, cells, source, above):
    folder = tmp_path_factory.mktemp("any")
    made = [
        _cell(row=r, column=c, text=text, confidence=sure, box=[c * 9, r * 9, c * 9 + 9, r * 9 + 9])
        for r, c, text, sure in cells
    ]
    table = {"box": [0, 0, 81, 90], "rows": 10, "columns": 9, "cells": made}
    words = [word for at, line in enumerate(above) for word in line_of_words(line, 200 + 40 * at)]
    try:
        read_out = read(folder, whole([page(1, words, [table], source=source)]))
    except Refused:
        return
    assert read_out.documents
