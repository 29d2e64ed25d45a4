"""A number format tells what a number is, and how 1С shows an account code by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.osv.number_format import Shows, show_code, understand


@pytest.mark.parametrize(
    ("number", "code", "shown"),
    [
        (1.0, "00", "01"),
        (1.0, "000", "001"),
        (60.0, "0", "60"),
        (20.0, '0".Н"', "20.Н"),
        (6001.0, r"00\.00", "60.01"),
        (60.1, "0.00", "60.10"),
        (60.01, "General", "60.01"),
        (60.010000000000005, "General", "60.01"),
        (10.0, "@", "10"),
        (90.0, "0;[Red]-0", "90"),
    ],
)
def test_a_code_is_read_as_it_is_shown(number, code, shown):
    assert show_code(number, code) == shown


def test_a_date_shows_no_code():
    assert show_code(45292.0, "dd.mm.yyyy") is None


@pytest.mark.parametrize(
    ("code", "shows", "decimals"),
    [
        ("#,##0.00;[Red]-#,##0.00", Shows.NUMBER, 2),
        ("# ##0.000", Shows.NUMBER, 3),
        ('[=-1922584.88]"(1 922 584,88)"', Shows.NUMBER, None),
        ("General", Shows.NUMBER, None),
        (r'_-* #,##0.00\ "₽"_-', Shows.NUMBER, 2),
        ("[$-419]mmmm yyyy", Shows.DATE, None),
        ("0.00%", Shows.PERCENT, None),
        ("#,##0,,", Shows.SCALED, None),
    ],
)
def test_a_format_is_understood(code, shows, decimals):
    assert (understand(code).shows, understand(code).decimals) == (shows, decimals)


@given(st.text(max_size=40), st.floats(allow_nan=False, allow_infinity=False))
def test_no_format_breaks_the_reading(code, number):
    understand(code)
    assert show_code(number, code) is None or isinstance(show_code(number, code), str)
