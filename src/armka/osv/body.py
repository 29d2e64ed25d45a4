"""The rows under a header, each with its kind: account, group, total. What fits no kind stops the
reading.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum

import msgspec

from armka.contract.vocabulary import LineKind
from armka.osv import accounts
from armka.osv.accounts import Account
from armka.osv.amounts import Amount, Unreadable
from armka.osv.grid import Cell, CellError, Grid, Row, Style, Value
from armka.osv.header import Header, is_header_row
from armka.osv.number_format import show_code
from armka.osv.reports import LayoutNotRead
from armka.osv.wording import plain

_TOTAL = re.compile(r"^(?:итого|всего)\b")
_EXPANDED = re.compile(r"разверн")
_OFF_BALANCE_TOTAL = re.compile(r"забаланс")
_SECTION = re.compile(r"^раздел\b")
_INDICATOR = re.compile(r"^(?:бу|ну|пр|вр|кол\.?|вал\.?|количество)$")
_CURRENCY = re.compile(r"^(?:usd|eur|cny|kzt|rub|byn|gbp|chf|руб\.?|евро|долл\w*)\.?$")
_PERIOD = re.compile(
    r"^(?:январ|феврал|март|апрел|ма[йя]\b|июн|июл|август|сентябр|октябр|ноябр|декабр)"
    r"|^(?:\d|i{1,3}|iv)[- \w]* (?:квартал|полугоди)|^(?:19|20)\d\d г"
)

Six = list[int | None]


class Total(Enum):
    """Which total a row is: the usual one, with balances expanded (развернутое), or of off-balance
    accounts.
    """

    PLAIN = "plain"
    EXPANDED = "expanded"
    OFF_BALANCE = "off_balance"


class Entry(msgspec.Struct):
    """A row of the table. `outline` is its outline level, `row` its number on the sheet; `n` counts
    from 1.
    """

    n: int
    row: int
    kind: LineKind
    account: str | None
    name: str
    outline: int
    amounts: Six
    unreadable: dict[int, Unreadable]
    off_balance: bool = False
    total: Total | None = None
    parent: int | None = None
    level: int = 0


class Doubt(msgspec.Struct, frozen=True):
    """A number that belongs to no line (R11), or a code that may be another one (R8)."""

    row: int
    reason: str
    rule: str = "R11"


class Body(msgspec.Struct):
    """What was read under one header; `end` is the index of the first row after it."""

    entries: list[Entry]
    doubts: list[Doubt]
    end: int
    hidden: int


class _Parts(msgspec.Struct):
    """A row, sorted into the header's columns."""

    label: Value | None
    label_style: int
    name: str
    amounts: list[Amount]
    stray: int | None

    @property
    def has_amount(self) -> bool:
        return any(amount is not None for amount in self.amounts)

    @property
    def has_number(self) -> bool:
        return any(isinstance(amount, int) for amount in self.amounts)


def read(grid: Grid, header: Header, start: int, amount: Callable[[Value, int], Amount]) -> Body:
    """Read from the row with index `start` to the end of the sheet or to the next table's header.

    Raises LayoutNotRead at a row that belongs to a layout which is not read.
    """
    reading = _Reading(grid.styles)
    end = start
    for end, row in enumerate(grid.rows[start:], start):
        if is_header_row(row):
            if reading.total_seen:
                return reading.body(_above_header(grid.rows, end, start))
            continue
        reading.take(row, _parts(row.cells, header, amount))
    return reading.body(end + 1)


def _above_header(rows: list[Row], index: int, start: int) -> int:
    """Back from the next table's header over the lines above it, which tell that table's
    particulars.
    """
    while index > start and not any(isinstance(cell[1], float) for cell in rows[index - 1].cells):
        index -= 1
    return index


def _parts(cells: Iterable[Cell], header: Header, amount: Callable[[Value, int], Amount]) -> _Parts:
    parts = _Parts(None, 0, "", [None] * 6, None)
    spans, amounts = header.spans, parts.amounts
    first, last = header.account
    for column, value, style in cells:
        which = spans.get(column)
        if which is not None:
            found = amount(value, style)
            if found is not None:
                amounts[which] = (
                    found if amounts[which] is None else Unreadable(f"{value} (две суммы)")
                )
        elif first <= column <= last:
            _take_label(parts, column, value, style)
        elif header.name and header.name[0] <= column <= header.name[1]:
            parts.name = parts.name or " ".join(str(value).split())
        elif last < column < header.amounts[5] and isinstance(value, float | Decimal):
            parts.stray = column
    return parts


def _take_label(parts: _Parts, column: int, value: Value, style: int) -> None:
    """The first value under «Счет» is the label; a text beside it is the name, a number a stray."""
    if value == "":
        return
    if parts.label is None:
        parts.label, parts.label_style = value, style
    elif isinstance(value, float | Decimal):
        parts.stray = column
    else:
        parts.name = parts.name or " ".join(str(value).split())


