"""Kept lines are checked as their sheet was; corrected ones, as a sheet that says so."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from random import Random

import pytest

from armka.contract.result import Check, Document
from armka.contract.vocabulary import Column
from armka.osv import trial_balance
from armka.osv.checks import recheck as rechecking
from armka.osv.checks.recheck import About, check, concerned, entry_of, recheck
from armka.osv.entries import Entry
from armka.osv.grid import Grid, LooseRow
from tests.books.layouts import Layout, lay_out
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES
from tests.osv.grids import document_of, grid_of, ledger

COLUMNS = list(Column)
_SEEN_BY_THE_READER_ALONE = {"R11", "R12", "R13"}
# What a turnover by correspondent account was in sum is no part of a line.
_WITH_CORRESPONDENTS = {"обороты счета", "обороты счета, УПП", "анализ счета"}
BOOKS = [*FAMILIES, "general", "general without a total"]

Edit = tuple[int, int, Decimal | None]


def grid_named(book: str, seed: int) -> Grid:
    if book in FAMILIES:
        return grid_of(FAMILIES[book](Random(seed)).sheet(Dress()))
    layout = Layout(total=book == "general")
    return grid_of(lay_out(ledger(seed, off_balance=True), layout))


def about(document: Document) -> About:
    header = document.source.header
    return About(
        unit=document.unit,
        account=document.account,
        period_to=document.period.to if document.period else None,
        shape=header.shape if header else None,
    )


def entries(document: Document, edit: Edit | None = None) -> list[Entry]:
    """The lines as the core keeps them, one of their values corrected."""
    made = []
    for line in document.lines:
        values = [None if value is None else Decimal(value) for value in line.values]
        unknown = [cell.column for cell in line.unknown]
        if edit is not None and edit[0] == line.n:
            values[edit[1]] = edit[2]
            unknown = [column for column in unknown if column is not COLUMNS[edit[1]]]
        made.append(
            entry_of(
                n=line.n,
                parent=line.parent,
                level=line.level,
                kind=line.kind,
                account=line.account,
                name=line.name,
                indicator=line.indicator,
                currency=line.currency,
                off_balance=line.off_balance,
                values=values,
                unknown=unknown,
                row=line.row,
                places=line.cells,
            )
        )
    return made


def said(checks: list[Check], *, of_lines_alone: bool = False) -> Counter[tuple[object, ...]]:
    return Counter(
        (one.rule, one.severity, *one.lines, one.column, one.expected, one.actual, one.message)
        for one in checks
        if not (of_lines_alone and one.rule in _SEEN_BY_THE_READER_ALONE)
    )


def rechecked(document: Document, edit: Edit, lines: set[int] | None = None) -> list[Check]:
    def state(edit: Edit | None) -> rechecking.Checked:
        kept = [one for one in entries(document, edit) if lines is None or one.n in lines]
        return check(kept, about(document))

    return recheck(document.checks, state(None), state(edit))


@pytest.mark.parametrize("book", BOOKS)
def test_kept_lines_fail_where_the_sheet_did(book: str) -> None:
    for seed in range(3):
        document = document_of(grid_named(book, seed))
        found = check(entries(document), about(document)).findings
        assert said(found) == said(document.checks, of_lines_alone=True)


def _written_otherwise(grid: Grid, document: Document, random: Random) -> Edit | None:
    """Change an amount in the sheet; which value of which line it was and what to."""
    line, which = random.choice(document.lines), random.randrange(6)
    column = (document.columns or [None] * 6)[which]
    cell = line.cells[which] if line.cells else column and f"{column}{line.row}"
    place = re.fullmatch(r"([A-Z])(\d+)", cell or "")
    if place is None or line.values[which] is None:
        return None
    row = next((row for row in grid.rows if row.number == int(place[2])), None)
    for index, (at, value, style) in enumerate(row.cells if row else ()):
        if row and at == ord(place[1]) - ord("A") and isinstance(value, float):
            other = value + random.choice([0.01, 5, 1000, 1 - value])
            row.cells[index] = (at, other, style)
            return line.n, which, None
    return None


def _shape(document: Document) -> list[tuple[object, ...]]:
    return [(line.parent, line.kind, line.level, line.name) for line in document.lines]


def _edits(book: str) -> Iterator[tuple[Document, Document, Edit]]:
    """Books read as they were, and as they are with one amount written otherwise."""
    random = Random(book)
    for seed in range(3):
        document = document_of(grid_named(book, seed))
        for _ in range(12):
            grid = grid_named(book, seed)
            edit = _written_otherwise(grid, document, random)
            other = trial_balance.read(grid).documents[0] if edit else document
            if edit is None or _shape(other) != _shape(document):
                continue  # the amounts told the hierarchy, and now tell another one
            changed = [
                (line.n, which, after)
                for before, line in zip(document.lines, other.lines, strict=True)
                for which, after in enumerate(line.values)
                if after != before.values[which]
            ]
            if len(changed) == 1:
                n, which, value = changed[0]
                yield document, other, (n, which, Decimal(value or 0))


@pytest.mark.parametrize("book", BOOKS)
def test_a_correction_leads_to_what_a_sheet_with_that_value_says(
    book: str,
) -> None:
    tried = 0
    for document, other, edit in islice(_edits(book), 8):
        missing = said(other.checks) - said(rechecked(document, edit))
        too_many = said(rechecked(document, edit)) - said(other.checks)
        assert not too_many
        assert not missing or (
            book in _WITH_CORRESPONDENTS and {key[0] for key in missing} == {"R3"}
        )
        tried += 1
    assert tried


@pytest.mark.parametrize("book", BOOKS)
def test_the_lines_that_a_correction_concerns_say_the_same_as_all(
    book: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rechecking, "LOOK_AT", 6)
    for document, _, edit in islice(_edits(book), 5):
        lines = [(line.n, line.parent, line.kind.value) for line in document.lines]
        near = set(concerned(lines, {edit[0]}))
        assert rechecked(document, edit, near) == rechecked(document, edit)


def test_what_a_correction_made_wrong_another_one_makes_right() -> None:
    document = document_of(grid_named("general", 1))
    line = next(line for line in document.lines if line.account == "60.01")
    right = Decimal(line.values[2] or 0)
    wrong = rechecked(document, (line.n, 2, right + 5))
    assert {one.rule for one in wrong} >= {"R1", "R3"}
    before = check(entries(document, (line.n, 2, right + 5)), about(document))
    assert recheck(wrong, before, check(entries(document), about(document))) == []


def test_what_only_the_reader_saw_stays_and_is_not_said_twice() -> None:
    document = document_of(grid_named("general", 1))
    mine = Check(rule="R11", severity="error", lines=[3], message="Строка 9: число вне колонок")  # type: ignore[arg-type]
    foreign = Check(rule="R8", severity="error", lines=[4], message="another service's word")  # type: ignore[arg-type]
    state = check(entries(document), about(document))
    assert recheck([mine, foreign], state, state) == [foreign, mine]


def test_a_turnover_that_becomes_the_sum_of_its_parts_fails_no_more() -> None:
    document = document_of(grid_named("general", 1))
    line = document.lines[0]
    told = Check(
        rule="R3",
        severity="error",  # type: ignore[arg-type]
        lines=[line.n],
        column=Column.TURNOVER_DEBIT,
        expected="12.00",
        actual=line.values[2],
        message="обороты по корреспондирующим счетам",
    )
    before = check(entries(document), about(document))
    other = check(entries(document, (line.n, 2, Decimal(13))), about(document))
    assert told in recheck([told], before, other)
    same = check(entries(document, (line.n, 2, Decimal("12.00"))), about(document))
    assert told not in recheck([told], before, same)


def test_findings_beyond_those_that_are_told_come_into_sight() -> None:
    """Of 300 failures 200 are told; when one is mended, another takes its place."""
    grid = grid_of(lay_out(ledger(1), Layout(combined=True, total=False, signatures=False)))
    last = grid.rows[-1].number
    for index in range(300):
        grid.rows.append(LooseRow(last + 1 + index, [(0, f"76.{index:03d}, Счет", 0), (1, 5.0, 0)]))
    document = document_of(grid)
    first = next(one for one in document.checks if one.rule == "R1")
    after = [one for one in rechecked(document, (first.lines[0], 0, None)) if one.rule == "R1"]
    assert first not in after
    assert len(after) == 201
    assert after[-1].message.endswith("всего 299")


def test_lines_whose_numbers_have_gaps_are_named_by_them() -> None:
    document = document_of(grid_named("general", 1))
    made = entries(document)
    for one in made:
        one.n, one.parent = one.n * 10, one.parent and one.parent * 10
    made[0].amounts[2] = (made[0].amounts[2] or 0) + 7_000_000
    found = check(made, about(document)).findings
    assert {n % 10 for one in found for n in one.lines} == {0}
