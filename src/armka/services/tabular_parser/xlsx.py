"""XLSX: values as stored, formats, outline, hidden rows, merges, and no claim of the file believed.

Claimed dimensions and counts are not looked at. A sheet is read by its regular shape where it has
it, else element by element; both ways give the same.
"""

from collections.abc import Iterator

from armka.osv.grid import Grid
from armka.services.tabular_parser import regular_xml
from armka.services.tabular_parser.characters import unescape
from armka.services.tabular_parser.limits import CellCount
from armka.services.tabular_parser.sheet_xml import SheetXml
from armka.services.tabular_parser.styles_xml import styles_of
from armka.services.tabular_parser.zip_container import (
    Relationships,
    ZipContainer,
    local,
    parse_xml,
    xml_parser,
)


def read(container: ZipContainer) -> Iterator[Grid]:
    """The sheets one by one. Raises Corrupt, Encrypted, TooLarge."""
    workbook = Relationships(container, "").by_type.get("officeDocument", "xl/workbook.xml")
    parts = Relationships(container, workbook.lstrip("/"))
    styles = styles_of(container.find(parts.by_type.get("styles", "xl/styles.xml")))
    table = container.find(parts.by_type.get("sharedStrings", "xl/sharedStrings.xml"))
    strings = [] if table is None else regular_xml.strings(table) or _strings(table)
    count = CellCount()
    for name, relation, hidden in _sheets(container.read(workbook)):
        if hidden:
            yield Grid(name, [], [], [], hidden=True)
            continue
        sheet = SheetXml(strings, len(styles), count)
        data = container.read(parts.target(relation))
        if not regular_xml.read(data, sheet, count):
            sheet.parse(data)
        yield Grid(name, sheet.rows, styles, sheet.merges)


def _sheets(data: bytes) -> list[tuple[str, str, bool]]:
    """(name, relationship id, hidden) of each sheet, in order."""
    found: list[tuple[str, str, bool]] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if local(tag) == "sheet":
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


def _strings(data: bytes) -> list[str]:
    """The shared strings; of rich text all runs, of phonetic hints nothing."""
    strings: list[str] = []
    parts: list[str] = []
    inside = {"t": False, "rPh": False}

    def start(tag: str, _: dict[str, str]) -> None:
        name = local(tag)
        if name in inside:
            inside[name] = True
        elif name == "si":
            parts.clear()

    def end(tag: str) -> None:
        name = local(tag)
        if name in inside:
            inside[name] = False
        elif name == "si":
            strings.append(unescape("".join(parts)))

    def text(characters: str) -> None:
        if inside["t"] and not inside["rPh"]:
            parts.append(characters)

    parser = xml_parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    parse_xml(parser, data)
    return strings
