"""XLSB by an own walk over its records: values, formats, outline, hidden rows, merges.

Other readers pass over the short cell records 12-18, which have no column of their own, without a
word; here they are cells like any other. Each record is an id and a length of 7 bits a byte, then
its data; what is not known is skipped.
"""

import struct
from collections.abc import Callable, Iterator
from math import isfinite

from armka.osv.grid import Cell, CellError, Grid, Merge, Row, Style, Value
from armka.services.tabular_parser.builtin_formats import format_code
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.limits import MAX_COLUMN, MAX_ROW, CellCount, Corrupt
from armka.services.tabular_parser.zip_container import Relationships, ZipContainer

_STYLE = 0xFFFFFF  # the other 8 bits are flags
_REAL, _SHARED = 5, 7
_ROW, _FORMAT, _FONT, _XF, _STRING = 0, 44, 43, 47, 19
_BUNDLE_SHEET, _MERGE, _CELL_XFS, _CELL_XFS_END = 156, 176, 617, 618
_ERRORS = {
    0: "#NULL!",
    7: "#DIV/0!",
    15: "#VALUE!",
    23: "#REF!",
    29: "#NAME?",
    36: "#NUM!",
    42: "#N/A",
    43: "#GETTING_DATA",
}
_LONG, _DOUBLE = struct.Struct("<I").unpack_from, struct.Struct("<d").unpack_from
_SHORT = struct.Struct("<H").unpack_from
_FOUR = struct.Struct("<4I").unpack_from
_REAL_CELL, _SHARED_CELL = struct.Struct("<IId").unpack_from, struct.Struct("<III").unpack_from

# What a cell record holds after its column and style; of the ids 12-18 there is no column.
_LONG_FORMS = {
    1: "blank",
    2: "compressed",
    3: "error",
    4: "boolean",
    5: "real",
    6: "text",
    7: "shared",
    8: "text",
    9: "real",
    10: "boolean",
    11: "error",
    62: "rich",
}
_SHORT_FORMS = {
    12: "blank",
    13: "compressed",
    14: "error",
    15: "boolean",
    16: "real",
    17: "text",
    18: "shared",
}


def read(container: ZipContainer) -> Iterator[Grid]:
    """The sheets one by one. Raises Corrupt, Encrypted, TooLarge."""
    try:
        yield from _grids(container)
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise Corrupt(f"xlsb: {error}") from error