class _Reading:
    """Rows become entries one after the other; what a row is may depend on what stood above it."""

    def __init__(self, styles: list[Style]) -> None:
        self._styles = styles
        self._entries: list[Entry] = []
        self._doubts: list[Doubt] = []
        self._accounts: set[str] = set()
        self._hidden = 0
        self._first = True
        self.total_seen = False

    def body(self, end: int) -> Body:
        return Body(self._entries, self._doubts, end, self._hidden)

    def take(self, row: Row, parts: _Parts) -> None:
        """Take one row; blank ones and lines of mere text leave nothing."""
        first, self._first = self._first, False
        if first and _numbers_columns(row):
            return
        if row.hidden and not row.level:
            self._hidden += 1
        if parts.stray is not None:
            self._doubts.append(Doubt(row.number, "число стоит вне колонок таблицы"))
        account = self._account(row, parts)
        if account is not None:
            self._take_account(row, parts, account)
            return
        text = plain(str(parts.label or "")) or plain(parts.name)
        if _TOTAL.match(text):
            self._total(row, parts, text)
        elif parts.has_amount:
            self._take_other(row, parts, text)

    def _account(self, row: Row, parts: _Parts) -> Account | None:
        label = parts.label
        if label is None or isinstance(label, CellError | bool):
            return None
        if isinstance(label, str):
            return accounts.parse(label)
        code = show_code(label, self._styles[parts.label_style].number_format)
        if code is not None and re.fullmatch(r"\d+\.\d", code):
            reason = f"код счета хранится числом и мог потерять ноль: {code} или {code}0"
            self._doubts.append(Doubt(row.number, reason, "R8"))
        return accounts.parse(code) if code else None

    def _take_account(self, row: Row, parts: _Parts, account: Account) -> None:
        off_balance = accounts.is_off_balance(account.code)
        if self.total_seen and not parts.has_amount and not off_balance:
            return
        self._refuse_other_plans(row, account.code)
        repeats = self._styles[parts.label_style].italic and account.code in self._accounts
        kind = LineKind.GROUP if repeats else LineKind.ACCOUNT
        entry = self._add(row, parts, kind, parts.name or account.name)
        entry.account = account.code
        entry.off_balance = off_balance
        if self.total_seen and not off_balance:
            self._doubts.append(
                Doubt(row.number, f"балансовый счет {account.code} стоит после строки «Итого»")
            )
        self._accounts.add(account.code)

    def _refuse_other_plans(self, row: Row, code: str) -> None:
        family = accounts.other_plan(code)
        if family is not None:
            raise LayoutNotRead(family, f"счет «{code}» в строке {row.number}")

    def _total(self, row: Row, parts: _Parts, text: str) -> None:
        entry = self._add(
            row, parts, LineKind.TOTAL, " ".join(str(parts.label or parts.name).split())
        )
        entry.total = Total.PLAIN
        if _EXPANDED.search(text):
            entry.total = Total.EXPANDED
        elif _OFF_BALANCE_TOTAL.search(text):
            entry.total = Total.OFF_BALANCE
        self.total_seen = True

    def _take_other(self, row: Row, parts: _Parts, text: str) -> None:
        if not parts.has_number:
            if any(map(_hides_amount, parts.amounts)):
                self._doubts.append(Doubt(row.number, "строка без счета, суммы в ней не читаются"))
            return
        if parts.label is not None and (type(parts.label) is not str):
            reason = "суммы есть, а вместо кода счета ошибка, дата или другое число"
            self._doubts.append(Doubt(row.number, reason, "R8"))
            return
        if self.total_seen:
            self._doubts.append(
                Doubt(row.number, "суммы стоят после строки «Итого», и это не счет")
            )
            return
        style = self._styles[parts.label_style]
        if parts.label is not None and (style.italic or _SECTION.match(text)):
            self._add(row, parts, LineKind.GROUP, " ".join(str(parts.label).split()))
            return
        raise LayoutNotRead(
            _family_of(text), f"строка {row.number} («{text[:60]}») имеет суммы, но не счет"
        )

    def _add(self, row: Row, parts: _Parts, kind: LineKind, name: str) -> Entry:
        amounts: Six = []
        unreadable = {}
        for which, amount in enumerate(parts.amounts):
            if isinstance(amount, Unreadable):
                unreadable[which] = amount
                amounts.append(None)
            else:
                amounts.append(amount)
        number = len(self._entries) + 1
        entry = Entry(number, row.number, kind, None, name, row.level, amounts, unreadable)
        self._entries.append(entry)
        return entry


def _hides_amount(amount: Amount) -> bool:
    """Whether what cannot be read may have been an amount, and is not mere words (a signature, a
    repeated header).
    """
    return isinstance(amount, Unreadable) and not re.fullmatch(r"[^\d#]*[^\W\d][^\d#]*", amount.raw)


def _family_of(text: str) -> str:
    """Which layout has rows like this one."""
    if not text or _INDICATOR.match(text):
        return "indicators"
    if _CURRENCY.match(text):
        return "currency"
    return "periods" if _PERIOD.match(text) else "account_subconto"


def _numbers_columns(row: Row) -> bool:
    """Whether the row only numbers the columns, 1 2 3 …, as printed forms do under their header."""
    values = [cell[1] for cell in row.cells if cell[1] != ""]
    texts = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in values
    ]
    return len(texts) >= 7 and texts == [str(index) for index in range(1, len(texts) + 1)]
