"""Amounts are read exactly, or said to be unreadable; never guessed."""

import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from armka.osv.amounts import SCALE, AmountReader, Unreadable, of_kopecks, of_text, to_text
from armka.osv.grid import CellError, Style


def read(value, number_format="#,##0.00;[Red]-#,##0.00", unit=1):
    return AmountReader([Style(number_format)], unit).read(value, 0)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1 234,56", "1234.56"),
        ("1\u00a0234\u00a0567,80", "1234567.80"),
        ("1\u202f234,5", "1234.50"),
        ("1\u2009234", "1234.00"),
        ("\u22125,00", "-5.00"),
        ("- 5,00", "-5.00"),
        ("(87 513,60)", "-87513.60"),
        ("1,234.56", "1234.56"),
        ("1.234,56", "1234.56"),
        ("1'234,50", "1234.50"),
        ("1234567.89", "1234567.89"),
        ("0,123", "0.123"),
        ("-0,01", "-0.01"),
    ],
)
def test_amounts_written_as_text_are_read(text, amount):
    read = of_text(text)
    assert isinstance(read, int)
    assert to_text(read) == amount


@pytest.mark.parametrize(
    "text",
    ["***", "X", "12 34,5", "1,234", "1.234", "--5", "1e5", "5-", "12,", ",5", "1 234 56", "٣"],
)
def test_what_can_be_read_in_two_ways_or_none_is_unreadable(text):
    assert of_text(text) == Unreadable(text)


def test_a_dash_is_unreadable_and_zero_is_only_suggested():
    assert of_text("–") == Unreadable("–", suggested=0)


@pytest.mark.parametrize("text", ["", " ", "\u00a0"])
def test_blank_text_is_an_empty_cell(text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("stored", "amount"),
    [
        (-1922584.8800000001, "-1922584.88"),
        (0.1 + 0.2, "0.30"),
        (136254878.09999999, "136254878.10"),
        (0.0, "0.00"),
        (99999999999.99, "99999999999.99"),
        (Decimal("123456789012345.67"), "123456789012345.67"),
        (1.005, "1.01"),
    ],
)
def test_stored_numbers_lose_the_noise_of_binary_arithmetic(stored, amount):
    assert to_text(read(stored)) == amount


@pytest.mark.parametrize("stored", [1e18, 1e300, float(2**70)])
def test_numbers_longer_than_an_amount_may_be_are_unreadable(stored):
    assert isinstance(read(stored), Unreadable)


@pytest.mark.parametrize(
    "number_format", ["dd.mm.yyyy", "0%", "#,##0,", '#,##0.00" тыс."', "[h]:mm"]
)
def test_a_number_that_the_sheet_shows_as_something_else_is_unreadable(number_format):
    """A date, a share, a number shown in thousands: what is stored is not what a person sees."""
    assert isinstance(read(45292.0, number_format), Unreadable)


def test_what_a_number_shown_as_a_date_is_stored_as_is_suggested():
    assert read(83173.72, "dd.mm.yyyy").suggested == 83173_720000


@pytest.mark.parametrize("value", [CellError("#REF!"), True, False])
def test_errors_and_truth_values_are_unreadable(value):
    assert isinstance(read(value), Unreadable)


def test_amounts_in_thousands_keep_their_kopecks():
    assert to_text(read(1234.56789, unit=1000)) == "1234.56789"


def test_decimals_that_the_format_shows_are_kept():
    assert to_text(read(1.2345, "0.0000")) == "1.2345"


@given(st.integers(-(10**13), 10**13))
def test_every_amount_in_kopecks_survives_a_float(kopecks):
    assert read(kopecks / 100) == kopecks * SCALE // 100


SIX = " ".join(["%.2f"] * 6)
PLAIN = st.integers(0, 10**13).map(lambda kopecks: kopecks / 100)


@given(st.tuples(*[PLAIN] * 6))
def test_a_row_of_kopecks_is_read_at_once(numbers):
    amounts = [read(number) for number in numbers]
    assert of_kopecks(numbers, SIX) == (amounts, [to_text(amount) for amount in amounts])


@given(st.tuples(*[PLAIN] * 5, st.floats()))
@example((0.0,) * 5 + (-0.0,))
@example((0.0,) * 5 + (5.005,))
def test_a_row_that_is_read_at_once_is_read_as_its_cells_are(numbers):
    found = of_kopecks(numbers, SIX)
    if found is not None:
        amounts = [read(number) for number in numbers]
        assert found == (amounts, [to_text(amount) for amount in amounts])


@given(st.integers(-(10**23), 10**23))
@example(2_329_000)
def test_text_and_back(amount):
    """A point before three digits may be one between thousands, wherever the text came from."""
    text = to_text(amount)
    assert Decimal(text) * SCALE == amount
    is_ambiguous = re.fullmatch(r"-?[1-9][0-9]{0,2}\.[0-9]{3}", text)
    assert of_text(text) == (Unreadable(text) if is_ambiguous else amount)


@given(st.text())
def test_no_text_breaks_the_reading(text):
    assert isinstance(of_text(text), int | Unreadable | None)


def test_a_red_text_without_a_sign_may_be_negative():
    red = AmountReader([Style(red=True)], 1).read
    assert red("1 234,56", 0) == Unreadable("1 234,56", suggested=-123456 * SCALE // 100)
    assert red("(5,00)", 0) == red("-5,00", 0) == -5 * SCALE
    assert red("0,00", 0) == 0
    assert red(5.0, 0) == 5 * SCALE
