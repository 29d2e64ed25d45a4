"""The rows under a header, each with its kind: account, subconto, period, currency, indicator,
group, total. A number that fits nowhere is told (R11).
"""

import re
from collections.abc import Iterator

from armka.contract.vocabulary import LineKind
from armka.osv import accounts, bands, period
from armka.osv.accounts import Account
from armka.osv.amounts import Amount, AmountReader, Unreadable
from armka.osv.chart import Plan, knows
from armka.osv.entries import Body, Doubt, Entry, Total
from armka.osv.grid import CellError, Grid, RegularRow, Row, Value
from armka.osv.header import Header, Shape, is_header_row, shape_of
from armka.osv.labels import Stub
from armka.osv.labels_above import texts_of
from armka.osv.number_format import Shows, show_code, understand
from armka.osv.reports import announced
from armka.osv.rows import Parts, RowReader
from armka.osv.wording import currency, indicator, plain, side, text_of

_TOTAL = re.compile(r"^(?:итого|всего)\b")
_EXPANDED = re.compile(r"разверн")
_OFF_BALANCE_TOTAL = re.compile(r"забаланс")
_BLOCK_TOTAL = re.compile(r"\bпо (актив|пассив)")
_BLOCK = re.compile(r"^(?:[ivx\d.]+ ?)?(актив|пассив)\w*$")
_SECTION = re.compile(r"^(?:раздел|глава)\b")
LOOK_AT = 300  # rows by whose codes the chart of accounts is told


def read(
    grid: Grid, header: Header, start: int, read_amount: AmountReader, roots: tuple[str, ...]
) -> Body:
    """Read from the row with index `start` to the end of the sheet or to the next table's header.

    `roots`: the accounts that the title names, if it does.
    """
    rows = grid.rows
    reader = RowReader(header, grid.styles, read_amount)
    # Under an account that the title names, a subconto may be called like a code: «2023».
    plan = accounts.plan_of(roots or _codes(rows[start : start + LOOK_AT], reader))
    reading = _Reading(grid, header, reader, plan, roots)
    end = start
    for end, row in enumerate(rows[start:], start):
        if not _is_line(row, header):
            if is_another_table(rows, end, over=reading.total_seen):
                return reading.body(above_header(rows, end, start))
            if is_repeated(row, header):
                if reading.total_seen or _another_title(rows, start, end):
                    return reading.body(above_header(rows, end, start))
                reading.compare_header(row)
                continue
            if _is_part_of_header(row, header):
                continue
        reading.take(row, reader.parts(row))
    return reading.body(end + 1)


def _is_line(row: Row, header: Header) -> bool:
    """Whether a row begins unlike the header and ends in a number: nearly all do, and need no
    closer look.
    """
    if type(row) is RegularRow:
        return row.form.numbers[-1] and row.values[0] not in header.begins
    cells = row.cells
    return bool(cells) and type(cells[-1][1]) is float and cells[0][1] not in header.begins


def is_repeated(row: Row, header: Header) -> bool:
    """Whether a row is the header's lowest row again."""
    if header.shape is Shape.PAIRS and is_header_row(row):
        return True
    return _begins_alike(row, header) and texts_of(row) == header.texts[0]


def is_another_table(rows: list[Row], index: int, *, over: bool) -> bool:
    """Whether a row begins another table, this one being over."""
    return over and shape_of(rows, index) is not None


def _is_part_of_header(row: Row, header: Header) -> bool:
    """Whether a row is one of the header's other rows again."""
    return _begins_alike(row, header) and texts_of(row) in header.texts


def _begins_alike(row: Row, header: Header) -> bool:
    return bool(row.cells) and row.cells[0][1] in header.begins


def _another_title(rows: list[Row], start: int, index: int) -> bool:
    """Whether the rows right above a header announce a report, so that it begins a new table."""
    above = rows[above_header(rows, index, start) : index]
    return any(announced(text_of(cell)) for row in above for cell in row.cells)


def above_header(rows: list[Row], index: int, start: int) -> int:
    """Back from the next table's header over the lines above it, which tell that table's
    particulars.
    """
    while index > start and not any(isinstance(cell[1], float) for cell in rows[index - 1].cells):
        index -= 1
    return index


