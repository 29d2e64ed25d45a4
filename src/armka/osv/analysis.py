"""«Анализ счета»: opening balance, turnovers by correspondent account and closing balance are rows
of their own, and a subconto's stand between those of its account. Each such block becomes one line.
"""

import re
from enum import Enum

import msgspec

from armka.contract.vocabulary import LineKind
from armka.osv import accounts, period
from armka.osv.accounts import Account
from armka.osv.amounts import Amount, AmountReader, Unreadable
from armka.osv.body import above_header, is_another_table, is_repeated
from armka.osv.entries import Body, Doubt, Entry, Place, Total
from armka.osv.grid import Grid, Row
from armka.osv.header import Header
from armka.osv.labels import Measure, Stub
from armka.osv.rows import Parts, RowReader
from armka.osv.wording import currency, indicator, plain

_OPENING = re.compile(r"^(?:нач\w*\.?|вход\w*) ?(?:сальдо|остат\w+)|^сальдо на нач")
_CLOSING = re.compile(r"^(?:кон\w*\.?|исход\w*) ?(?:сальдо|остат\w+)|^сальдо на кон")
_TURNOVER = re.compile(r"^(?:итого )?оборот")
_TOTAL = re.compile(r"^(?:итого|всего)\b")


class Marker(Enum):
    """Which of a block's rows a row is; the value is the first of its two places among the six."""

    OPENING = 0
    TURNOVER = 2
    CLOSING = 4


class _Part(msgspec.Struct):
    """A turnover with one correspondent account, or with a part of one."""

    level: int
    code: str | None
    amounts: list[Amount]
    row: int


class _Block(msgspec.Struct):
    """An account, subconto or currency between its opening and its closing row. `further`: the same
    in other measures.
    """

    entry: Entry
    level: int
    above: "_Block | None"
    parts: list[_Part]
    further: dict[str, Entry]


def read(
    grid: Grid, header: Header, start: int, read_amount: AmountReader, roots: tuple[str, ...]
) -> Body:
    """Read from the row with index `start` to the end of the sheet or to the next header."""
    reader = RowReader(header, grid.styles, read_amount)
    blocks = _Blocks(header, reader, roots)
    end = start
    for end, row in enumerate(grid.rows[start:], start):
        if is_another_table(grid.rows, end, over=blocks.finished):
            return blocks.body(above_header(grid.rows, end, start))
        if is_repeated(row, header):
            continue
        blocks.take(row, reader.parts(row))
    return blocks.body(end + 1)


def marker_of(text: str) -> Marker | None:
    """What a cell under «Кор. счет» says its row is."""
    words = plain(text)
    if _OPENING.match(words):
        return Marker.OPENING
    if _CLOSING.match(words):
        return Marker.CLOSING
    return Marker.TURNOVER if _TURNOVER.match(words) else None


