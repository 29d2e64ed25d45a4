"""Every family of reports is read line by line, in every dress, and a wrong digit in it is told."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armka.osv import trial_balance
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES
from tests.osv.corruption import corruptions
from tests.osv.grids import grid_of
from tests.osv.read_lines import lines_of

EACH = pytest.mark.parametrize("family", FAMILIES)
DRESSES = {
    "as 1С prints it": Dress(),
    "lost outline": Dress(outline=False),
    "lost outline and indents": Dress(outline=False, indent=False),
    "header without its legend": Dress(legend=False),
    "decorative columns, notes": Dress(decorative=(1, 0, 2), first_column=1, above=3, notes=True),
    "header on every page": Dress(page_break_after=7),
    "amounts as text": Dress(text_amounts="\u00a0"),
    "other words": Dress(sides=("Дт", "Кт")),
}
# What a report must be told for, whatever is in it.
EXPECTED = {"four digits": ["R8"]}
dresses = st.builds(
    Dress,
    first_column=st.integers(0, 3),
    above=st.integers(0, 4),
    decorative=st.lists(st.integers(0, 2), max_size=5).map(tuple),
    outline=st.booleans(),
    indent=st.booleans(),
    legend=st.booleans(),
    notes=st.booleans(),
    signatures=st.booleans(),
    page_break_after=st.sampled_from([None, 4, 9]),
    sides=st.sampled_from([("Дебет", "Кредит"), ("Дт", "Кт"), ("Де-\nбет", "Кредит")]),
    text_amounts=st.sampled_from([None, None, " ", "\u202f"]),
)


def held_against_the_truth(family: str, seed: int, dress: Dress) -> None:
    report = FAMILIES[family](Random(seed))
    reading = trial_balance.read(grid_of(report.sheet(dress)))
    (document,) = reading.documents
    assert lines_of(document) == report.lines()
    assert document.group_schema == report.family
    assert document.account == report.account
    assert [check.rule for check in document.checks] == EXPECTED.get(family, [])
    assert reading.warnings == []


@EACH
@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
def test_every_line_of_every_family_is_read(family, dress):
    held_against_the_truth(family, 1, dress)


@EACH
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), dress=dresses)
def test_what_was_laid_out_is_read(family, seed, dress):
    held_against_the_truth(family, seed, dress)


@EACH
def test_a_wrong_digit_makes_a_named_rule_fail(family):
    """As an error, but for kopecks that are within the tolerance: those are warned of."""
    report = FAMILIES[family](Random(3))
    found = list(corruptions(grid_of(report.sheet(Dress())), Random(3), 12))
    assert found
    for one in found:
        assert one.errors or one.warnings, one
        assert one.errors or abs(float(one.after) - float(one.before)) < 0.1, one


@EACH
def test_every_amount_says_where_it_stood(family):
    """The cells that the result names hold the values that it gives."""
    report = FAMILIES[family](Random(2))
    sheet = report.sheet(Dress(decorative=(1,), first_column=2))
    document = trial_balance.read(grid_of(sheet)).documents[0]
    checked = 0
    for line in document.lines:
        for which, value in enumerate(line.values):
            column = (document.columns or [])[which]
            cell = line.cells[which] if line.cells else f"{column}{line.row}" if column else None
            if value is not None and cell is not None:
                assert sheet.at(cell) == pytest.approx(float(value))
                checked += 1
    assert checked > len(document.lines)


def test_two_reports_on_one_sheet_are_two_documents():
    upper = FAMILIES["subconto, two levels"](Random(1)).sheet(Dress())
    lower = FAMILIES["анализ счета"](Random(1)).sheet(Dress())
    below = max(row for row, _ in upper.cells) + 3
    for (row, column), cell in lower.cells.items():
        upper.cells[row + below, column] = cell
    for row, level in lower.levels.items():
        upper.levels[row + below] = level
    documents = trial_balance.read(grid_of(upper)).documents
    assert [d.group_schema for d in documents] == ["account_subconto", "account_analysis"]


def test_a_report_without_a_period_needs_a_check():
    dress = replace(Dress(), period="")
    document = trial_balance.read(
        grid_of(FAMILIES["УПП, субконто"](Random(1)).sheet(dress))
    ).documents[0]
    assert [(check.rule, check.severity) for check in document.checks] == [("R13", "error")]
