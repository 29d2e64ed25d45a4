"""The general trial balance is read in every dress that 1С gives it, line by line."""

from random import Random

import pytest

from armka.osv import trial_balance
from armka.osv.grid import Cell, Grid, LooseRow, Merge, Style
from armka.osv.reports import NotTrialBalance
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import lines, texts, total, truth
from tests.books.sheets import Look
from tests.osv.grids import grid_of, ledger

LAYOUTS = {
    "two columns": Layout(),
    "one column": Layout(combined=True),
    "data from column B, further down": Layout(first_column=1, above=7),
    "decorative columns": Layout(decorative=(1, 0, 2, 1, 0, 1)),
    "codes as text": Layout(numeric_codes=False),
    "amounts as text": Layout(text_amounts="\u00a0"),
    "no outline": Layout(outline=False, outline_indent=False),
    "closed outline": Layout(collapsed=True),
    "numbered columns": Layout(numbered_columns=True),
    "header on every page": Layout(page_break_after=10),
    "noise of binary arithmetic": Layout(noise=2e-16),
    "no signatures": Layout(signatures=False),
    "line breaks in the header": Layout(
        groups=(
            "Сальдо на\nначало периода",
            "Обо-\nроты за период",
            "Сальдо на ко\u00adнец периода",
        ),
        sides=("Де-\nбет", "Кредит"),
    ),
    "dates in the header": Layout(
        groups=("Сальдо на 01.01.2023", "Обороты", "Сальдо на 31.12.2023"), sides=("Дт", "Кт")
    ),
    "остатки": Layout(groups=("Входящие остатки", "Оборот за период", "Исходящие остатки")),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("expanded", [False, True], ids=["netted", "expanded"])
def test_every_line_is_read(layout, expanded):
    book = ledger(5, expanded=expanded, off_balance=True)
    document = trial_balance.read(grid_of(lay_out(book, layout))).documents[0]
    assert lines(document) == truth(book)
    assert total(document) == texts(book.total)
    assert document.checks == []
    assert document.group_schema == "accounts_subaccounts"


def test_accounts_alone_are_a_family_of_their_own():
    book = ledger(2, subaccounts=False)
    document = trial_balance.read(grid_of(lay_out(book, Layout()))).documents[0]
    assert document.group_schema == "accounts"
    assert {line.level for line in document.lines} == {0}


def test_lines_point_to_their_rows_and_amounts_to_their_columns():
    sheet = lay_out(ledger(), Layout(first_column=1, above=3, decorative=(1,)))
    document = trial_balance.read(grid_of(sheet)).documents[0]
    assert document.columns == ["D", "F", "G", "H", "I", "J"]
    first = document.lines[0]
    assert sheet.cells[(first.row or 0) - 1, 1][0] == 1
    assert first.account == "01"


def test_subaccounts_know_their_parents_without_any_outline():
    sheet = lay_out(ledger(), Layout(outline=False, outline_indent=False))
    document = trial_balance.read(grid_of(sheet)).documents[0]
    by_account = {line.account: line for line in document.lines}
    assert by_account["90.01.1"].parent == by_account["90.01"].n
    assert by_account["90.01"].parent == by_account["90"].n
    assert by_account["90"].parent is None


def test_an_outline_made_by_hand_makes_no_account_the_child_of_another():
    sheet = lay_out(ledger(subaccounts=False), Layout(outline=False))
    sheet.levels = dict.fromkeys(range(8, 12), 1)
    document = trial_balance.read(grid_of(sheet)).documents[0]
    assert all(line.parent is None for line in document.lines)
    assert document.checks == []


def test_an_italic_row_that_repeats_an_account_is_not_counted_twice():
    book = ledger(subaccounts=False)
    sheet = lay_out(book, Layout(numeric_codes=False, signatures=False, total=False))
    below = max(row for row, _ in sheet.cells) + 1
    repeated = book.accounts[3]
    sheet.put(below, 0, repeated.code, Look(italic=True))
    for column, value in enumerate(repeated.values, 2):
        sheet.put(below, column, value / 100)
    document = trial_balance.read(grid_of(sheet)).documents[0]
    assert document.lines[-1].kind == "group"
    assert [check.rule for check in document.checks] == ["R4"]
    assert document.checks[0].severity == "warning"


def test_a_group_of_accounts_is_a_line_and_no_addend():
    book = ledger(subaccounts=False)
    layout = Layout(outline=False, numeric_codes=False)
    sheet = lay_out(book, layout)
    first = min(row for (row, column), (value, _) in sheet.cells.items() if value == "01")
    grouped = grid_of(sheet)
    for row in grouped.rows:
        if row.number > first:
            row.number += 1
    values = book.total
    grouped.styles.append(Style(italic=True))
    cells: list[Cell] = [(0, "Раздел I. Все счета", len(grouped.styles) - 1)]
    cells += [(column, value / 100, 0) for column, value in enumerate(values, 2)]
    index = next(i for i, row in enumerate(grouped.rows) if row.number > first)
    grouped.rows.insert(index, LooseRow(first + 1, cells))
    document = trial_balance.read(grouped).documents[0]
    assert document.lines[0].kind == "group"
    assert document.checks == []


def test_rows_of_mere_text_between_the_lines_change_nothing():
    book = ledger(4, off_balance=True)
    grid = grid_of(lay_out(book, Layout()))
    notes = ["Забалансовые счета", "* без учета корректировок", "Примечание: проверено", " "]
    for row in grid.rows:
        row.number *= 2
    header = next(row.number for row in grid.rows if len(row.cells) == 6)
    merges = [
        Merge(2 * m.first_row, 2 * m.last_row, m.first_column, m.last_column) for m in grid.merges
    ]
    extra = [LooseRow(header + 3 + 2 * n, [(0, note, 0)]) for n, note in enumerate(notes)]
    grid.rows = sorted([*grid.rows, *extra], key=lambda row: row.number)
    grid.merges = merges
    document = trial_balance.read(grid).documents[0]
    assert lines(document) == truth(book)
    assert document.checks == []


def test_two_tables_on_a_sheet_are_two_documents():
    books = [ledger(1, subaccounts=False), ledger(2, subaccounts=False)]
    books[1].period = "за 2024 г."
    upper, lower = (lay_out(book, Layout()) for book in books)
    below = max(row for row, _ in upper.cells) + 3
    for (row, column), cell in lower.cells.items():
        upper.cells[row + below, column] = cell
    upper.merges += [
        (r + below, c, last_r + below, last_c) for r, c, last_r, last_c in lower.merges
    ]
    documents = trial_balance.read(grid_of(upper)).documents
    assert [lines(document) for document in documents] == [truth(book) for book in books]
    assert [document.period and document.period.text for document in documents] == [
        "за 2023 г.",
        "за 2024 г.",
    ]


def test_hidden_rows_are_read_and_told():
    sheet = lay_out(ledger(subaccounts=False), Layout(outline=False))
    sheet.hidden_rows = {8, 9}
    reading = trial_balance.read(grid_of(sheet))
    assert reading.documents[0].checks == []
    assert any("скрытые строки (2)" in warning for warning in reading.warnings)


@pytest.mark.parametrize("seed", range(20))
def test_shuffled_columns_of_decoration_change_nothing(seed):
    random = Random(seed)
    book = make(random, share=0.6)
    layout = Layout(
        combined=random.random() < 0.5,
        first_column=random.randrange(3),
        decorative=tuple(random.randrange(3) for _ in range(6)),
    )
    document = trial_balance.read(grid_of(lay_out(book, layout))).documents[0]
    assert lines(document) == truth(book)


def test_an_empty_grid_is_no_trial_balance():
    with pytest.raises(NotTrialBalance):
        trial_balance.read(Grid("Лист1", [], [], []))
