"""A value as somebody typed it becomes a value as it is kept, or the reason why not. Pure."""

from decimal import Decimal

from armka.contract.vocabulary import Column
from armka.core.errors import ValueRefused
from armka.osv import accounts
from armka.osv.amounts import Unreadable, of_text, to_text

TEXT_FIELDS = ("account", "name")
AMOUNT_FIELDS = tuple(column.value for column in Column)
FIELDS = (*TEXT_FIELDS, *AMOUNT_FIELDS)

_LONGEST_TEXT = 1000


def kept(line: int, field: str, typed: str | None) -> str | None:
    """The value of a field in the form that it is kept and logged in: a decimal string, a code, a
    name; None: an empty cell.

    Amounts are understood as people write them: "1 234,56", "(87,50)", "−5". Raises ValueRefused.
    """
    if field in AMOUNT_FIELDS:
        return _amount(line, field, typed or "")
    words = " ".join((typed or "").replace("\x00", "").split())
    if len(words) > _LONGEST_TEXT:
        raise ValueRefused(line, field, "TOO_LONG", f"at most {_LONGEST_TEXT} characters")
    if field == "name":
        return words
    if words and accounts.parse(words) != accounts.Account(words):
        raise ValueRefused(line, field, "NOT_A_CODE", f"“{words}” is no account code: 60.01, 76.АВ")
    return words or None


def _amount(line: int, field: str, typed: str) -> str | None:
    amount = of_text(typed)
    if isinstance(amount, Unreadable):
        raise ValueRefused(line, field, *_why(amount))
    return None if amount is None else to_text(amount)


def _why(amount: Unreadable) -> tuple[str, str]:
    if amount.suggested == 0:
        return "DASH", "a dash may mean 0 or nothing: type 0, or leave it empty"
    if sum(mark in ",." for mark in amount.raw) == 1:
        return "AMBIGUOUS", f"“{amount.raw}” can be read in two ways: write 1234 or 1,2340"
    return "NOT_AN_AMOUNT", f"“{amount.raw}” is no amount: write it like 1 234,56"


def decimal_of(value: str | None) -> Decimal | None:
    """A kept amount as the tables hold it."""
    return None if value is None else Decimal(value)


def text_of(value: Decimal | str | None) -> str | None:
    """A value of the tables as it is logged."""
    return f"{value:f}" if isinstance(value, Decimal) else value
