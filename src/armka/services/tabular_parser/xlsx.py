"""XLSX by one pass over each sheet's XML: values as stored, formats, outline, hidden rows, merges.

The whole of what is needed takes one pass of the C parser, so a second reader for the values alone
would only double it, and hide what is stored behind its own idea of dates. Claimed dimensions and
counts are not looked at.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from math import isfinite
from xml.parsers import expat

from armka.osv.grid import Cell, CellError, Grid, Merge, Row, Style, Value
from armka.services.tabular_parser.builtin_formats import format_code
from armka.services.tabular_parser.characters import unescape
from armka.services.tabular_parser.limits import MAX_COLUMN, MAX_ROW, CellCount, Corrupt
from armka.services.tabular_parser.zip_container import (
    Relationships,
    ZipContainer,
    parse_xml,
    xml_parser,
)

_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_NO_VALUE = "формула без вычисленного значения"
_LARGE = 1e13  # from here on a float may not hold the kopecks


def read(container: ZipContainer) -> Iterator[Grid]:
    """The sheets one by one. Raises Corrupt, Encrypted, TooLarge."""
    workbook = Relationships(container, "").by_type.get("officeDocument", "xl/workbook.xml")
    parts = Relationships(container, workbook.lstrip("/"))
    styles = _Styles(container.find(parts.by_type.get("styles", "xl/styles.xml"))).cells
    strings = _strings(container.find(parts.by_type.get("sharedStrings", "xl/sharedStrings.xml")))
    count = CellCount()
    for name, relation, hidden in _sheets(container.read(workbook)):
        if hidden:
            yield Grid(name, [], [], [], hidden=True)
            continue
        sheet = _Sheet(strings, len(styles), count)
        sheet.parse(container.read(parts.target(relation)))
        yield Grid(name, sheet.rows, styles, sheet.merges)


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def _sheets(data: bytes) -> list[tuple[str, str, bool]]:
    """(name, relationship id, hidden) of each sheet, in order."""
    found: list[tuple[str, str, bool]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if _local(tag) == "sheet":
            relation = next((v for k, v in attributes.items() if k.endswith(":id")), "")
            found.append(
                (
                    unescape(attributes.get("name", "")),
                    relation,
                    attributes.get("state", "visible") != "visible",
                )
            )

    parser = xml_parser()
    parser.StartElementHandler = start
    parse_xml(parser, data)
    return found


def _strings(data: bytes | None) -> list[str]:
    """The shared strings; of rich text all runs, of phonetic hints nothing."""
    strings: list[str] = []
    parts: list[str] = []
    inside = {"t": False, "rPh": False}

    def start(tag: str, _: dict[str, str]) -> None:
        name = _local(tag)
        if name in inside:
            inside[name] = True
        elif name == "si":
            parts.clear()

    def end(tag: str) -> None:
        name = _local(tag)
        if name in inside:
            inside[name] = False
        elif name == "si":
            strings.append(unescape("".join(parts)))

    def text(characters: str) -> None:
        if inside["t"] and not inside["rPh"]:
            parts.append(characters)

    if data is not None:
        parser = xml_parser()
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = text
        parse_xml(parser, data)
    return strings


class _Styles:
    """`styles.xml`: what each cell format looks like."""

    def __init__(self, data: bytes | None) -> None:
        self.cells: list[Style] = []
        self._formats: dict[int, str] = {}
        self._fonts: list[set[str]] = []
        self._path: list[str] = []
        self._xfs: list[tuple[int, int, int]] = []
        if data is not None:
            parser = xml_parser()
            parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
            parse_xml(parser, data)
        self.cells = [self._style(*xf) for xf in self._xfs] or [Style()]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name, path = _local(tag), self._path
        parent = path[-1] if path else ""
        path.append(name)
        if name == "numFmt" and parent == "numFmts":
            self._formats[_integer(attributes.get("numFmtId"))] = unescape(
                attributes.get("formatCode", "")
            )
        elif name == "font" and parent == "fonts":
            self._fonts.append(set())
        elif (
            parent == "font"
            and "fonts" in path
            and attributes.get("val", "1") not in ("0", "false")
        ):
            self._fonts[-1].add(name)
        elif name == "xf" and parent == "cellXfs":
            self._xfs.append(
                (_integer(attributes.get("numFmtId")), _integer(attributes.get("fontId")), 0)
            )
        elif name == "alignment" and "cellXfs" in path:
            number_format, font, _ = self._xfs[-1]
            self._xfs[-1] = (number_format, font, _integer(attributes.get("indent")))

    def _end(self, _: str) -> None:
        self._path.pop()

    def _style(self, number_format: int, font: int, indent: int) -> Style:
        marks = self._fonts[font] if font < len(self._fonts) else set()
        return Style(format_code(number_format, self._formats), "b" in marks, "i" in marks, indent)


class _Sheet:
    """One sheet's XML, parsed into rows and merges."""

    def __init__(self, strings: list[str], styles: int, count: CellCount) -> None:
        self.rows: list[Row] = []
        self.merges: list[Merge] = []
        self._strings = strings
        self._count = count
        self._columns: dict[str, int] = {}
        self._styles = {str(index): index for index in range(styles)}

    def parse(self, data: bytes) -> None:
        parser = xml_parser()
        root: list[str] = []

        def first(tag: str, _: dict[str, str]) -> None:
            root.append(tag)
            self._attach(parser, tag.removesuffix("worksheet"))

        parser.StartElementHandler = first
        try:
            parse_xml(parser, data)
        except (ValueError, LookupError, OverflowError) as error:
            raise Corrupt(f"xlsx: {error}") from error
        if _local(root[0]) != "worksheet":
            self.rows.clear()  # a chart sheet, a dialog
        self.rows = [row for row in self.rows if row.cells]
        if any(a.number >= b.number for a, b in pairwise(self.rows)):
            self.rows.sort(key=lambda row: row.number)

    def _attach(self, parser: expat.XMLParserType, prefix: str) -> None:  # noqa: C901 - see below
        """Put the handlers in place. They run millions of times: closures over locals, nothing
        looked up twice.
        """
        cell_tag, row_tag, merge_tag = f"{prefix}c", f"{prefix}row", f"{prefix}mergeCell"
        value_tag, inline_tag = text_tags = f"{prefix}v", f"{prefix}t"
        columns, add_row, add_cells = self._columns, self.rows.append, self._count.add
        formula_tag, styles = f"{prefix}f", self._styles
        cells: list[Cell] = []
        number = column = style = 0
        kind: str | None = None
        text, wanted, formula = "", False, False

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal cells, number, column, style, kind, text, wanted, formula
            if tag == cell_tag:
                reference = attributes.get("r")
                if reference is None:
                    column += 1
                else:
                    letters = reference.rstrip("0123456789")
                    known = columns.get(letters)
                    column = self._column(letters) if known is None else known
                style = styles.get(attributes.get("s", "0"), 0)
                kind, text, formula = attributes.get("t"), "", False
            elif tag == value_tag:
                wanted = kind != "inlineStr"
            elif tag == inline_tag:
                wanted = kind == "inlineStr"
            elif tag == formula_tag:
                formula = True
            elif tag == row_tag:
                number = _row_number(attributes, number)
                cells, column = [], -1
                add_row(Row(number, cells, *_look(attributes)))
            elif tag == merge_tag:
                self.merges.append(_merge(attributes["ref"]))

        def end(tag: str) -> None:
            nonlocal wanted
            if tag in text_tags:
                wanted = False
            elif tag == cell_tag:
                if text:
                    cells.append((column, self._value(kind, text), style))
                elif formula and kind != "str":
                    cells.append((column, CellError(_NO_VALUE), style))
            elif tag == row_tag:
                add_cells(len(cells))

        def characters(piece: str) -> None:
            nonlocal text
            if wanted:
                text += piece

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = characters

    def _column(self, letters: str) -> int:
        column = column_number(letters)
        self._columns[letters] = column
        return column

    def _value(self, kind: str | None, text: str) -> Value:
        if kind is None or kind == "n":
            return number_of(text)
        if kind == "s":
            index = int(text)
            if index < 0:
                raise Corrupt(f"xlsx: строка таблицы {index}")
            return self._strings[index]
        if kind == "b":
            return text.strip() in ("1", "true")
        return CellError(text) if kind == "e" else unescape(text)


