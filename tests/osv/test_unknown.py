"""A cell that cannot be read is unknown: no value, the raw text, and at most a suggestion."""

import pytest

from armka.osv import trial_balance
from armka.osv.grid import CellError, Style
from tests.books.layouts import Layout
from tests.osv.grids import change, document_of, grid


def unknown_in(document):
    return [(line, cell) for line in document.lines for cell in line.unknown]


def test_an_unreadable_amount_has_no_value_and_is_kept_as_it_stands():
    book = grid(layout=Layout(numeric_codes=False))
    change(book, "70", 3, lambda _: "1 2З4,5б")
    (line, cell), *rest = unknown_in(document_of(book))
    assert not rest
    assert (line.account, cell.column, cell.raw) == ("70", "turnover_credit", "1 2З4,5б")
    assert line.values[3] is None


def test_the_rows_own_equation_suggests_what_one_unreadable_amount_should_be():
    book = grid(layout=Layout(numeric_codes=False))
    before = next(line for line in document_of(book).lines if line.account == "70")
    change(book, "70", 3, lambda _: "#####")
    (_, cell), *_ = unknown_in(document_of(book))
    assert (cell.suggested, cell.rule) == (before.values[3], "R1")


def test_no_sum_is_judged_with_an_unreadable_addend():
    book = grid()
    change(book, "60.01", 2, lambda _: CellError("#REF!"))
    assert document_of(book).checks == []


def test_a_date_in_a_column_of_amounts_is_unreadable():
    book = grid(layout=Layout(numeric_codes=False))
    book.styles.append(Style("dd.mm.yyyy"))
    change(book, "70", 2, lambda amount: amount)
    row = next(row for row in book.rows if row.cells[0][1] == "70")
    row.cells[-1] = (*row.cells[-1][:2], len(book.styles) - 1)
    assert len(unknown_in(document_of(book))) == 1


def test_two_numbers_under_one_heading_are_unreadable():
    book = grid(layout=Layout(numeric_codes=False))
    row = next(row for row in book.rows if row.cells[0][1] == "70")
    row.cells.append(row.cells[-1])
    assert len(unknown_in(document_of(book))) == 1


def test_words_in_columns_of_amounts_under_the_table_are_no_unknown_amounts():
    assert unknown_in(trial_balance.read(grid(layout=Layout(signatures=True))).documents[0]) == []


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_a_number_that_is_none_is_unreadable(number):
    book = grid(layout=Layout(numeric_codes=False))
    change(book, "70", 2, lambda _: number)
    assert len(unknown_in(document_of(book))) == 1
