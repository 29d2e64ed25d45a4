"""One row of cells, sorted into the header's columns."""

from decimal import Decimal

import msgspec

from armka.osv.amounts import MOST, NEARLY, RAW, Amount, AmountReader, Unreadable
from armka.osv.grid import Cell, CellError, Row, Style, Value, raw_text
from armka.osv.header import Header
from armka.osv.labels import Stub
from armka.osv.number_format import show_code


class Parts(msgspec.Struct):
    """A row, sorted. `amounts`: six for each band of the header. `raw`: what stood in the cells
    that held no plain number. `others`: what the columns beside «Счет» say. `parts`: turnovers by
    correspondent account, (side, column, amount).
    """

    label: Value | None
    label_column: int
    label_style: int
    name: str
    amounts: list[Amount]
    styles: list[int]
    raw: dict[int, str] | None
    others: dict[Stub, list[tuple[int, str]]] | None
    parts: list[tuple[int, int, Amount]] | None
    stray: int | None
    has_amount: bool = False  # any amount's cell holds something
    has_unreadable: bool = False

    @property
    def has_number(self) -> bool:
        """Whether any amount can be read."""
        return any(isinstance(amount, int) for amount in self.amounts)

    def text(self, kind: Stub) -> str:
        """What the columns of this kind say."""
        return " ".join(text for _, text in (self.others or {}).get(kind, []))


class RowReader:
    """Sorts rows by one header."""

    def __init__(self, header: Header, styles: list[Style], read_amount: AmountReader) -> None:
        self._header = header
        self._styles = styles
        self._amount = read_amount
        self._places = len(header.columns)
        amounts = [column for column in header.columns if column is not None]
        self._last = max(amounts)

    def parts(self, row: Row) -> Parts:
        """Sort one row."""
        header, places = self._header, self._places
        parts = Parts(None, 0, 0, "", [None] * places, [-1] * places, None, None, None, None)
        spans, read, amounts, styles = header.spans, self._amount.read, parts.amounts, parts.styles
        scales, rests = self._amount.scales, self._amount.rests
        first, last = header.label
        for cell in row.cells:
            column, value, style = cell
            which = spans.get(column)
            if which is not None and type(value) is float and scales[style]:
                scaled = value * scales[style]
                whole = round(scaled) if -MOST < scaled < MOST else 0
                if -NEARLY < scaled - whole < NEARLY and amounts[which] is None:
                    amounts[which] = whole * rests[style]
                    styles[which] = style
                    parts.has_amount = True
                    continue
            if which is None:
                if first <= column <= last:
                    _take_label(parts, column, value, style)
                else:
                    self._take_other(parts, cell)
                continue
            found = read(value, style)
            if found is None:
                continue
            if amounts[which] is not None:
                found = Unreadable(f"{value} (две суммы)")
            amounts[which] = found
            styles[which] = style
            parts.has_amount = True
            if type(found) is not int:
                parts.has_unreadable = True
            if type(value) is not float:
                parts.raw = parts.raw or {}
                parts.raw[which] = raw_text(value)[:RAW]
        return parts

    def _take_other(self, parts: Parts, cell: Cell) -> None:
        header = self._header
        column, value, style = cell
        kind = header.stubs.get(column)
        side = header.correspondents.get(column)
        if header.name and header.name[0] <= column <= header.name[1]:
            parts.name = parts.name or self.shown(value, style)
        elif kind is not None:
            text = self.shown(value, style)
            if text:
                parts.others = parts.others or {}
                parts.others.setdefault(kind, []).append((column, text))
        elif side is not None:
            parts.parts = parts.parts or []
            parts.parts.append((side, column, self._amount.read(value, style)))
        elif header.label[1] < column < self._last and isinstance(value, float | Decimal):
            parts.stray = column

    def shown(self, value: Value, style: int) -> str:
        """A cell as text, a number as its format shows it."""
        if isinstance(value, float | Decimal):
            return show_code(value, self._styles[style].number_format) or str(value)
        return "" if isinstance(value, CellError | bool) else " ".join(value.split())


def _take_label(parts: Parts, column: int, value: Value, style: int) -> None:
    """The first value under «Счет» is the label; a text beside it is the name, a number a stray."""
    if value == "":
        return
    if parts.label is None:
        parts.label, parts.label_column, parts.label_style = value, column, style
    elif isinstance(value, float | Decimal):
        parts.stray = column
    else:
        parts.name = parts.name or " ".join(str(value).split())
