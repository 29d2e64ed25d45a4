"""Sheets and shared strings read by the regular shape in which the usual writers print them.

To read XML element by element takes five calls a cell. Excel, 1С and the libraries print each cell
alike, so that a regular expression cuts a row into all its cells in one call. Nothing is taken on
trust: the document without the inside of its long list must be well-formed to the XML parser, with
the list where it was seen, and the shape must cover that inside to the last byte. Where it does
not, the document is read element by element.
"""

import re
from collections.abc import Iterator
from xml.parsers import expat

from armka.osv.grid import Cell, CellError, Form, LooseRow, RegularRow, Row, Value
from armka.services.tabular_parser.characters import unescape
from armka.services.tabular_parser.limits import MAX_ROW, CellCount
from armka.services.tabular_parser.sheet_xml import (
    LARGE,
    NO_VALUE,
    SheetXml,
    column_number,
    in_order,
    look_of,
    number_of,
)
from armka.services.tabular_parser.zip_container import xml_parser


def _uncaptured(pattern: str) -> str:
    return re.sub(r"\((?!\?)", "(?:", pattern)


_S = r"[ \t\r\n]*+"
_REFERENCE = r"&(amp|lt|gt|quot|apos|\#[0-9]{1,6}|\#x[0-9A-Fa-f]{1,5});"
_TEXT = rf"(?:[^<>&\r\x00-\x08\x0b\x0c\x0e-\x1f]++|{_uncaptured(_REFERENCE)})*+"
_T = rf'<t(?: xml:space="preserve")?>({_TEXT})</t>'
_ATTRIBUTES = r'(?: [A-Za-z][A-Za-z0-9:]*+="[^"<&\x00-\x1f]*+")*+'
_LOOK = r'(?: s="[0-9]++")?+(?: t="[A-Za-z]++")?+'
_FORMULA = rf"<f{_ATTRIBUTES}(?:/>|>{_TEXT}</f>){_S}"
_OTHER = rf"({_FORMULA})?(?:(?:<v>({_TEXT})</v>|<v/>|<is>{_S}{_T}{_S}</is>){_S})?"

_ROW = re.compile(rf'{_S}<row r="([0-9]{{1,7}})"({_ATTRIBUTES})(/?)>{_S}'.encode())
_ATTRIBUTE = re.compile(r'([A-Za-z0-9:]+)="([^"]*)"')
# A cell: column, row, style and kind, a number, or what else it holds; then white space.
_CELL = re.compile(
    rf'<c r="([A-Z]{{1,3}})([0-9]{{1,7}})"({_LOOK})'
    rf"(?:/>|>{_S}(?:<v>([-+.0-9eE]++)</v>{_S}|({_uncaptured(_OTHER)}))</c>){_S}".encode()
)
_BODY = re.compile(_OTHER)  # a formula, a text, a text of its own
_STEP = 6  # the five parts of a cell, and what stands before it: nothing
_STRING = re.compile(rf"<si>{_S}(?:<t/>|{_T}){_S}</si>{_S}".encode())
_CHARACTER = re.compile(_REFERENCE)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_UTF_8 = (None, "utf-8", "us-ascii")


class _Irregular(Exception):
    """The shape does not hold."""


def read(data: bytes, sheet: SheetXml, count: CellCount) -> bool:
    """Read a whole sheet into `sheet`; False: its shape is another, and nothing was read.

    Raises Corrupt, TooLarge.
    """
    inside = _inside(data, "sheetData", ["worksheet"])
    if inside is None:
        return False
    before = count.cells
    try:
        rows = list(_rows(data, *inside, _Cells(sheet), count))
    except (_Irregular, ValueError, LookupError):
        count.cells = before
        return False
    sheet.parse(data[: inside[0]] + data[inside[1] :])
    sheet.rows = in_order(rows)
    return True


