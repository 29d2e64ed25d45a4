"""Sheets to SpreadsheetML 2003."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from tests.books.sheets import CellValue, Look, Sheet

_SPACE = "urn:schemas-microsoft-com:office:spreadsheet"


def write(path: Path, sheets: list[Sheet], *, encoding: str = "utf-8") -> None:
    """Write a workbook."""
    looks = {
        look: f"s{n}"
        for n, look in enumerate({look for s in sheets for _, look in s.cells.values()}, 21)
    }
    styles = "".join(_style(look, name) for look, name in looks.items())
    body = "".join(_sheet(sheet, looks) for sheet in sheets)
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?>\n<?mso-application progid="Excel.Sheet"?>\n'
        f'<Workbook xmlns="{_SPACE}" xmlns:ss="{_SPACE}" '
        'xmlns:x="urn:schemas-microsoft-com:office:excel" '
        'xmlns:html="http://www.w3.org/TR/REC-html40">'
        '<Styles><Style ss:ID="Default" ss:Name="Normal"><Font ss:FontName="Arial"/></Style>'
        f"{styles}</Styles>{body}</Workbook>"
    )
    path.write_bytes(text.encode(encoding))


def _style(look: Look, name: str) -> str:
    bold = ' ss:Bold="1"' if look.bold else ""
    italic = ' ss:Italic="1"' if look.italic else ""
    number_format = "" if look.number_format == "General" else look.number_format
    return (
        f'<Style ss:ID="{name}" ss:Parent="Default"><Alignment ss:Indent="{look.indent}"/>'
        f"<Font{bold}{italic}/><NumberFormat ss:Format={quoteattr(number_format)}/></Style>"
    )


def _sheet(sheet: Sheet, looks: dict[Look, str]) -> str:
    rows = "".join(_rows(sheet, looks))
    visible = "SheetHidden" if sheet.hidden else "SheetVisible"
    return (
        f"<Worksheet ss:Name={quoteattr(sheet.name)}><Table>{rows}</Table>"
        '<WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">'
        f"<Visible>{visible}</Visible></WorksheetOptions></Worksheet>"
    )


def _rows(sheet: Sheet, looks: dict[Look, str]) -> Iterator[str]:
    merges = {(r, c): (r2 - r, c2 - c) for r, c, r2, c2 in sheet.merges}
    for row, cells in sheet.rows().items():
        hidden = ' ss:Hidden="1"' if row in sheet.hidden_rows else ""
        yield f'<Row ss:Index="{row + 1}"{hidden}>\n'
        for column, value, look in cells:
            down, across = merges.get((row, column), (0, 0))
            merge = (f' ss:MergeAcross="{across}"' if across else "") + (
                f' ss:MergeDown="{down}"' if down else ""
            )
            yield f'<Cell ss:Index="{column + 1}" ss:StyleID="{looks[look]}"{merge}>'
            yield f'<Data ss:Type="{_type(value)}">{escape(_text(value))}</Data>'
            yield "<Comment><Data>17</Data></Comment></Cell>"
        yield "</Row>"


def _type(value: CellValue) -> str:
    if isinstance(value, bool):
        return "Boolean"
    return "String" if isinstance(value, str) else "Number"


def _text(value: CellValue) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
