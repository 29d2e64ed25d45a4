"""XLSB by an own walk over its records: values, formats, outline, hidden rows, merges.

Other readers pass over the short cell records 12-18, which have no column of their own, without a
word; here they are cells like any other. Each record is an id and a length of 7 bits a byte, then
its data; what is not known is skipped.
"""

import re
import struct
from collections.abc import Callable, Iterator
from math import isfinite
from operator import itemgetter
from typing import Any

from armka.osv.grid import (
    Cell,
    CellError,
    Form,
    Grid,
    LooseRow,
    Merge,
    RegularRow,
    Row,
    Style,
    Value,
)
from armka.services.tabular_parser.builtin_formats import format_code
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.limits import MAX_COLUMN, MAX_ROW, CellCount, Corrupt
from armka.services.tabular_parser.sheet_xml import in_order
from armka.services.tabular_parser.zip_container import Relationships, ZipContainer

_STYLE = 0xFFFFFF  # the other 8 bits are flags
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
_COLUMN = itemgetter(0)
_LONG, _DOUBLE = struct.Struct("<I").unpack_from, struct.Struct("<d").unpack_from
_SHORT = struct.Struct("<H").unpack_from
_FOUR = struct.Struct("<4I").unpack_from
# Runs of whole records of one form: numbers, shared strings, compressed numbers.
_RUN = re.compile(rb"((?:\x05\x10.{16})++)|((?:\x07\x0c.{12})++)|((?:\x02\x0c.{12})++)", re.DOTALL)
# A whole row of texts and then numbers, as most are.
_REGULAR = re.compile(
    rb"\x00(?:\x11.{17}|\x19.{25})((?:\x07\x0c.{12})*+)((?:\x05\x10.{16})++)(?=\x00|\x92\x01)",
    re.DOTALL,
)
_REAL_CELLS = struct.Struct("<2xIId").iter_unpack
_INDEX_CELLS = struct.Struct("<2xIII").iter_unpack
_SHARED_CELL, _REAL_CELL = 14, 18  # bytes

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
    end, size = 0, len(data)
    while end < size:
        kind, start, end = _record(data, end)
        yield kind, start, end


def _record(data: bytes, position: int) -> tuple[int, int, int]:
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
    if end > len(data):
        raise Corrupt(f"xlsb: запись {kind} длиннее файла")
    return kind, position, end


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


def _compressed(raw: int) -> float:
    """A number in 30 bits: a whole one or the head of a double, perhaps times a hundred."""
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
    "compressed": lambda data: _compressed(_LONG(data)[0]),
    "error": lambda data: CellError(_ERRORS.get(data[0], "#ERROR!")),
    "real": _real,
    "rich": lambda data: _text(data, 1)[0],
    "text": lambda data: _text(data, 0)[0],
}


class _Looks(dict[int, int]):
    """Styles by the field of a cell that holds them: those that the file does not have are 0."""

    def __init__(self, styles: int) -> None:
        self._styles = styles

    def __missing__(self, look: int) -> int:
        style = look & _STYLE
        return self.setdefault(look, style if style < self._styles else 0)


class _Forms(dict[tuple[int, tuple[int, ...], tuple[int, ...]], Form | None]):
    """Forms of rows by their number of texts, their columns and looks; None: not on a sheet."""

    def __init__(self, looks: _Looks) -> None:
        self._looks = looks

    def __missing__(self, key: tuple[int, tuple[int, ...], tuple[int, ...]]) -> Form | None:
        texts, columns, looks = key
        numbers = tuple(place >= texts for place in range(len(columns)))
        form = Form(columns, tuple(self._looks[look] for look in looks), numbers)
        return self.setdefault(key, form if max(columns) < MAX_COLUMN else None)


class _Unpackers(dict[tuple[int, int], Callable[[bytes, int], tuple[Any, ...]]]):
    """How to unpack so many bytes of texts and so many of numbers: three fields a cell."""

    def __missing__(self, key: tuple[int, int]) -> Callable[[bytes, int], tuple[Any, ...]]:
        texts, numbers = key[0] // _SHARED_CELL, key[1] // _REAL_CELL
        return self.setdefault(
            key, struct.Struct(f"<{'2xIII' * texts}{'2xIId' * numbers}").unpack_from
        )