class _Blocks:
    """Blocks, one inside the other, as their rows come."""

    def __init__(self, header: Header, reader: RowReader, roots: tuple[str, ...]) -> None:
        self._header = header
        self._reader = reader
        self._roots = roots
        self._blocks: list[_Block] = []
        self._doubts: list[Doubt] = []
        self._accounts: set[str] = set()
        self._open: list[_Block] = []
        self._last: tuple[_Block, Marker | None] | None = None
        self._indicator: str | None = None
        self._hidden = 0

    @property
    def finished(self) -> bool:
        """Whether every block has been closed."""
        return not self._open

    def body(self, end: int) -> Body:
        """What was read; blocks that nothing closes are told."""
        for block in self._open:
            reason = "у счета или аналитики нет строки конечного сальдо"
            self._doubts.append(Doubt(block.entry.row, reason))
            block.entry.whole = False
        entries = [e for block in self._blocks for e in (block.entry, *block.further.values())]
        for number, entry in enumerate(entries, 1):
            entry.n = number
        for block in self._blocks:
            above = block.above
            block.entry.parent = above.entry.n if above and above.entry.total is None else None
            for entry in block.further.values():
                entry.parent = block.entry.n
        return Body(
            entries,
            self._doubts,
            end,
            self._hidden,
            roots=self._roots,
            plain_columns=self._header.amounts,
        )

    def take(self, row: Row, parts: Parts) -> None:
        """Take one row."""
        text = parts.text(Stub.CORRESPONDENT)
        label = (
            self._reader.shown(parts.label, parts.label_style) if parts.label is not None else ""
        )
        own = indicator(parts.text(Stub.INDICATOR)) if parts.others else None
        measured = own or indicator(text)
        if row.hidden and not row.level and parts.has_number:
            self._hidden += 1
        marker = marker_of(text)
        if parts.stray is not None:
            self._doubts.append(Doubt(row.number, "число стоит вне колонок таблицы"))
        if marker is None and measured and self._last and measured != self._indicator and not label:
            self._take_measured(row, parts, measured)
        elif marker is not None:
            self._indicator = self._indicator or own
            self._take_marked(row, parts, marker, label)
        elif text or label:
            self._take_part(row, parts, text, label)
        elif parts.has_amount:
            reason = "суммы есть, а чьи они, в строке не сказано"
            self._doubts.append(Doubt(row.number, reason))

    def _take_marked(self, row: Row, parts: Parts, marker: Marker, label: str) -> None:
        if marker is Marker.OPENING:
            self._begin(row, label)
        elif label and _TOTAL.match(plain(label)):
            self._reach_total(row, label)
        if not self._open:
            self._doubts.append(Doubt(row.number, "сальдо или оборот без начала своего счета"))
            return
        block = self._open[-1]
        _fill(block.entry, marker, row, self._columns(0), parts.amounts[:6], parts)
        for index in range(1, len(self._header.bands)):
            amounts = parts.amounts[6 * index : 6 * index + 6]
            if any(amount is not None for amount in amounts):
                entry = self._further(block, index, row)
                _fill(entry, marker, row, self._columns(index), amounts, parts, 6 * index)
        self._last = block, marker
        if marker is Marker.CLOSING:
            self._close(self._open.pop())

    def _begin(self, row: Row, label: str) -> None:
        while self._open and self._is_over(self._open[-1], row):
            self._close(self._open.pop())
        is_whole = not label and not self._open
        entry = _line(row, LineKind.TOTAL if is_whole else LineKind.DIMENSION, label)
        account = accounts.parse(label) if label else None
        if account is not None and self._is_account(account):
            self._accounts.add(account.code)
            entry.kind, entry.account, entry.name = LineKind.ACCOUNT, account.code, account.name
        elif is_whole:
            entry.total, entry.name = Total.PLAIN, "Итого"
        elif currency(label):
            entry.kind, entry.currency = LineKind.CURRENCY, currency(label)
        elif period.alone(label):
            entry.kind = LineKind.PERIOD
        entry.indicator = self._indicator
        self._open_block(entry, row)

    def _open_block(self, entry: Entry, row: Row) -> None:
        block = _Block(entry, row.level, self._open[-1] if self._open else None, [], {})
        self._blocks.append(block)
        self._open.append(block)

    def _is_over(self, block: _Block, row: Row) -> bool:
        """Whether a block without a closing row ended before this one began."""
        has_turnover = any(amount is not None for amount in block.entry.amounts[2:4])
        return has_turnover and block.level >= row.level and block.entry.total is None

    def _is_account(self, account: Account) -> bool:
        code = account.code
        if account.name and code in self._accounts:
            return False  # a subconto whose name begins like an account's code
        if not self._roots:
            return accounts.is_known_form(code)
        return accounts.is_under(code, self._roots) or any(
            root.startswith(f"{code}.") for root in self._roots
        )

    def _reach_total(self, row: Row, label: str) -> None:
        """«Итого» closes what is open, but for the block that has no name: that one is its own."""
        while self._open and self._open[-1].entry.total is None:
            self._close(self._open.pop())
        if not self._open:
            entry = _line(row, LineKind.TOTAL, label)
            entry.total, entry.whole = Total.PLAIN, False
            self._open_block(entry, row)
        self._open[-1].entry.name = label

    def _take_measured(self, row: Row, parts: Parts, measured: str) -> None:
        """The row under another one, in another measure."""
        block, marker = self._last or (self._open[-1], None)
        if marker is None:
            return
        entry = block.further.get(measured)
        if entry is None:
            entry = self._child(block, row, measured)
            block.further[measured] = entry
        _fill(entry, marker, row, self._columns(0), parts.amounts[:6], parts)

    def _further(self, block: _Block, index: int, row: Row) -> Entry:
        band = self._header.bands[index]
        name = "Кол" if band.measure is Measure.QUANTITY else "Вал"
        entry = block.further.get(name)
        if entry is None:
            entry = block.further[name] = self._child(block, row, name)
            entry.currency = block.entry.currency
        return entry

    def _child(self, block: _Block, row: Row, name: str) -> Entry:
        entry = _line(row, LineKind.INDICATOR, name)
        entry.indicator, entry.account = name, block.entry.account
        return entry

    def _take_part(self, row: Row, parts: Parts, text: str, label: str) -> None:
        """A turnover with a correspondent account or its subconto; a line of mere text is none."""
        if not parts.has_amount:
            return
        if not self._open:
            if parts.has_number:
                reason = "суммы стоят вне начального и конечного сальдо счета"
                self._doubts.append(Doubt(row.number, reason))
            return
        account = accounts.parse(text or label)
        code = account.code if account else None
        block = self._open[-1]
        block.parts.append(_Part(row.level, code, parts.amounts[2:4], row.number))
        self._last = block, None

    def _close(self, block: _Block) -> None:
        """Add up what the correspondent accounts give, each counted once."""
        tops = _tops(block.parts)
        if not tops:
            return
        sums: list[int | None] = [0, 0]
        columns = self._columns(0)
        places: tuple[list[Place], list[Place]] = ([], [])
        for part in tops:
            for side, amount in enumerate(part.amounts):
                before, column = sums[side], columns[2 + side]
                if isinstance(amount, Unreadable) or before is None:
                    sums[side] = None
                elif amount is not None and column is not None:
                    sums[side] = before + amount
                    places[side].append((part.row, column))
        block.entry.parts, block.entry.part_places = sums, places

    def _columns(self, index: int) -> list[int | None]:
        return self._header.columns[6 * index : 6 * index + 6]


