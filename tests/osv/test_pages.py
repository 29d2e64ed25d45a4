"""A grid that was read off pages: values have pages, boxes and confidences, and no cells."""

from armka.osv import trial_balance
from armka.osv.grid import Scan
from tests.books.layouts import Layout
from tests.osv.grids import change, grid


def on_pages(book):
    """The grid as if it stood on two pages, every cell a box and a confidence."""
    last = book.rows[-1].number
    book.scan = Scan(
        pages={row.number: 1 + (row.number > last // 2) for row in book.rows},
        boxes={
            (row.number, cell[0]): [cell[0] / 20, row.number / 200, 1.0, 1.0]
            for row in book.rows
            for cell in row.cells
        },
        confidence={(row.number, cell[0]): 0.9 for row in book.rows for cell in row.cells},
    )
    return book


def test_values_of_pages_have_boxes_and_confidences():
    document = trial_balance.read(on_pages(grid(layout=Layout(numeric_codes=False)))).documents[0]
    assert document.source.pages == [1, 2]
    assert (document.source.sheet, document.columns, document.formats) == (None, None, None)
    for line in document.lines:
        assert (line.row, line.cells) == (None, None)
        assert line.page in (1, 2)
        for which, value in enumerate(line.values):
            if value is not None:
                assert (line.boxes or [])[which]
                assert (line.confidence or [])[which] == 0.9


def test_a_finding_on_pages_names_lines_and_no_cells():
    book = grid(layout=Layout(numeric_codes=False))
    change(book, "70", 3, lambda amount: amount + 1000)
    found = trial_balance.read(on_pages(book)).documents[0].checks
    assert "R1" in {check.rule for check in found}
    assert all(check.cells == [] for check in found)
