"""What counts as an amount, what is put right in one, and how two readings become one."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.services.scanning_system.reading.marks import Rect, is_strict, likely, tidy
from armka.services.scanning_system.reading.rereading import decide, vote
from armka.services.scanning_system.reading.rules import Rule, Span, grids
from armka.services.scanning_system.reading.strips import Reading
from armka.services.scanning_system.reading.tables import Slot
from tests.pages.printing import amount

AMOUNTS = st.integers(1, 10**14)


@given(AMOUNTS, st.booleans())
def test_a_printed_amount_is_strict_and_stays_as_it_is(value, negative):
    text = amount(-value if negative else value, " ")

    assert is_strict(text)
    assert tidy(text) == text == likely(text)


@given(AMOUNTS, st.data())
def test_spaces_that_were_not_seen_are_put_back(value, data):
    text = amount(value, " ")
    kept = [part + (" " if data.draw(st.booleans()) else "") for part in text.split(" ")]

    assert tidy("".join(kept).strip()) == text


@given(st.integers(10**5, 10**14), st.data())
def test_an_amount_that_lost_a_digit_inside_is_never_made_strict(value, data):
    text = amount(value, " ")
    inner = [i for i in range(text.index(" ") + 1, len(text) - 3) if text[i].isdigit()]
    if not inner:
        return
    lost = data.draw(st.sampled_from(inner))
    broken = text[:lost] + text[lost + 1 :]

    assert not is_strict(tidy(broken)) or " " not in broken


@pytest.mark.parametrize(
    "text", ["12 34,56", "1 2З4,00", "234", "1,2", "", "—", "1 234,5", "01 234,00"]
)
def test_what_may_be_read_in_two_ways_is_not_strict(text):
    assert not is_strict(tidy(text))


def slot(text: str, confidence: float | None) -> Slot:
    return Slot(Span(0, 0, 1, 1), Rect(0, 0, 1, 1), [], text, confidence)


def test_readings_that_agree_are_as_sure_as_the_surer_one():
    cell = slot("1 234,56", 0.8)
    assert decide(cell, Reading("1 234,56", 0.95))

    assert (cell.text, cell.confidence, cell.alternatives) == ("1 234,56", 0.95, [])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("3,14", "5,14"),
        ("1 234,56", "234,56"),
        ("1 2З4,56", "1 254,56"),
        ("7,10", ""),
        ("", "7,10"),
    ],
)
def test_readings_that_differ_are_doubted_and_both_are_shown(first, second):
    cell = slot(first, 0.97)
    reading = Reading(second, 0.97)
    assert not decide(cell, reading)
    vote(cell, [reading])

    assert cell.confidence is not None
    assert cell.confidence < 0.5
    shown = {cell.text, *(it.text for it in cell.alternatives)}
    assert {text for text in (first, second) if text} <= shown


def test_of_readings_that_differ_the_most_frequent_amount_stands_and_stays_doubted():
    cell = slot("3,14", 0.97)
    vote(cell, [Reading("5,14", 0.99), Reading("3,14", 0.6), Reading("3. 14", 0.9)])

    assert cell.text == "3,14"
    assert cell.confidence is not None
    assert cell.confidence < 0.5
    assert [it.text for it in cell.alternatives] == ["5,14"]


def test_a_letter_among_digits_is_a_proposal_and_no_value():
    cell = slot("1 2З4,56", 0.9)
    decide(cell, Reading("1 2З4,56", 0.9))

    assert cell.text == "1 2З4,56"
    assert [it.text for it in cell.alternatives] == ["1 234,56"]


def test_ink_that_nobody_reads_is_not_an_empty_cell():
    cell = slot("", None)
    decide(cell, Reading("", 0.0))

    assert cell.confidence == 0.0


@given(st.integers(3, 9), st.integers(2, 30), st.floats(0, 1.4))
def test_drawn_lines_make_the_grid_that_they_draw(columns, rows, jitter):
    xs, ys = [20.0 * it for it in range(columns + 1)], [12.0 * it for it in range(rows + 1)]
    across = [Rule(y + jitter, x, x + 20.0) for y in ys for x in xs[:-1]]
    down = [Rule(x, y, y + 12.0) for x in xs for y in ys[:-1]]
    down.remove(Rule(xs[1], ys[0], ys[1]))  # the first two cells of the first row are one

    (grid,) = grids(across, down, 1.5)

    assert (len(grid.xs), len(grid.ys)) == (columns + 1, rows + 1)
    assert grid.spans[0] == Span(0, 0, 1, 2)
    assert len(grid.spans) == columns * rows - 1
    covered = [
        {(s.row + r, s.column + c) for r in range(s.rows) for c in range(s.columns)}
        for s in grid.spans
    ]
    assert all(not a & b for a, b in combinations(covered, 2))
