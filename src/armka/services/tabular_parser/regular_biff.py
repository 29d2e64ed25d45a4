"""Sheets of BIFF 8 read by the regular shape in which the usual writers print them.

xlrd takes several calls a record. Rows, numbers, shared strings and blanks are records of fixed
lengths, so that runs of them are unpacked in one call; what else is among them is handed to xlrd
with the other records of the sheet. Nothing is taken on trust: rows must ascend, and cells in them,
and whatever else holds a value makes the whole sheet xlrd's.
"""

import re
import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

from armka.osv.grid import Cell, Form, LooseRow, RegularRow, Row, Value
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.limits import Corrupt

_COLUMNS = 256
_EOF, _BOF = 0x0A, 0x809
_BLANK, _MANY_BLANKS, _NUMBER, _SHARED, _COMPRESSED, _MANY_COMPRESSED, _ROW = (
    0x201, 0xBE, 0x203, 0xFD, 0x27E, 0xBD, 0x208,
)  # fmt: skip
_VALUES = frozenset((0x04, 0x05, 0xD6, 0x204, 0x205, 0x06, 0x206, 0x406, 0x207, 0x07))
_HEAD, _PLACE = struct.Struct("<HH").unpack_from, struct.Struct("<HHH").unpack_from
_LOOK = struct.Struct("<4xH10xi").unpack_from
_SHORT, _LONG = struct.Struct("<H").unpack_from, struct.Struct("<i").unpack_from
_DOUBLE = struct.Struct("<d").unpack_from
# The cells of one row: shared strings, plain and compressed numbers.
_REGULAR = re.compile(
    rb"(?=.{4}(..))"
    rb"(?:\xfd\x00\x0a\x00\1.{8}|\x03\x02\x0e\x00\1.{12}|\x7e\x02\x0a\x00\1.{8})++",
    re.DOTALL,
)
# By the first byte of such a cell: its kind, and its length with the head.
_KINDS = {0xFD: ("s", 14), 0x03: ("d", 18), 0x7E: ("i", 14)}


class _Irregular(Exception):
    """The shape does not hold."""


class _Unpackers(dict[str, Callable[[bytes, int], tuple[Any, ...]]]):
    """How to unpack cells of such kinds: four fields each."""

    def __missing__(self, kinds: str) -> Callable[[bytes, int], tuple[Any, ...]]:
        fields = "".join("4xHHHd" if kind == "d" else "4xHHHi" for kind in kinds)
        return self.setdefault(kinds, struct.Struct(f"<{fields}").unpack_from)


class _Texts(dict[int, str]):
    """The shared strings as they are shown, by their numbers. Raises _Irregular."""

    def __init__(self, strings: list[Any]) -> None:
        self._strings = strings

    def __missing__(self, index: int) -> str:
        if not 0 <= index < len(self._strings):
            raise _Irregular
        return self.setdefault(index, clean(str(self._strings[index])))


class _Forms(dict[tuple[str, tuple[int, ...], tuple[int, ...]], Form]):
    """Forms of rows by the kinds, columns and looks of their cells. Raises _Irregular."""

    def __init__(self, styles: int) -> None:
        self.styles = styles

    def __missing__(self, key: tuple[str, tuple[int, ...], tuple[int, ...]]) -> Form:
        kinds, columns, looks = key
        ascending = all(left < right for left, right in pairwise(columns))
        if not ascending or columns[-1] >= _COLUMNS or max(looks) >= self.styles:
            raise _Irregular
        return self.setdefault(key, Form(columns, looks, tuple(kind != "s" for kind in kinds)))


class Reader:
    """Reads the sheets of one book."""

    def __init__(self, strings: list[Any], styles: int) -> None:
        self._texts = _Texts(strings)
        self._forms = _Forms(styles)
        self._unpackers = _Unpackers()

    def read(self, data: bytes, start: int) -> tuple[list[Row], bytes] | None:
        """Read the sheet whose first record, a BOF, starts there: its rows, and its records but for
        theirs; None: its shape is another. Raises Corrupt.
        """
        try:
            if start < 0:
                return None
            return _Walk(data, self._texts, self._forms, self._unpackers).walk(start)
        except (_Irregular, struct.error):
            return None


