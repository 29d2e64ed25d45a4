"""HTML under the name of an XLS, as 1С, Excel and many a web page export it.

All tables of the page stand on one sheet, one below the other, as Excel opens them; a line of text
between them is a row of one cell. A number that the page keeps beside its text (`x:num`, `sdval`,
`data-v`) is the stored value; else the text is. Nothing outside of the file is fetched, and no
script is run.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from lxml import etree

from armka.osv.grid import Grid, LooseRow, Merge, Row, Style, Value
from armka.services.tabular_parser import css
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.colours import is_red
from armka.services.tabular_parser.decoding import decode
from armka.services.tabular_parser.limits import MAX_COLUMN, MAX_ROW, CellCount, Corrupt, TooLarge
from armka.services.tabular_parser.sheet_xml import number_of

_SHEET = "HTML"
_MAX_SPAN = 1000  # columns, as browsers limit it
_SPACE = re.compile("[ \t\r\n\f]+")
_STORED = ("x:num", "sdval", "data-v")
_UNSEEN = frozenset({"script", "title", "xml", "noscript", "template", "select"})
_LINES = frozenset(
    {"p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "caption", "li", "body", "hr", "center"}
)
_CHUNK = 64 * 1024


def read(data: bytes) -> Iterator[Grid]:
    """The one sheet. Raises Corrupt, TooLarge."""
    page = _Page()
    target: Any = page
    parser = etree.HTMLParser(target=target, encoding="utf-8", no_network=True, huge_tree=False)
    text = decode(data).encode("utf-8", "replace")
    try:
        for start in range(0, len(text), _CHUNK):
            parser.feed(text[start : start + _CHUNK])
        parser.close()
    except etree.LxmlError as error:
        raise Corrupt(f"html: {error}") from error
    rows = sorted(page.rows, key=lambda row: row.number)  # a nested table ends before its row does
    yield Grid(_SHEET, rows, list(page.styles), page.merges)


class _Cell:
    """A cell in the making."""

    def __init__(self, attributes: dict[str, str], declared: dict[str, str], *, bold: bool) -> None:
        self.attributes = attributes
        self.declared = declared
        self.text: list[str] = []
        self.bold, self.italic, self.red = bold, False, False


class _Table:
    """Where a table stands: the row in the making, and what spans down into it."""

    def __init__(self) -> None:
        self.row: Row | None = None
        self.cell: _Cell | None = None
        self.column = 0
        self.reaching: dict[int, int] = {}  # column -> rows that a cell above still covers


class _Page:
    """Told of every tag and text in order by the parser."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.merges: list[Merge] = []
        self.styles: dict[Style, int] = {Style(): 0}
        self._classes: dict[str, dict[str, str]] = {}
        self._count = CellCount()
        self._number = 0
        self._tables: list[_Table] = []
        self._line: list[str] = []
        self._sheet: list[str] | None = None
        self._unseen = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an opening tag."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "style":
            self._sheet = []
        elif tag == "table":
            self._end_line()
            self.data("\n")  # an inner table parts the words of the cell around it
            self._tables.append(_Table())
        elif self._tables:
            self._inside(tag, dict(attributes), self._tables[-1])
        elif tag in _LINES or tag == "br":
            self._end_line()

    def end(self, tag: str) -> None:
        """Take a closing tag."""
        if tag in _UNSEEN:
            self._unseen = max(self._unseen - 1, 0)
        elif tag == "style":
            self._classes |= css.classes_of("".join(self._sheet or []))
            self._sheet = None
        elif tag == "table" and self._tables:
            self._end_row(self._tables.pop())
        elif self._tables:
            if tag == "tr":
                self._end_row(self._tables[-1])
            elif tag in ("td", "th"):
                self._end_cell(self._tables[-1])
        elif tag in _LINES:
            self._end_line()

    def data(self, text: str) -> None:
        """Take a piece of text."""
        if self._sheet is not None:
            self._sheet.append(text)
        elif not self._unseen:
            cell = self._tables[-1].cell if self._tables else None
            if cell is not None:
                cell.text.append(text)
            elif not self._tables:
                self._line.append(text)

    def close(self) -> None:
        """The end of the page."""
        while self._tables:
            self._end_row(self._tables.pop())
        self._end_line()

    def _inside(self, tag: str, attributes: dict[str, str], table: _Table) -> None:
        if tag == "tr":
            self._end_row(table)
            declared = self._declared(attributes)
            table.row = LooseRow(self._next(), [], css.level_of(declared), css.is_hidden(declared))
        elif tag in ("td", "th"):
            self._end_cell(table)
            if table.row is None:
                table.row = LooseRow(self._next(), [])
            table.cell = _Cell(attributes, self._declared(attributes), bold=tag == "th")
        elif table.cell is not None:
            self._in_cell(tag, attributes, table.cell)

    def _in_cell(self, tag: str, attributes: dict[str, str], cell: _Cell) -> None:
        if tag in ("b", "strong"):
            cell.bold = True
        elif tag in ("i", "em"):
            cell.italic = True
        elif tag == "br" or tag in _LINES:
            cell.text.append("\n")
        declared = self._declared(attributes)
        if is_red(declared.get("color", attributes.get("color", ""))):
            cell.red = True

    def _declared(self, attributes: dict[str, str]) -> dict[str, str]:
        """What the classes and the style of a tag declare, the style last."""
        found: dict[str, str] = {}
        for name in attributes.get("class", "").split():
            found |= self._classes.get(name, {})
        return found | css.declarations(attributes["style"]) if "style" in attributes else found

    def _next(self) -> int:
        self._number += 1
        if self._number > MAX_ROW:
            raise TooLarge(f"больше {MAX_ROW} строк")
        return self._number

    def _end_line(self) -> None:
        text = _squeezed("".join(self._line))
        self._line.clear()
        if text:
            self._count.add(1)
            self.rows.append(LooseRow(self._next(), [(0, text, 0)]))

    def _end_row(self, table: _Table) -> None:
        self._end_cell(table)
        row, table.row = table.row, None
        if row is None:
            return
        table.column = 0
        table.reaching = {at: left - 1 for at, left in table.reaching.items() if left > 1}
        if row.cells:
            self.rows.append(row)

    def _end_cell(self, table: _Table) -> None:
        cell, table.cell = table.cell, None
        row = table.row
        if cell is None or row is None:
            return
        column = table.column
        while column in table.reaching:
            column += 1
        across, down = _span(cell, "colspan", _MAX_SPAN), _span(cell, "rowspan", MAX_ROW)
        table.column = column + across
        if table.column > MAX_COLUMN:
            raise TooLarge(f"больше {MAX_COLUMN} столбцов")
        self._count.add(across)
        if down > 1:
            table.reaching |= dict.fromkeys(range(column, table.column), down)
        if across > 1 or down > 1:
            last_row = min(row.number + down - 1, MAX_ROW)
            self.merges.append(Merge(row.number, last_row, column, table.column - 1))
        value = _value(cell)
        if value != "":
            row.cells.append((column, value, self._style(cell)))

    def _style(self, cell: _Cell) -> int:
        style = css.style_of(cell.declared, bold=cell.bold, italic=cell.italic, red=cell.red)
        beside = _format_beside(cell.attributes)
        if beside is not None:
            style = msgspec.structs.replace(style, number_format=beside)
        return self.styles.setdefault(style, len(self.styles))


def _span(cell: _Cell, name: str, most: int) -> int:
    text = cell.attributes.get(name, "1").strip()
    return (
        min(max(int(text), 1), most) if text.isascii() and text.isdigit() and len(text) < 9 else 1
    )


def _value(cell: _Cell) -> Value:
    attributes = cell.attributes
    for name in _STORED:
        stored = attributes.get(name)
        if stored and (name != "data-v" or attributes.get("data-t") == "n"):
            return number_of(stored)
    return _squeezed("".join(cell.text))


def _format_beside(attributes: dict[str, str]) -> str | None:
    """The number format that LibreOffice and SheetJS keep beside the cell."""
    beside = attributes.get("sdnum", "").split(";", 2)
    return beside[2] if len(beside) == 3 and beside[2] else attributes.get("data-z")


def _squeezed(text: str) -> str:
    """As a page shows it: white space is one space, a non-breaking one stays; alone it is how pages
    write an empty cell.
    """
    shown = clean(_SPACE.sub(" ", text).strip(" "))
    return shown if shown.strip("\u00a0 ") else ""
