"""Amounts, exact: a stored value or a text becomes an integer, or the fact that it cannot be read.
Never a guess.

An amount is an integer of millionths of the document's unit (`SCALE`), the finest that the contract
carries.
"""

import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import msgspec

from armka.osv.grid import CellError, Style, Unsure, Value, raw_text
from armka.osv.number_format import Shows, understand

DECIMALS = 6
SCALE = 10**DECIMALS
KOPECK = SCALE // 100
RAW = 200  # how much of a cell's text is kept
MOST = 1e14  # up to here a float is exact to the thousandth
NEARLY = 0.001
LIMIT = 10**18 * SCALE  # the contract's 18 digits before the point

_CENTS = [f".{cents:02d}" for cents in range(100)]
_SPACES = re.compile("[ \u00a0\u202f\u2009\u2007]")
_MINUS = re.compile("^[-\u2212\u2013]")
_SPACED = re.compile(r"([0-9]{1,3}(?: [0-9]{3})+|[0-9]+)(?:[.,]([0-9]{1,6}))?")
_APOSTROPHES = re.compile(r"([0-9]{1,3}(?:['\u2019][0-9]{3})+)(?:[.,]([0-9]{1,6}))?")
_COMMAS = re.compile(r"([0-9]{1,3}(?:,[0-9]{3})+)\.([0-9]{1,6})")
_POINTS = re.compile(r"([0-9]{1,3}(?:\.[0-9]{3})+),([0-9]{1,6})")
_DASH = re.compile("[-\u2212\u2013\u2014]+")


class Unreadable(msgspec.Struct, frozen=True, gc=False):
    """A cell that holds something which is no amount; `suggested` is what it may mean, and nobody
    uses it unasked.
    """

    raw: str
    suggested: int | None = None


Amount = int | Unreadable | None


