"""A value tells where it stands and what stands there."""

from decimal import Decimal

import pytest

from armka.osv.grid import CellError, column_letter, raw_text


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        (" 1\u00a0234,56 ", " 1\u00a0234,56 "),
        (-1922584.8800000001, "-1922584.8800000001"),
        (Decimal("99999999999999.99"), "99999999999999.99"),
        (CellError("#REF!"), "#REF!"),
    ],
)
def test_a_value_has_its_raw_text(value, raw):
    assert raw_text(value) == raw


def test_columns_have_letters():
    assert [column_letter(n) for n in (0, 25, 26, 701, 702, 16383)] == [
        "A",
        "Z",
        "AA",
        "ZZ",
        "AAA",
        "XFD",
    ]
