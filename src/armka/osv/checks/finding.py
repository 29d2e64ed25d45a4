"""A failure of a rule as the contract carries it, and as a person reads it."""

from collections import Counter
from collections.abc import Callable, Iterable

from armka.contract.result import Check
from armka.contract.vocabulary import Column, Severity
from armka.osv.amounts import SCALE, to_text
from armka.osv.entries import Body, Entry, Place
from armka.osv.grid import column_letter

COLUMNS = list(Column)
NAMES = (
    "сальдо на начало, дебет",
    "сальдо на начало, кредит",
    "обороты, дебет",
    "обороты, кредит",
    "сальдо на конец, дебет",
    "сальдо на конец, кредит",
)
MOST_CELLS = 50


class Findings:
    """Makes the findings of one table: it knows where the table's amounts stand. `read`: how many
    of one rule somebody will read, if not all.
    """

    def __init__(self, body: Body, *, addressed: bool, read: int | None = None) -> None:
        self._columns = body.plain_columns
        self._addressed = addressed
        self._read = read
        self._counts: Counter[str] = Counter()

    def make(
        self,
        rule: str,
        severity: Severity,
        entries: list[Entry],
        message: str | Callable[[], str],
        *,
        which: Iterable[int] = (),
        difference: tuple[int, int] | None = None,
        places: Iterable[Place] | None = None,
    ) -> Check:
        """A finding about some of the six amounts of some lines; `difference`: what was expected,
        and what stands there. A message that is still to be made, of a rule that may fail in every
        line, is made as often as it will be read.
        """
        if not isinstance(message, str):
            self._counts[rule] += 1
            if self._read is not None and self._counts[rule] > self._read:
                return Check(rule=rule, severity=severity, lines=[], message="")
            message = message()
        columns = list(which)
        if places is None:
            places = [p for e in entries for w in columns if (p := self.place(e, w)) is not None]
        cells = list(dict.fromkeys(map(address, places))) if self._addressed else []
        expected, actual = difference or (None, None)
        return Check(
            rule=rule,
            severity=severity,
            lines=[entry.n for entry in entries],
            cells=cells[:MOST_CELLS],
            column=COLUMNS[columns[0]] if columns else None,
            expected=_amount(expected),
            actual=_amount(actual),
            message=message,
        )

    def place(self, entry: Entry, which: int) -> Place | None:
        """Where one of the six amounts of a line stands."""
        if entry.places is not None:
            return entry.places[which]
        column = self._columns[which]
        return None if column is None else (entry.row, column)


def address(place: Place) -> str:
    """A cell as spreadsheets call it: B12."""
    return f"{column_letter(place[1])}{place[0]}"


def _amount(amount: int | None) -> str | None:
    """As the contract carries it; a sum that has outgrown its 18 digits is told in the message
    only.
    """
    return None if amount is None or abs(amount) >= 10**18 * SCALE else to_text(amount)


def called(entry: Entry) -> str:
    """A line for a person: its row, and what it is about."""
    what = f"счет {entry.account}" if entry.account else f"«{entry.name}»"
    if entry.account and entry.name and entry.total is None and entry.indicator is not None:
        what = f"{what}, {entry.indicator}"
    return f"Строка {entry.row}, {what}"


def money(amount: int) -> str:
    """An amount for a person: 1 234,56."""
    whole, _, fraction = to_text(abs(amount)).partition(".")
    grouped = f"{int(whole):,}".replace(",", "\u00a0")
    return f"{'−' if amount < 0 else ''}{grouped},{fraction}"