def total_of(name: str) -> tuple[Total, str]:
    """Which total a row of this name is, and of which block (актив, пассив) where it is of one."""
    text = plain(name)
    block = _BLOCK_TOTAL.search(text)
    if _EXPANDED.search(text):
        return Total.EXPANDED, ""
    if _OFF_BALANCE_TOTAL.search(text):
        return Total.OFF_BALANCE, ""
    return (Total.BLOCK, block.group(1)) if block else (Total.PLAIN, "")


def _codes(rows: list[Row], reader: RowReader) -> Iterator[str]:
    for row in rows:
        parts = reader.parts(row)
        account = (
            accounts.parse(reader.shown(parts.label, parts.label_style)) if parts.label else None
        )
        if account is not None and parts.has_amount:
            yield account.code


class _Reading:
    """Rows become entries one after the other; what a row is may depend on what stood above it."""

    def __init__(
        self, grid: Grid, header: Header, reader: RowReader, plan: Plan, roots: tuple[str, ...]
    ) -> None:
        self._styles = grid.styles
        self._header = header
        self._reader = reader
        self._plan = plan
        self._roots = roots
        self._entries: list[Entry] = []
        self._doubts: list[Doubt] = []
        self._accounts: set[str] = set()
        self._owner: Entry | None = None  # the last row that has a name of its own
        self._last_account: Entry | None = None
        self._indicator: str | None = None  # the one that stands first in each line
        self._named = header.name is not None or "наименован" in plain(" ".join(header.texts[0]))
        self._keeps_dimensions = bool(header.legend or roots) or not header.has_accounts
        self._legend = set(map(plain, header.legend))
        self._hidden = 0
        self._first = True
        self._block = ""
        self.total_seen = False

    def body(self, end: int) -> Body:
        """What was read."""
        header = self._header
        return Body(
            self._entries,
            self._doubts,
            end,
            self._hidden,
            self._plan,
            self._roots,
            len(header.legend),
            header.amounts,
            header.shape is Shape.ONE_SIDED,
        )

    def compare_header(self, row: Row) -> None:
        """A header printed again must stand where the first one stands."""
        columns = [cell[0] for cell in row.cells if side(text_of(cell))]
        expected = [column for column in self._header.columns if column is not None]
        if self._header.shape is Shape.PAIRS and not set(expected) <= set(columns):
            reason = "шапка таблицы повторена, а колонки сумм в ней стоят иначе"
            self._doubts.append(Doubt(row.number, reason, "R12"))

    def take(self, row: Row, parts: Parts) -> None:
        """Take one row; blank ones and lines of mere text leave nothing."""
        first, self._first = self._first, False
        if first and _numbers_columns(row):
            return
        if row.hidden and not row.level and (parts.has_number or parts.label is not None):
            self._hidden += 1
        if parts.stray is not None:
            reason = "число стоит вне колонок таблицы"
            self._doubts.append(Doubt(row.number, reason, column=parts.stray))
        account = self._account(row, parts)
        if account is not None:
            self._take_account(row, parts, account)
            return
        text = plain(str(parts.label or "")) or plain(parts.name)
        block = _BLOCK.match(text)
        if _TOTAL.match(text):
            self._total(row, parts, text)
        elif block and not parts.has_number:
            self._block = block.group(1)
        elif not parts.has_amount and text in self._legend:
            return
        elif parts.has_amount or self._heads_others(row, parts):
            self._take_other(row, parts, text)

    def _heads_others(self, row: Row, parts: Parts) -> bool:
        """Whether a row without amounts is a line all the same: rows stand under it."""
        if self.total_seen or not isinstance(parts.label, str):
            return False
        measured = bool(parts.others) and bool(parts.text(Stub.INDICATOR))
        return measured or bool(row.level)

    def _account(self, row: Row, parts: Parts) -> Account | None:
        label = parts.label
        if label is None or isinstance(label, CellError | bool):
            return None
        if isinstance(label, str):
            found = accounts.parse(label)
        else:
            code = show_code(label, self._styles[parts.label_style].number_format)
            found = accounts.parse(code) if code else None
            if (
                found
                and self._is_account(row, parts, found)
                and re.fullmatch(r"\d+\.\d", found.code)
            ):
                reason = f"код счета хранится числом и мог потерять ноль: {code} или {code}0"
                self._doubts.append(Doubt(row.number, reason, "R8"))
        if found is None or not self._is_account(row, parts, found):
            return None
        return found

    def _is_account(self, row: Row, parts: Parts, found: Account) -> bool:
        """Whether what looks like a code is one, and not a subconto that is called like one."""
        code = found.code
        if self._roots:
            again = code in self._accounts and self._is_subconto_again(row, found)
            return not again and (
                accounts.is_under(code, self._roots)
                or any(root.startswith(f"{code}.") for root in self._roots)
            )
        if not self._header.has_accounts or (self._plan is Plan.BUDGET and len(code) == 1):
            return False
        above = self._last_account
        if above is None or above.account is None or row.level <= above.outline:
            return True
        if accounts.is_under(
            code, accounts.ancestors(above.account, self._plan)[-1:] or [above.account]
        ):
            return True
        bare = self._named and not (parts.name or found.name)
        strange = self._plan is Plan.COMMERCIAL and not (
            knows(self._plan, accounts.head_of(code)) or accounts.is_off_balance(code)
        )
        return not (bare or strange)

    def _is_subconto_again(self, row: Row, found: Account) -> bool:
        """Whether a code that has been seen begins the name of a subconto: «60 лет Октября»."""
        above = self._last_account
        return above is not None and (row.level > above.outline or bool(found.name))

    def _take_account(self, row: Row, parts: Parts, account: Account) -> None:
        off_balance = accounts.is_off_balance(account.code, self._plan)
        if self.total_seen and not parts.has_amount and not off_balance:
            return
        italic = self._styles[parts.label_style].italic
        repeats = italic and account.code in self._accounts
        kind = LineKind.GROUP if repeats else LineKind.ACCOUNT
        entry = self._add(row, parts, kind, parts.name or account.name)
        entry.account, entry.off_balance = account.code, off_balance
        entry.key = parts.text(Stub.BUDGET) if parts.others else ""
        if entry.key and not entry.name:
            entry.name = entry.key
        if self.total_seen and not off_balance:
            reason = f"балансовый счет {account.code} стоит после строки «Итого»"
            self._doubts.append(Doubt(row.number, reason))
        self._accounts.add(account.code)
        self._last_account = entry

    def _total(self, row: Row, parts: Parts, text: str) -> None:
        entry = self._add(
            row, parts, LineKind.TOTAL, " ".join(str(parts.label or parts.name).split())
        )
        entry.total, block = total_of(text)
        entry.block = block or entry.block
        self.total_seen = self.total_seen or entry.total is not Total.BLOCK

    def _take_other(self, row: Row, parts: Parts, text: str) -> None:
        if parts.has_amount and not parts.has_number:
            if any(map(_hides_amount, parts.amounts)):
                self._doubts.append(Doubt(row.number, "строка без счета, суммы в ней не читаются"))
            return
        measured = self._measured(row, parts, text)
        if measured is not None:
            self._add_measured(row, parts, measured)
        elif self.total_seen:
            reason = "суммы стоят после строки «Итого», и это не счет"
            self._doubts.append(Doubt(row.number, reason))
        elif not self._keeps_dimensions and not isinstance(parts.label, str | None):
            reason = "суммы есть, а вместо кода счета ошибка, дата или другое число"
            self._doubts.append(Doubt(row.number, reason, "R8"))
        elif parts.label is None and not parts.name and not self._may_be_nameless(parts):
            self._doubts.append(Doubt(row.number, "суммы есть, а чьи они, в строке не сказано"))
        else:
            self._take_named(row, parts, text)

    def _measured(self, row: Row, parts: Parts, text: str) -> str | None:
        """Which indicator of the line above a row is; None: it is a line of its own."""
        own = indicator(parts.text(Stub.INDICATOR)) if parts.others else None
        if self._owner is None:
            return None
        if parts.label is None:
            if own is not None:
                return None if own == self._indicator else own
            quantities = self._header.stubs and Stub.INDICATOR in self._header.stubs.values()
            same = row.level == self._owner.outline and not self._foreign(parts)
            return "Кол" if same and not quantities and self._shows_quantities(parts) else None
        return indicator(text) if own is None else None

    def _foreign(self, parts: Parts) -> bool:
        return bool(parts.text(Stub.CURRENCY) or parts.text(Stub.PERIOD))

    def _shows_quantities(self, parts: Parts) -> bool:
        """Whether the amounts are shown as quantities are, with three decimals."""
        formats = [self._styles[style].number_format for style in parts.styles if style >= 0]
        return bool(formats) and all(understand(code).decimals == 3 for code in formats)

    def _may_be_nameless(self, parts: Parts) -> bool:
        """Whether a row without a name is a subconto that was left blank in a report about an
        account, or says in another column what it is.
        """
        if self._roots or not self._header.has_accounts:
            return True
        others = parts.others or {}
        return any(kind is not Stub.INDICATOR for kind in others)

    def _add_measured(self, row: Row, parts: Parts, measured: str) -> None:
        owner = self._owner
        entry = self._add(row, parts, LineKind.INDICATOR, measured)
        entry.indicator = measured
        if owner is not None:
            entry.parent, entry.account = owner.n, owner.account
            entry.off_balance, entry.outline = owner.off_balance, owner.outline
            self._owner = owner

    def _take_named(self, row: Row, parts: Parts, text: str) -> None:
        """A line that is no account: period, currency, section or subconto."""
        others = parts.others or {}
        label = " ".join(str(parts.label or "").split())
        money = currency(label or parts.text(Stub.CURRENCY))
        if money is not None and not (parts.label is not None and Stub.DIMENSION in others):
            entry = self._add(row, parts, LineKind.CURRENCY, label or parts.text(Stub.CURRENCY))
            entry.currency = money
            return
        when = label or parts.text(Stub.PERIOD)
        if not when.isdigit() and period.alone(when) is not None:
            self._add(row, parts, LineKind.PERIOD, when)
            return
        style = self._styles[parts.label_style]
        if parts.label is not None and _SECTION.match(text):
            self._add(row, parts, LineKind.GROUP, label)
            return
        name = self._shown(parts.label, parts.label_style) or parts.name
        entry = self._add(row, parts, LineKind.DIMENSION, name or self._of_columns(parts))
        entry.italic = style.italic and parts.label is not None

    def _of_columns(self, parts: Parts) -> str:
        return parts.text(Stub.DIMENSION) or parts.text(Stub.BUDGET)

    def _shown(self, label: Value | None, style: int) -> str:
        if isinstance(label, float):
            shows = understand(self._styles[style].number_format).shows
            return (
                period.of_serial(label) if shows is Shows.DATE else self._reader.shown(label, style)
            )
        return " ".join(str(label or "").split())

    def _add(self, row: Row, parts: Parts, kind: LineKind, name: str) -> Entry:
        entries, n = self._entries, len(self._entries) + 1
        if parts.texts is not None and len(parts.texts) == 6:
            found = [bands.plain(row, parts, kind, name, n)]
        else:
            found = bands.entries(self._header, row, parts, kind, name, n)
        entry = found[0]
        entry.indent = self._styles[parts.label_style].indent
        if parts.label_column > self._header.label[0]:
            entry.indent += parts.label_column - self._header.label[0]
        entry.block = self._block
        if parts.others:
            self._take_columns(entry, parts)
        entries += found
        self._owner = entry
        if self._indicator is None:
            self._indicator = entry.indicator
        return entry

    def _take_columns(self, entry: Entry, parts: Parts) -> None:
        """What the columns beside «Счет» say of a line."""
        entry.indicator = indicator(parts.text(Stub.INDICATOR))
        entry.currency = currency(parts.text(Stub.CURRENCY))
        dimensions = (parts.others or {}).get(Stub.DIMENSION, [])
        if dimensions and entry.kind in (LineKind.ACCOUNT, LineKind.DIMENSION):
            entry.kind = LineKind.DIMENSION
            entry.name = " / ".join(
                text for text in (entry.name, *(text for _, text in dimensions)) if text
            )
            entry.indent += len(dimensions)


def _hides_amount(amount: Amount) -> bool:
    """Whether what cannot be read may have been an amount, and is not mere words (a signature, a
    repeated header).
    """
    return isinstance(amount, Unreadable) and not re.fullmatch(r"[^\d#]*[^\W\d][^\d#]*", amount.raw)


def _numbers_columns(row: Row) -> bool:
    """Whether the row only numbers the columns, 1 2 3 …, as printed forms do under their header."""
    values = [cell[1] for cell in row.cells if cell[1] != ""]
    texts = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in values
    ]
    return len(texts) >= 5 and texts == [str(index) for index in range(1, len(texts) + 1)]