class _Walk:
    """Goes over the records of one sheet."""

    def __init__(self, data: bytes, texts: _Texts, forms: _Forms, unpackers: _Unpackers) -> None:
        self._data = data
        self._texts = texts
        self._forms = forms
        self._unpackers = unpackers
        self._rows: list[Row] = []
        self._looks: dict[int, tuple[int, bool]] = {}

    def walk(self, position: int) -> tuple[list[Row], bytes]:
        """Raises _Irregular, struct.error."""
        data, rest = self._data, bytearray()
        kind = 0
        while kind != _EOF:
            whole = _REGULAR.match(data, position)
            if whole is not None:
                self._regular(position, whole.end())
                position = whole.end()
                continue
            kind, length = _HEAD(data, position)
            end = position + 4 + length
            if end > len(data) or kind in _VALUES or (kind == _BOF and rest):
                raise _Irregular
            if not self._take(kind, position + 4, end):
                rest += data[position:end]
            position = end
        for row in self._rows:
            row.level, row.hidden = self._looks.get(row.number, (0, False))
        return self._rows, bytes(rest)

    def _regular(self, start: int, end: int) -> None:
        """The cells of one row, or some of them."""
        kinds = self._kinds(start, end)
        fields = self._unpackers[kinds](self._data, start)
        number, columns, looks = fields[0] + 1, fields[1::4], fields[2::4]
        values: list[Value] = []
        total = 0.0
        for kind, stored in zip(kinds, fields[3::4], strict=True):
            if kind == "s":
                values.append(self._texts[stored])
            else:
                value = stored if kind == "d" else _compressed(stored)
                total += value
                values.append(value)
        before = self._rows[-1].number if self._rows else 0
        if number > before and isfinite(total):
            form = self._forms[kinds, columns, looks]
            self._rows.append(RegularRow(number, form, tuple(values)))
        else:
            for column, look, value in zip(columns, looks, values, strict=True):
                self._add((number - 1, column, look), value)

    def _kinds(self, position: int, end: int) -> str:
        data, kinds = self._data, ""
        while position < end:
            kind, length = _KINDS[data[position]]
            kinds += kind
            position += length
        return kinds

    def _take(self, kind: int, start: int, end: int) -> bool:
        """Read a record; False: it says nothing of cells."""
        data = self._data
        if kind == _ROW and end - start >= 16:
            number, look = _HEAD(data, start)[0], _LONG(data, start + 12)[0]
            self._looks[number + 1] = look & 7, bool(look & 0x20)
        elif kind == _NUMBER and end - start >= 14:
            self._add(_PLACE(data, start), _DOUBLE(data, start + 6)[0])
        elif kind == _SHARED and end - start == 10:
            self._add(_PLACE(data, start), self._texts[_LONG(data, start + 6)[0]])
        elif kind == _COMPRESSED and end - start >= 10:
            self._add(_PLACE(data, start), _compressed(_LONG(data, start + 6)[0]))
        elif kind == _MANY_COMPRESSED and end - start >= 12:
            row, column = _HEAD(data, start)
            count = (end - start - 6) // 6
            if (
                _SHORT(data, end - 2)[0] != column + count - 1
            ):  # xlrd would lose those that it hides
                raise Corrupt(f"xls: числа строки {row + 1} записаны с противоречием")
            for place in range(count):
                (look,) = _SHORT(data, start + 4 + 6 * place)
                value = _compressed(_LONG(data, start + 6 + 6 * place)[0])
                self._add((row, column + place, look), value)
        else:
            return kind in (_BLANK, _MANY_BLANKS)
        return True

    def _add(self, place: Sequence[int], value: Value) -> None:
        """Add a cell by its row, column and look."""
        row, column, look = place
        number, rows = row + 1, self._rows
        if column >= _COLUMNS or look >= self._forms.styles:
            raise _Irregular
        last = rows[-1] if rows else None
        if last is None or number > last.number:
            rows.append(LooseRow(number, [(column, value, look)]))
            return
        cells: list[Cell] = last.cells
        if number < last.number or column <= cells[-1][0]:
            raise _Irregular
        if type(last) is RegularRow:
            rows[-1] = LooseRow(number, cells)
        cells.append((column, value, look))


def _compressed(raw: int) -> float:
    """A number in 30 bits: a whole one or the head of a double, perhaps times a hundred."""
    if raw & 2:
        number = float(raw >> 2)
    else:
        (number,) = _DOUBLE(bytes(4) + (raw & 0xFFFFFFFC).to_bytes(4, "little"))
    return number / 100 if raw & 1 else number
