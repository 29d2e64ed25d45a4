"""A value tells where it stands and what stands there."""

from decimal import Decimal

import pytest

from armka.osv.grid import CellError, Grid, Origin, Row, Style, column_letter, origin


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        (" 1\u00a0234,56 ", " 1\u00a0234,56 "),
        (-1922584.8800000001, "-1922584.8800000001"),
        (Decimal("99999999999999.99"), "99999999999999.99"),
        (CellError("#REF!"), "#REF!"),
    ],
)
def test_a_value_has_a_sheet_a_cell_its_raw_text_and_its_format(value, raw):
    row = Row(7, [(27, value, 1)])
    grid = Grid("TDSheet", [row], [Style(), Style('0".Н"')], [])
    assert origin(grid, row, row.cells[0]) == Origin("TDSheet", "AB7", raw, '0".Н"')


def test_columns_have_letters():
    assert [column_letter(n) for n in (0, 25, 26, 701, 702, 16383)] == [
        "A",
        "Z",
        "AA",
        "ZZ",
        "AAA",
        "XFD",
    ]
