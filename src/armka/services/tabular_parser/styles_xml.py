"""`styles.xml` of an XLSX: what each cell format looks like."""

from armka.osv.grid import Style
from armka.services.tabular_parser.builtin_formats import format_code
from armka.services.tabular_parser.characters import unescape
from armka.services.tabular_parser.colours import is_red
from armka.services.tabular_parser.sheet_xml import whole_number
from armka.services.tabular_parser.zip_container import local, parse_xml, xml_parser


def styles_of(data: bytes | None) -> list[Style]:
    """The cell formats in order, one plain one where the file has none. Raises Corrupt."""
    return (_Styles(data).cells() if data is not None else []) or [Style()]


class _Styles:
    def __init__(self, data: bytes) -> None:
        self._formats: dict[int, str] = {}
        self._fonts: list[set[str]] = []
        self._path: list[str] = []
        self._xfs: list[tuple[int, int, int]] = []
        parser = xml_parser()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parse_xml(parser, data)

    def cells(self) -> list[Style]:
        return [self._style(*xf) for xf in self._xfs]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name, path = local(tag), self._path
        parent = path[-1] if path else ""
        path.append(name)
        if name == "numFmt" and parent == "numFmts":
            code = unescape(attributes.get("formatCode", ""))
            self._formats[whole_number(attributes.get("numFmtId"))] = code
        elif name == "font" and parent == "fonts":
            self._fonts.append(set())
        elif parent == "font" and "fonts" in path:
            self._font(name, attributes)
        elif name == "xf" and parent == "cellXfs":
            self._xfs.append(
                (
                    whole_number(attributes.get("numFmtId")),
                    whole_number(attributes.get("fontId")),
                    0,
                )
            )
        elif name == "alignment" and "cellXfs" in path and self._xfs:
            indent = whole_number(attributes.get("indent"))
            self._xfs[-1] = (*self._xfs[-1][:2], indent)

    def _font(self, name: str, attributes: dict[str, str]) -> None:
        if name == "color":
            if is_red(attributes.get("rgb", "")) or attributes.get("indexed") in ("2", "10"):
                self._fonts[-1].add("red")
        elif attributes.get("val", "1") not in ("0", "false"):
            self._fonts[-1].add(name)

    def _end(self, _: str) -> None:
        self._path.pop()

    def _style(self, number_format: int, font: int, indent: int) -> Style:
        marks = self._fonts[font] if font < len(self._fonts) else set()
        return Style(
            number_format=format_code(number_format, self._formats),
            bold="b" in marks,
            italic="i" in marks,
            indent=indent,
            red="red" in marks,
        )
