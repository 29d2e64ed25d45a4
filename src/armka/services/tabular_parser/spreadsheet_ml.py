"""SpreadsheetML 2003 under the name of an XLS: Excel's XML before XLSX, still written by many."""

from collections.abc import Iterator

from armka.osv.grid import CellError, Grid, LooseRow, Merge, Row, Style, Value
from armka.services.tabular_parser.builtin_formats import named_format
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.colours import is_red
from armka.services.tabular_parser.limits import MAX_COLUMN, MAX_ROW, CellCount, Corrupt
from armka.services.tabular_parser.sheet_xml import in_order, number_of, whole_number
from armka.services.tabular_parser.zip_container import parse_xml, xml_parser

NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_EXCEL = "urn:schemas-microsoft-com:office:excel"
_MAX_PARENTS = 16  # a style's parents may go in a circle


def read(data: bytes) -> Iterator[Grid]:
    """The sheets one by one. Raises Corrupt, TooLarge."""
    book = _Book()
    parser = xml_parser(namespaces=True)
    parser.StartElementHandler, parser.EndElementHandler = book.start, book.end
    parser.CharacterDataHandler = book.text
    try:
        parse_xml(parser, data)
    except ValueError as error:
        raise Corrupt(f"spreadsheetml: {error}") from error
    yield from book.grids()


class _Sheet:
    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[Row] = []
        self.merges: list[Merge] = []
        self.hidden = False
        self.columns: dict[int, str] = {}  # the style that a column gives to its cells


class _Book:
    """Told of every element in order by the parser."""

    def __init__(self) -> None:
        self._looks: dict[str, tuple[str, dict[str, str]]] = {}  # id -> parent, what it says
        self._styles: list[Style] = [Style()]
        self._indexes: dict[str, int] = {}
        self._sheets: list[_Sheet] = []
        self._count = CellCount()
        self._number = self._column = self._last_column = 0
        self._row_style = self._style = self._kind = ""
        self._says: dict[str, str] = {}
        self._text: list[str] | None = None
        self._in_comment = False

    def grids(self) -> Iterator[Grid]:
        """The sheets, when all is told."""
        for sheet in self._sheets:
            if sheet.hidden:
                yield Grid(sheet.name, [], [], [], hidden=True)
            else:
                yield Grid(sheet.name, in_order(sheet.rows), self._styles, sheet.merges)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an opening tag."""
        namespace, _, name = tag.rpartition(" ")
        if namespace == NAMESPACE:
            self._start(name, {key.rpartition(" ")[2]: value for key, value in attributes.items()})
        elif namespace == _EXCEL and name == "Visible":
            self._text = []

    def end(self, tag: str) -> None:
        """Take a closing tag."""
        namespace, _, name = tag.rpartition(" ")
        if namespace == _EXCEL and name == "Visible":
            if self._sheets and "".join(self._text or []).strip() != "SheetVisible":
                self._sheets[-1].hidden = True
            self._text = None
        elif namespace == NAMESPACE:
            self._end(name)

    def text(self, characters: str) -> None:
        """Take a piece of text; marks inside of it (`<B>`) change nothing."""
        if self._text is not None:
            self._text.append(characters)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match name:
            case "Style":
                self._says = {}
                self._looks[attributes.get("ID", "")] = (attributes.get("Parent", ""), self._says)
            case "Alignment" | "Font" | "NumberFormat":
                self._says |= {f"{name}.{key}": value for key, value in attributes.items()}
            case "Worksheet":
                self._sheets.append(_Sheet(clean(attributes.get("Name", ""))))
                self._number = self._column = 0
            case "Column" if self._sheets:
                self._take_column(attributes)
            case "Row" if self._sheets:
                self._take_row(attributes)
            case "Cell" if self._sheets:
                self._take_cell(attributes)
            case "Comment":
                self._in_comment = True
            case "Data" if not self._in_comment:
                self._kind, self._text = attributes.get("Type", ""), []
            case _:
                pass

    def _take_column(self, attributes: dict[str, str]) -> None:
        first = whole_number(attributes.get("Index")) or self._column + 1
        last = first + whole_number(attributes.get("Span"))
        if last > MAX_COLUMN:
            raise Corrupt(f"spreadsheetml: столбец {last}")
        self._column = last
        if "StyleID" in attributes:
            style = attributes["StyleID"]
            self._sheets[-1].columns |= dict.fromkeys(range(first, last + 1), style)

    def _take_row(self, attributes: dict[str, str]) -> None:
        self._number = whole_number(attributes.get("Index")) or self._number + 1
        if self._number > MAX_ROW:
            raise Corrupt(f"spreadsheetml: строка {self._number}")
        hidden = attributes.get("Hidden") in ("1", "true")
        self._sheets[-1].rows.append(LooseRow(self._number, [], hidden=hidden))
        self._row_style = attributes.get("StyleID", "")
        self._last_column = 0
        self._number += whole_number(attributes.get("Span"))

    def _end(self, name: str) -> None:
        if name == "Comment":
            self._in_comment = False
        elif name == "Data" and self._text is not None:
            self._data("".join(self._text))
            self._text = None
        elif name == "Row" and self._sheets:
            rows = self._sheets[-1].rows
            if rows and not rows[-1].cells:
                rows.pop()

    def _take_cell(self, attributes: dict[str, str]) -> None:
        sheet = self._sheets[-1]
        self._column = whole_number(attributes.get("Index")) or self._last_column + 1
        across = whole_number(attributes.get("MergeAcross"))
        down = whole_number(attributes.get("MergeDown"))
        self._last_column = self._column + across
        if self._last_column > MAX_COLUMN or not sheet.rows:
            raise Corrupt(f"spreadsheetml: столбец {self._last_column}")
        self._style = (
            attributes.get("StyleID")
            or self._row_style
            or sheet.columns.get(self._column)
            or "Default"
        )
        if across or down:
            row = sheet.rows[-1].number
            last = min(row + down, MAX_ROW)
            sheet.merges.append(Merge(row, last, self._column - 1, self._last_column - 1))

    def _data(self, text: str) -> None:
        if not text or not self._sheets or not self._sheets[-1].rows or not self._column:
            return
        self._count.add(1)
        cell = (self._column - 1, _value(self._kind, text), self._look(self._style))
        self._sheets[-1].rows[-1].cells.append(cell)

    def _look(self, identity: str) -> int:
        """The index of a style by its id."""
        if identity not in self._indexes:
            self._indexes[identity] = len(self._styles)
            self._styles.append(_style(self._said(identity)))
        return self._indexes[identity]

    def _said(self, identity: str) -> dict[str, str]:
        """What a style says, with what its parents say."""
        said: dict[str, str] = {}
        for _ in range(_MAX_PARENTS):
            if identity not in self._looks:
                break
            identity, own = self._looks[identity]
            said = own | said
        return said


def _style(said: dict[str, str]) -> Style:
    return Style(
        number_format=named_format(clean(said.get("NumberFormat.Format", ""))),
        bold=said.get("Font.Bold") == "1",
        italic=said.get("Font.Italic") == "1",
        indent=whole_number(said.get("Alignment.Indent")),
        red=is_red(said.get("Font.Color", "")),
    )


def _value(kind: str, text: str) -> Value:
    match kind:
        case "Number":
            return number_of(text)
        case "Boolean":
            return text.strip() == "1"
        case "Error":
            return CellError(text)
        case _:
            return clean(text)