class _Sheet:
    """One sheet's records, read into rows and merges."""

    def __init__(self, strings: list[str], styles: int, count: CellCount) -> None:
        self._strings = strings
        self._styles = _Looks(styles)
        self._forms = _Forms(self._styles)
        self._unpackers = _Unpackers()
        self._count = count
        self._column = -1
        self._cells: list[Cell] = []
        self._merges: list[Merge] = []

    def parse(self, data: bytes) -> tuple[list[Row], list[Merge]]:
        """Rows and runs of the cells that sheets are full of are read at once, other records one by
        one.
        """
        rows: list[Row] = []
        position, size = 0, len(data)
        while position < size:
            whole = _REGULAR.match(data, position)
            regular = whole and self._regular(data, whole)
            if whole and regular:
                self._count.add(len(self._cells) + len(regular.values))
                self._cells = []
                rows.append(regular)
                position = whole.end()
                continue
            run = _RUN.match(data, position)
            if run is not None:
                self._run(run)
                position = run.end()
                continue
            kind, start, position = _record(data, position)
            if kind == _ROW:
                self._count.add(len(self._cells))
                self._cells = []
                self._column = -1
                rows.append(_row(data, start, self._cells))
            else:
                self._other(kind, data[start:position])
        self._count.add(len(self._cells))
        return _checked(rows), self._merges

    def _regular(self, data: bytes, row: "re.Match[bytes]") -> RegularRow | None:
        """A row in the form of others; None: it is to be read cell by cell."""
        start, (first, middle), end = row.start() + 2, row.span(1), row.end()
        fields = self._unpackers[middle - first, end - middle](data, first)
        values, texts = fields[2::3], (middle - first) // _SHARED_CELL
        form = self._forms[texts, fields[0::3], fields[1::3]]
        number, look = _LONG(data, start)[0] + 1, data[start + 11]
        if form is None or number > MAX_ROW or not isfinite(sum(values[texts:])):
            return None
        strings = self._strings
        shown = (*[strings[index] for index in values[:texts]], *values[texts:])
        return RegularRow(number, form, shown, look & 7, bool(look & 0x10))

    def _run(self, run: "re.Match[bytes]") -> None:
        """Cells of one form right after each other; the last one's column may be counted from."""
        reals, shared, compressed = run.groups()
        styles, cells = self._styles, self._cells
        if reals is not None:
            cells += [
                (column, number if isfinite(number) else CellError(str(number)), styles[look])
                for column, look, number in _REAL_CELLS(reals)
            ]
        elif shared is not None:
            strings = self._strings
            cells += [
                (column, strings[index], styles[look])
                for column, look, index in _INDEX_CELLS(shared)
            ]
        else:
            cells += [
                (column, _compressed(number), styles[look])
                for column, look, number in _INDEX_CELLS(compressed)
            ]
        self._column = cells[-1][0]

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
        (look,) = _LONG(data)
        value = self._value(form, data[4:])
        if value is not None:
            self._cells.append((self._column, value, self._styles[look]))

    def _value(self, form: str, data: bytes) -> Value | None:
        if form == "shared":
            index: int = _LONG(data)[0]
            return self._strings[index]
        return None if form == "blank" else _DECODE[form](data)


def _row(data: bytes, start: int, cells: list[Cell]) -> Row:
    look = data[start + 11]
    return LooseRow(_LONG(data, start)[0] + 1, cells, look & 7, bool(look & 0x10))


def _checked(rows: list[Row]) -> list[Row]:
    filled = [row for row in rows if type(row) is RegularRow or row.cells]
    for row in filled:
        if type(row) is RegularRow:
            continue
        if row.number > MAX_ROW or max(map(_COLUMN, row.cells)) >= MAX_COLUMN:
            raise Corrupt(f"xlsb: ячейка вне листа, строка {row.number}")
    return in_order(filled)
