"""What a number format says: how many decimals, whether the number is a date, and a code as it is
shown.
"""

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from enum import Enum
from functools import lru_cache

import msgspec

_BRACKETS = re.compile(r"\[[^\]]*\]")
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.')
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|(.)', re.DOTALL)
_PLACES = re.compile(r"[0#?][0#?, \u00a0]*(?:\.([0#?]+))?")
_ELEVEN_DIGITS = Context(prec=11)
_MAGNITUDE = re.compile(r"тыс|млн|млрд", re.IGNORECASE)


class Shows(Enum):
    """What a format makes of a number."""

    NUMBER = "number"
    DATE = "date"
    PERCENT = "percent"
    SCALED = "scaled"


class NumberFormat(msgspec.Struct, frozen=True):
    """A format, understood. `decimals` is how many it shows; None where it does not say (General,
    text).
    """

    shows: Shows
    decimals: int | None


@lru_cache(maxsize=4096)
def understand(code: str) -> NumberFormat:
    """Read a format code; whatever has no number places and no date letters counts as a plain
    number.
    """
    section = _first_section(code)
    bare = _LITERAL.sub("", section)
    if bare.strip().lower() in ("general", "@", ""):
        return NumberFormat(Shows.NUMBER, None)
    if "%" in bare:
        return NumberFormat(Shows.PERCENT, None)
    if re.search("[dmyhs]", bare, re.IGNORECASE):
        return NumberFormat(Shows.DATE, None)
    if re.search(r"[0#?],+(?![0#?,])", bare) or _MAGNITUDE.search(section):
        return NumberFormat(Shows.SCALED, None)
    places = _PLACES.search(bare)
    if places is None or "e" in bare.lower() or "/" in bare:
        return NumberFormat(Shows.NUMBER, None)
    return NumberFormat(Shows.NUMBER, len(places.group(1) or ""))


@lru_cache(maxsize=65536)
def show_code(number: float | Decimal, code: str) -> str | None:
    """An account code as the sheet shows it: 1 under `00` is 01, 20 under `0".Н"` is 20.Н.

    None: the format makes something else than a code of it (a date, a share).
    """
    if understand(code).shows is not Shows.NUMBER:
        return None
    exact = number if isinstance(number, Decimal) else Decimal(repr(number))
    if not exact.is_finite():
        return None
    section = _first_section(code)
    masked = _LITERAL.sub("", section)
    if not re.search("[0#?]", masked):
        return _plain(exact)
    decimals = len(re.sub("[^0#?]", "", masked.partition(".")[2]))
    digits = list(f"{_rounded(abs(exact), decimals):f}".replace(".", ""))
    shown = "".join(reversed(list(_fill(section, digits))))
    return f"-{shown}" if exact < 0 else shown


def _fill(section: str, digits: list[str]) -> Iterator[str]:
    """The shown characters from right to left; the leftmost place takes what is left."""
    tokens = list(_TOKEN.finditer(section))
    leftmost = next(token.start() for token in tokens if (token.group(3) or " ") in "0#?")
    for token in reversed(tokens):
        literal, escaped, bare = token.groups()
        if bare is None:
            yield literal or escaped or ""
        elif bare in "0#?":
            yield digits.pop() if digits else ("0" if bare == "0" else "")
            if token.start() == leftmost:
                yield "".join(digits)
        elif bare in ".-/":
            yield bare


def _first_section(code: str) -> str:
    """The part for positive numbers, without colours and conditions; a quoted or escaped `;`
    divides nothing.
    """
    masked = _LITERAL.sub(lambda match: " " * len(match.group()), code)
    return _BRACKETS.sub("", code[: len(masked.partition(";")[0])])


def _rounded(number: Decimal, decimals: int) -> Decimal:
    if number.adjusted() > 15:
        return number
    return number.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)


def _plain(number: Decimal) -> str:
    """As General shows it: eleven digits at most, no zeros behind."""
    return f"{number.normalize(_ELEVEN_DIGITS):f}"