def strings(data: bytes) -> list[str] | None:
    """The shared strings; None: their shape is another. Raises Corrupt."""
    inside = _inside(data, "sst", [])
    if inside is None:
        return None
    parts = _STRING.split(data[slice(*inside)])
    if parts[0].strip() or any(parts[2::2]):
        return None
    try:
        return [_decode(text) if text else "" for text in parts[1::2]]
    except (_Irregular, ValueError):
        return None


def _inside(data: bytes, tag: str, above: list[str]) -> tuple[int, int] | None:
    """Where the inside of the element starts and ends, if without it the document is well-formed
    UTF-8 with the element right there, under the elements `above`.
    """
    position = data.find(f"<{tag}".encode())
    start = data.find(b">", position) + 1
    end = data.rfind(f"</{tag}>".encode())
    if position < 0 or not 0 < start <= end:
        return None
    path: list[str] = []
    seen = []

    def opened(name: str, _: dict[str, str]) -> None:
        if name == tag and path == above:
            seen.append(parser.CurrentByteIndex)
        path.append(name)

    def closed(name: str) -> None:
        path.pop()
        if name == tag and path == above:
            seen.append(parser.CurrentByteIndex)

    def declared(_: str, encoding: str | None, __: int) -> None:
        if encoding is not None and encoding.lower() not in _UTF_8:
            raise _Irregular

    parser = xml_parser()
    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.XmlDeclHandler = declared
    try:
        parser.Parse(data[:start] + data[end:], True)
    except (expat.ExpatError, LookupError, ValueError, _Irregular):
        return None  # whoever reads the whole document says what is wrong with it
    return (start, end) if seen == [position, start] else None


def _rows(data: bytes, position: int, end: int, cells: "_Cells", count: CellCount) -> Iterator[Row]:
    looks: dict[bytes, tuple[int, bool]] = {}
    while position < end:
        head = _ROW.match(data, position, end)
        if head is None:
            if data[position:end].strip():
                raise _Irregular
            return
        digits, attributes, empty = head.groups()
        look = looks.get(attributes)
        if look is None:
            look = looks[attributes] = _look(attributes)
        number = int(digits)
        if not 0 < number <= MAX_ROW:
            raise _Irregular
        position = head.end()
        if not empty:
            stop = data.find(b"</row>", position, end)
            if stop < 0:
                raise _Irregular
            row, cells_read = cells.read(data[position:stop], digits, number, look)
            position = stop + 6
            if row is not None:
                count.add(cells_read)
                yield row


def _look(attributes: bytes) -> tuple[int, bool]:
    pairs = _ATTRIBUTE.findall(attributes.decode())
    named = dict(pairs)
    if len(named) < len(pairs) or "r" in named:
        raise _Irregular
    return look_of(named)


class _Columns(dict[bytes, int]):
    """Column numbers by letters."""

    def __missing__(self, letters: bytes) -> int:
        return self.setdefault(letters, column_number(letters.decode()))


class _Looks(dict[bytes, tuple[str, int]]):
    """Kind and style by the attributes that say them."""

    def __init__(self, styles: int) -> None:
        self._styles = styles

    def __missing__(self, attributes: bytes) -> tuple[str, int]:
        named = dict(_ATTRIBUTE.findall(attributes.decode()))
        style = int(named.get("s", "0"))
        look = (named.get("t", "n"), style if style < self._styles else 0)
        return self.setdefault(attributes, look)


class _Forms(dict[tuple[bytes, ...], tuple[Form | None, list[int]]]):
    """Forms of rows by the letters of their cells and then their attributes, with the places of
    shared strings; None: there are values of other kinds.
    """

    def __init__(self, columns: _Columns, looks: _Looks) -> None:
        self._columns = columns
        self._looks = looks

    def __missing__(self, key: tuple[bytes, ...]) -> tuple[Form | None, list[int]]:
        count = len(key) // 2
        kinds, styles = zip(*(self._looks[attributes] for attributes in key[count:]), strict=True)
        columns = tuple(self._columns[letters] for letters in key[:count])
        form = Form(columns, styles, tuple(kind == "n" for kind in kinds))
        texts = [place for place, kind in enumerate(kinds) if kind == "s"]
        return self.setdefault(key, (form if {"n", "s"} >= set(kinds) else None, texts))