def _grids(container: ZipContainer) -> Iterator[Grid]:
    workbook = Relationships(container, "").by_type.get("officeDocument", "xl/workbook.bin")
    parts = Relationships(container, workbook.lstrip("/"))
    styles = _styles(container.find(parts.by_type.get("styles", "xl/styles.bin")) or b"")
    strings = _strings(
        container.find(parts.by_type.get("sharedStrings", "xl/sharedStrings.bin")) or b""
    )
    count = CellCount()
    for name, relation, hidden in _sheets(container.read(workbook)):
        if hidden:
            yield Grid(name, [], [], [], hidden=True)
        else:
            rows, merges = _Sheet(strings, len(styles), count).parse(
                container.read(parts.target(relation))
            )
            yield Grid(name, rows, styles, merges)


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(id, where its data starts, where it ends) of each record."""
    position, size = 0, len(data)
    while position < size:
        kind = data[position]
        position += 1
        if kind & 0x80:
            kind = (kind & 0x7F) | (data[position] & 0x7F) << 7
            position += 1
        length = data[position]
        position += 1
        if length & 0x80:
            length, position = _length(data, position, length & 0x7F)
        end = position + length
        if end > size:
            raise Corrupt(f"xlsb: запись {kind} длиннее файла")
        yield kind, position, end
        position = end


def _length(data: bytes, position: int, length: int) -> tuple[int, int]:
    for shift in (7, 14, 21):
        byte = data[position]
        position += 1
        length |= (byte & 0x7F) << shift
        if not byte & 0x80:
            break
    return length, position


def _text(data: bytes, position: int) -> tuple[str, int]:
    """A string with its length before it, and where it ends."""
    (length,) = _LONG(data, position)
    start, end = position + 4, position + 4 + 2 * length
    if end > len(data):
        raise Corrupt("xlsb: строка длиннее файла")
    return clean(data[start:end].decode("utf-16-le", "replace")), end


def _sheets(data: bytes) -> list[tuple[str, str, bool]]:
    """(name, relationship id, hidden) of each sheet, in order."""
    found = []
    for kind, start, _ in _records(data):
        if kind == _BUNDLE_SHEET:
            relation, position = _text(data, start + 8)
            name, _ = _text(data, position)
            found.append((name, relation, _LONG(data, start)[0] != 0))
    return found


def _strings(data: bytes) -> list[str]:
    return [_text(data, start + 1)[0] for kind, start, _ in _records(data) if kind == _STRING]


def _styles(data: bytes) -> list[Style]:
    """What each cell format looks like."""
    formats: dict[int, str] = {}
    fonts: list[tuple[bool, bool]] = []
    cells: list[Style] = []
    in_cells = False
    for kind, start, _ in _records(data):
        if kind == _FORMAT:
            formats[_SHORT(data, start)[0]] = _text(data, start + 2)[0]
        elif kind == _FONT:
            fonts.append((_SHORT(data, start + 4)[0] >= 600, bool(data[start + 2] & 2)))
        elif kind in (_CELL_XFS, _CELL_XFS_END):
            in_cells = kind == _CELL_XFS
        elif kind == _XF and in_cells:
            number_format, font = _SHORT(data, start + 2)[0], _SHORT(data, start + 4)[0]
            bold, italic = fonts[font] if font < len(fonts) else (False, False)
            cells.append(Style(format_code(number_format, formats), bold, italic, data[start + 11]))
    return cells or [Style()]


def _compressed(data: bytes) -> float:
    """A number in 30 bits: a whole one or the head of a double, perhaps times a hundred."""
    (raw,) = _LONG(data)
    if raw & 2:
        number = float((raw >> 2) - (1 << 30 if raw >> 31 else 0))
    else:
        (number,) = _DOUBLE(bytes(4) + (raw & ~3).to_bytes(4, "little"))
    return number / 100 if raw & 1 else number


def _real(data: bytes) -> Value:
    number: float = _DOUBLE(data)[0]
    return number if isfinite(number) else CellError(str(number))


_DECODE: dict[str, Callable[[bytes], Value]] = {
    "boolean": lambda data: bool(data[0]),
    "compressed": _compressed,
    "error": lambda data: CellError(_ERRORS.get(data[0], "#ERROR!")),
    "real": _real,
    "rich": lambda data: _text(data, 1)[0],
    "text": lambda data: _text(data, 0)[0],
}


class _Sheet:
    """One sheet's records, read into rows and merges."""

    def __init__(self, strings: list[str], styles: int, count: CellCount) -> None:
        self._strings = strings
        self._styles = styles
        self._count = count
        self._column = -1
        self._cells: list[Cell] = []
        self._merges: list[Merge] = []

    def parse(self, data: bytes) -> tuple[list[Row], list[Merge]]:
        """The kinds of cell that sheets are full of are read right here, others by table."""
        rows: list[Row] = []
        cells, strings, styles = self._cells, self._strings, self._styles
        for kind, start, end in _records(data):
            if kind == _REAL and end - start >= 16:
                self._column, style, number = _REAL_CELL(data, start)
                style &= _STYLE
                value = number if isfinite(number) else CellError(str(number))
                cells.append((self._column, value, style if style < styles else 0))
            elif kind == _SHARED and end - start >= 12:
                self._column, style, index = _SHARED_CELL(data, start)
                style &= _STYLE
                cells.append((self._column, strings[index], style if style < styles else 0))
            elif kind == _ROW:
                self._count.add(len(cells))
                cells = self._cells = []
                self._column = -1
                rows.append(_row(data, start, cells))
            else:
                self._other(kind, data[start:end])
        self._count.add(len(cells))
        return _checked(rows), self._merges

    def _other(self, kind: int, data: bytes) -> None:
        if kind in _LONG_FORMS:
            (self._column,) = _LONG(data)
            self._cell(_LONG_FORMS[kind], data[4:])
        elif kind in _SHORT_FORMS:
            self._column += 1
            self._cell(_SHORT_FORMS[kind], data)
        elif kind == _MERGE:
            first_row, last_row, first_column, last_column = _FOUR(data)
            self._merges.append(Merge(first_row + 1, last_row + 1, first_column, last_column))

    def _cell(self, form: str, data: bytes) -> None:
        """A cell from its style on."""
        style = _LONG(data)[0] & _STYLE
        value = self._value(form, data[4:])
        if value is not None:
            self._cells.append((self._column, value, style if style < self._styles else 0))

    def _value(self, form: str, data: bytes) -> Value | None:
        if form == "shared":
            index: int = _LONG(data)[0]
            return self._strings[index]
        return None if form == "blank" else _DECODE[form](data)


def _row(data: bytes, start: int, cells: list[Cell]) -> Row:
    look = data[start + 11]
    return Row(_LONG(data, start)[0] + 1, cells, look & 7, bool(look & 0x10))


def _checked(rows: list[Row]) -> list[Row]:
    filled = [row for row in rows if row.cells]
    for row in filled:
        if row.number > MAX_ROW or any(cell[0] >= MAX_COLUMN for cell in row.cells):
            raise Corrupt(f"xlsb: ячейка вне листа, строка {row.number}")
    return sorted(filled, key=lambda row: row.number)