def _line(row: Row, kind: LineKind, name: str) -> Entry:
    entry = Entry(0, row.number, kind, None, name, row.level, 0, [None] * 6, (-1,) * 6, {})
    entry.places = [None] * 6
    return entry


def _fill(
    entry: Entry,
    marker: Marker,
    row: Row,
    columns: list[int | None],
    amounts: list[Amount],
    parts: Parts,
    offset: int = 0,
) -> None:
    """Put a row's debit and credit into their two places."""
    places, styles = entry.places or [None] * 6, [*entry.styles]
    for side in (0, 1):
        own = offset + 2 + side
        which, column, amount = marker.value + side, columns[2 + side], amounts[2 + side]
        if places[which] is not None and amount != entry.amounts[which]:
            amount = Unreadable("две суммы в двух строках")
        places[which] = None if column is None else (row.number, column)
        styles[which] = parts.styles[own]
        if parts.raw and own in parts.raw:
            entry.raw = (entry.raw or {}) | {which: parts.raw[own]}
        if isinstance(amount, Unreadable):
            entry.unreadable[which] = amount
        entry.amounts[which] = None if isinstance(amount, Unreadable) else amount
    entry.places, entry.styles = places, tuple(styles)


def _tops(parts: list[_Part]) -> list[_Part]:
    """The parts that are no parts of others: the outermost ones, else those whose codes say so."""
    levels = {part.level for part in parts}
    if len(levels) > 1:
        return [part for part in parts if part.level == min(levels)]
    codes = {part.code for part in parts if part.code}
    if not codes:
        return parts
    return [p for p in parts if p.code and not codes & set(accounts.ancestors(p.code))]