def number_of(text: str) -> float | Decimal | CellError:
    """A stored number; a float where it holds the digits, which large amounts may outgrow."""
    try:
        number = float(text)
    except ValueError:
        return CellError(text)
    if not isfinite(number) or "_" in text or not text.isascii():
        return CellError(text)
    return Decimal(text.strip()) if abs(number) >= _LARGE else number


def column_number(letters: str) -> int:
    """The column, counted from 0, that letters name. Raises Corrupt."""
    column = 0
    for letter in letters.replace("$", "").upper():
        if not "A" <= letter <= "Z":
            raise Corrupt(f"xlsx: столбец {letters[:20]!r}")
        column = column * 26 + ord(letter) - 64
    if not 0 < column <= MAX_COLUMN:
        raise Corrupt(f"xlsx: столбец {letters[:20]!r}")
    return column - 1


def _row_number(attributes: dict[str, str], previous: int) -> int:
    number = int(attributes["r"]) if "r" in attributes else previous + 1
    if not 0 < number <= MAX_ROW:
        raise Corrupt(f"xlsx: строка {number}")
    return number


def _look(attributes: dict[str, str]) -> tuple[int, bool]:
    """A row's outline level and whether it is hidden."""
    return (
        min(max(_integer(attributes.get("outlineLevel")), 0), 7),
        attributes.get("hidden", "0") in ("1", "true"),
    )


def _merge(reference: str) -> Merge:
    first, _, last = reference.partition(":")
    top, bottom = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last or first)
    if top is None or bottom is None:
        raise Corrupt(f"xlsx: объединение {reference[:40]!r}")
    return Merge(
        int(top.group(2)),
        int(bottom.group(2)),
        column_number(top.group(1)),
        column_number(bottom.group(1)),
    )


def _integer(text: str | None) -> int:
    """A whole number of an attribute, 0 where there is none or it is broken: looks are not worth a
    refusal.
    """
    return (
        int(text)
        if text is not None and text.isascii() and text.isdigit() and len(text) < 10
        else 0
    )
