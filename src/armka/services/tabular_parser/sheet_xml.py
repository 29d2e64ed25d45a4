"""One sheet's XML, read element by element: whatever a writer may print, in any order."""

import re
from decimal import Decimal
from itertools import pairwise
from math import isfinite
from xml.parsers import expat

from armka.osv.grid import Cell, CellError, LooseRow, Merge, Row, Value
from armka.services.tabular_parser.characters import unescape
from armka.services.tabular_parser.limits import MAX_COLUMN, MAX_ROW, CellCount, Corrupt
from armka.services.tabular_parser.zip_container import local, parse_xml, xml_parser

_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
LARGE = 1e13  # from here on a float may not hold the kopecks
NO_VALUE = "формула без вычисленного значения"


class SheetXml:
    """One sheet's XML, parsed into rows and merges."""

    def __init__(self, strings: list[str], styles: int, count: CellCount) -> None:
        self.rows: list[Row] = []
        self.merges: list[Merge] = []
        self.strings = strings
        self.styles = styles
        self._count = count
        self._columns: dict[str, int] = {}

    def parse(self, data: bytes) -> None:
        """Read a whole sheet. Raises Corrupt, TooLarge."""
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
        if local(root[0]) != "worksheet":
            self.rows.clear()  # a chart sheet, a dialog
        self.rows = in_order([row for row in self.rows if row.cells])

    def _attach(self, parser: expat.XMLParserType, prefix: str) -> None:  # noqa: C901 - see below
        """Put the handlers in place. They run millions of times: closures over locals, nothing
        looked up twice.
        """
        cell_tag, row_tag, merge_tag = f"{prefix}c", f"{prefix}row", f"{prefix}mergeCell"
        value_tag, inline_tag = text_tags = f"{prefix}v", f"{prefix}t"
        add_row, add_cells = self.rows.append, self._count.add
        formula_tag = f"{prefix}f"
        styles = {str(index): index for index in range(self.styles)}
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
                    column = self._column(reference, number)
                style = styles.get(attributes.get("s", "0"), 0)
                kind, text, formula = attributes.get("t"), "", False
            elif tag == value_tag:
                wanted = kind != "inlineStr"
            elif tag == inline_tag:
                wanted = kind == "inlineStr"
            elif tag == formula_tag:
                formula = True
            elif tag == row_tag:
                number = row_number(attributes, number)
                cells, column = [], -1
                add_row(LooseRow(number, cells, *look_of(attributes)))
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
                    cells.append((column, CellError(NO_VALUE), style))
            elif tag == row_tag:
                add_cells(len(cells))

        def characters(piece: str) -> None:
            nonlocal text
            if wanted:
                text += piece

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = characters

    def _column(self, reference: str, row: int) -> int:
        letters = reference.rstrip("0123456789")
        column = self._columns.get(letters)
        if column is None:
            column = self._columns[letters] = column_number(letters)
        if reference != f"{letters}{row}":
            raise Corrupt(f"xlsx: ячейка {reference[:20]!r} в строке {row}")
        return column

    def _value(self, kind: str | None, text: str) -> Value:
        if kind is None or kind == "n":
            return number_of(text)
        if kind == "s":
            index = int(text)
            if index < 0:
                raise Corrupt(f"xlsx: строка таблицы {index}")
            return self.strings[index]
        if kind == "b":
            return text.strip() in ("1", "true")
        return CellError(text) if kind == "e" else unescape(text)


def in_order(rows: list[Row]) -> list[Row]:
    """Rows that have cells, in the sheet's order. Raises Corrupt where two have one number."""
    if any(above.number >= below.number for above, below in pairwise(rows)):
        rows.sort(key=lambda row: row.number)
        for above, below in pairwise(rows):
            if above.number == below.number:
                raise Corrupt(f"строка {below.number} записана дважды")
    return rows


def number_of(text: str) -> float | Decimal | CellError:
    """A stored number; a float where it holds the digits, which large amounts may outgrow."""
    try:
        number = float(text)
    except ValueError:
        return CellError(text)
    if not isfinite(number) or "_" in text or not text.isascii():
        return CellError(text)
    return Decimal(text.strip()) if abs(number) >= LARGE else number


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


def row_number(attributes: dict[str, str], previous: int) -> int:
    """A row's number, the one after the previous where it has none. Raises Corrupt, ValueError."""
    number = int(attributes["r"]) if "r" in attributes else previous + 1
    if not 0 < number <= MAX_ROW:
        raise Corrupt(f"xlsx: строка {number}")
    return number


def look_of(attributes: dict[str, str]) -> tuple[int, bool]:
    """A row's outline level and whether it is hidden."""
    return (
        min(max(whole_number(attributes.get("outlineLevel")), 0), 7),
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


def whole_number(text: str | None) -> int:
    """A whole number of an attribute, 0 where there is none or it is broken: looks are not worth a
    refusal.
    """
    return (
        int(text)
        if text is not None and text.isascii() and text.isdigit() and len(text) < 10
        else 0
    )