class AmountReader:
    """Reads the amounts of one document.

    A stored float is rounded to the kopeck of the document's unit, or to the format's decimals
    where those are more: what lies below is noise of binary arithmetic (-1922584.8800000001).

    `scales` and `rests`, style by style, are for whoever reads so many floats that a call for each
    is too dear: a float times its scale that is a whole number, or nearly, is that number times
    its rest; scale 0: only `read` knows.
    """

    def __init__(self, styles: list[Style], unit: int) -> None:
        kopeck = 2 + len(str(unit)) - 1
        self._digits = [_digits(style, kopeck) for style in styles]
        self._reds = [style.red for style in styles]
        self.scales = [0.0 if n is None else 10.0**n for n in self._digits]
        self.rests: list[int] = [SCALE // 10 ** (n or 0) for n in self._digits]

    def read(self, value: Value, style: int) -> Amount:
        """Read a cell's value under its style; None: the cell is empty."""
        if type(value) is not float:
            found = _other(value, self._digits[style])
            return _signed(found, value) if self._reds[style] and type(value) is str else found
        places = self._digits[style]
        if places is None:
            return Unreadable(raw_text(value), of_number(value, DECIMALS))
        scaled = value * self.scales[style]
        if -MOST < scaled < MOST:
            whole: int = round(scaled)
            if -NEARLY < scaled - whole < NEARLY:
                return whole * self.rests[style]
        return _number(value, places)


def _digits(style: Style, kopeck: int) -> int | None:
    """To how many decimals a number under this style is exact; None: the style shows something else
    than it.
    """
    shown = understand(style.number_format)
    if shown.shows is not Shows.NUMBER:
        return None
    return min(max(kopeck, shown.decimals or 0), DECIMALS)


def _other(value: Value, places: int | None) -> Amount:
    if isinstance(value, CellError | bool):
        return Unreadable(str(value)[:RAW])
    if isinstance(value, Unsure):
        return Unreadable(value[:RAW], value.suggested)
    if isinstance(value, str):
        return of_text(value)
    return Unreadable(raw_text(value)) if places is None else _number(value, places)


def _signed(amount: Amount, text: str) -> Amount:
    """A red text without a sign may be negative, or merely red: unreadable where that matters."""
    if not isinstance(amount, int) or amount <= 0:
        return amount
    return Unreadable(text[:RAW], -amount)


def _number(value: float | Decimal, places: int) -> Amount:
    amount = of_number(value, places)
    return Unreadable(raw_text(value)) if amount is None else amount


def of_number(value: float | Decimal, places: int) -> int | None:
    """Round a stored number half up to `places` decimals; None where it has more digits than an
    amount may have.
    """
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not exact.is_finite():
        return None
    try:
        rounded = exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    except InvalidOperation:  # over 28 digits
        return None
    amount = int(rounded.scaleb(DECIMALS))
    return amount if -LIMIT < amount < LIMIT else None


def of_text(text: str) -> Amount:
    """Read an amount written as text: "1 234,56", "(87 513,60)", "−5"; None where the text is
    blank.

    What can be read in two ways ("1,234") is unreadable, and so is a dash, with what it usually
    means as suggestion.
    """
    bare = _SPACES.sub(" ", text).strip()
    if not bare:
        return None
    if _DASH.fullmatch(bare):
        return Unreadable(text[:RAW], 0)
    body, negative = _unsigned(bare)
    amount = _positive(body)
    if amount is None:
        return Unreadable(text[:RAW])
    return -amount if negative else amount


def _unsigned(bare: str) -> tuple[str, bool]:
    if bare.startswith("(") and bare.endswith(")"):
        return bare[1:-1].strip(), True
    if _MINUS.match(bare):
        return bare[1:].lstrip(), True
    return bare, False


def _positive(body: str) -> int | None:
    for pattern in (_SPACED, _APOSTROPHES, _COMMAS, _POINTS):
        match = pattern.fullmatch(body)
        if match:
            whole, fraction = re.sub(r"\D", "", match.group(1)), match.group(2) or ""
            if pattern is _SPACED and _ambiguous(match.group(1), fraction):
                return None
            return (
                int(whole) * SCALE + int(fraction.ljust(DECIMALS, "0")) if len(whole) < 19 else None
            )
    return None


def _ambiguous(whole: str, fraction: str) -> bool:
    """Whether "1,234" may be a thousand and something as well as one and a bit."""
    return len(fraction) == 3 and " " not in whole and len(whole) <= 3 and whole != "0"


def of_kopecks(numbers: tuple[float, ...], printed: str) -> tuple[list[int], list[str]] | None:
    """Stored numbers as amounts and as the contract's texts, where each is the very double of a
    whole number of kopecks, not negative and not too large; None: `AmountReader` must look at them.

    `printed`: `%.2f` for each of them, with blanks between. There are millions.
    """
    shown = printed % numbers
    if not max(numbers) < MOST / 100 or "-" in shown:
        return None
    texts = shown.split()
    if tuple(map(float, texts)) != numbers:
        return None
    return [int(number * 100.0 + 0.5) * KOPECK for number in numbers], texts


def to_text(amount: int) -> str:
    """An amount as the contract's decimal string, with two decimals or as many as it has."""
    if amount < 0:
        return f"-{to_text(-amount)}"
    kopecks, finer = divmod(amount, KOPECK)
    text = f"{kopecks // 100}{_CENTS[kopecks % 100]}"
    return text if not finer else f"{text}{finer:04d}".rstrip("0")


def to_texts(amounts: list[int | None]) -> list[str | None]:
    """Several amounts as the contract carries them; there are millions, so the usual ones are
    written without a call for each.
    """
    texts: list[str | None] = []
    for amount in amounts:
        if amount is None:
            texts.append(None)
        elif amount < 0 or amount % KOPECK:
            texts.append(to_text(amount))
        else:
            kopecks = amount // KOPECK
            texts.append(f"{kopecks // 100}{_CENTS[kopecks % 100]}")
    return texts