class _Cells:
    """Cuts rows into cells."""

    def __init__(self, sheet: SheetXml) -> None:
        self._strings = sheet.strings
        self._looks = _Looks(sheet.styles)
        self._columns = _Columns()
        self._forms = _Forms(self._columns, self._looks)

    def read(
        self, data: bytes, digits: bytes, number: int, look: tuple[int, bool]
    ) -> tuple[Row | None, int]:
        """A row and how many of its cells have a value; this runs for millions of them.

        Raises _Irregular, ValueError, LookupError.
        """
        parts = _CELL.split(data)
        count = len(parts) // _STEP
        if any(parts[::_STEP]) or parts[2::_STEP].count(digits) != count:
            raise _Irregular
        stored = parts[4::_STEP]
        if count and all(stored):
            form, texts = self._forms[(*parts[1::_STEP], *parts[3::_STEP])]
            values = form and self._values(stored, texts)
            if form and values:
                return RegularRow(number, form, values, *look), count
        cells = self._cells(parts)
        return (LooseRow(number, cells, *look) if cells else None), len(cells)

    def _values(self, stored: list[bytes], texts: list[int]) -> tuple[Value, ...] | None:
        """The values of cells that are all numbers but for these texts; None: one of them is too
        large for a float.
        """
        numbers = list(map(float, stored))
        if max(numbers) >= LARGE or min(numbers) <= -LARGE:
            return None
        values: list[Value] = numbers  # type: ignore[assignment]  # becomes a list of values
        for place in texts:
            index = int(stored[place])
            if index < 0:
                raise _Irregular
            values[place] = self._strings[index]
        return tuple(values)

    def _cells(self, parts: list[bytes]) -> list[Cell]:
        strings, looks, columns = self._strings, self._looks, self._columns
        cells: list[Cell] = []
        for letters, attributes, digits, body in zip(
            parts[1::_STEP], parts[3::_STEP], parts[4::_STEP], parts[5::_STEP], strict=True
        ):
            kind, style = looks[attributes]
            value: Value | None
            if digits is None:
                value = _other(kind, body) if body else None
            elif kind == "n":
                value = float(digits)
                if not -LARGE < value < LARGE:
                    value = number_of(digits.decode())
            elif kind == "s":
                index = int(digits)
                if index < 0:
                    raise _Irregular
                value = strings[index]
            else:
                value = _typed(kind, digits.decode())
            if value is not None:
                cells.append((columns[letters], value, style))
        return cells


def _other(kind: str, body: bytes) -> Value | None:
    """The value of a cell that holds no number, or a formula; None where it is blank."""
    parts = _BODY.fullmatch(body.decode())
    if parts is None:
        raise _Irregular
    formula, text, own = parts.groups()
    stored = own if kind == "inlineStr" else text
    if stored:
        return _typed(kind, _resolved(stored))
    return CellError(NO_VALUE) if formula and kind != "str" else None


def _typed(kind: str, text: str) -> Value:
    match kind:
        case "n":
            return number_of(text)
        case "s":
            raise _Irregular
        case "b":
            return text.strip() in ("1", "true")
        case "e":
            return CellError(text)
        case _:
            return unescape(text)


def _decode(text: bytes) -> str:
    return unescape(_resolved(text.decode()))


def _resolved(text: str) -> str:
    """The text with its references resolved. Raises _Irregular at what XML has no character for."""
    if "\ufffe" in text or "\uffff" in text:
        raise _Irregular
    return _CHARACTER.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    name = reference.group(1)
    if name in _NAMED:
        return _NAMED[name]
    code = int(f"0{name[1:]}", 16) if name[1] == "x" else int(name[1:])
    if code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF:
        return chr(code)
    raise _Irregular
