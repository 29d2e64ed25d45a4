"""Sheets to HTML, as 1С and as Excel save them."""

import re
from html import escape
from pathlib import Path

from tests.books.sheets import CellValue, Look, Sheet

_HEAD = (
    '<HTML><HEAD><META HTTP-EQUIV="CONTENT-TYPE" CONTENT="text/html; charset={charset}">'
    "<TITLE>x</TITLE>"
)


def write(
    path: Path, sheets: list[Sheet], *, like_excel: bool = False, encoding: str = "utf-8"
) -> None:
    """Write the first sheet as a page.

    1С writes what is shown, as texts with a class for each look; Excel keeps the stored number
    beside the text.
    """
    (sheet,) = sheets
    looks = {look: f"R{n}C1" for n, look in enumerate({look for _, look in sheet.cells.values()})}
    rules = "".join(
        f"tr.R0 td.{name}{{ font-family: Arial; {_css(look)} }}\n" for look, name in looks.items()
    )
    body = "".join(_rows(sheet, looks, like_excel=like_excel))
    text = (
        f'{_HEAD.format(charset=encoding)}<STYLE TYPE="text/css"><!--\n{rules}--></STYLE></HEAD>'
        f"<BODY><TABLE CELLSPACING=0>{body}</TABLE></BODY></HTML>"
    )
    path.write_bytes(text.encode(encoding, "xmlcharrefreplace"))


def _css(look: Look) -> str:
    said = [
        f"font-weight: {'bold' if look.bold else 'normal'}",
        f"font-style: {'italic' if look.italic else 'normal'}",
        f"padding-left: {9 * look.indent}px",
    ]
    if look.number_format != "General":
        escaped = re.sub(r"([^0-9A-Za-zА-я])", r"\\\1", look.number_format.replace('"', "\\0022"))
        escaped = escaped.replace("\\\\0022", "\\0022")
        said.append(f'mso-number-format:"{escaped}"')
    return "; ".join(said)


def _rows(sheet: Sheet, looks: dict[Look, str], *, like_excel: bool) -> list[str]:
    rows = sheet.rows()
    spans = {(r, c): (r2 - r + 1, c2 - c + 1) for r, c, r2, c2 in sheet.merges}
    covered = {
        (r, c)
        for r1, c1, r2, c2 in sheet.merges
        for r in range(r1, r2 + 1)
        for c in range(c1, c2 + 1)
    } - set(spans)
    lines = []
    for row in range(max(rows, default=-1) + 1):
        cells = {column: (value, look) for column, value, look in rows.get(row, [])}
        merged = [c for r, c in spans if r == row]
        tags = []
        for column in range(max([*cells, *merged], default=-1) + 1):
            if (row, column) in covered:
                continue
            down, across = spans.get((row, column), (1, 1))
            span = (f" ROWSPAN={down}" if down > 1 else "") + (
                f" COLSPAN={across}" if across > 1 else ""
            )
            value, look = cells.get(column, ("", Look()))
            tags.append(_cell(value, look, span, looks, like_excel=like_excel))
        hidden = ' STYLE="display:none"' if row in sheet.hidden_rows else ""
        level = sheet.levels.get(row, 0)
        outline = f" STYLE='mso-outline-level:{level}'" if level and not hidden else ""
        lines.append(f"<TR CLASS=R0{hidden or outline}>{''.join(tags)}</TR>\n")
    return lines


def _cell(
    value: CellValue, look: Look, span: str, looks: dict[Look, str], *, like_excel: bool
) -> str:
    if value == "":
        return f"<TD{span}>&nbsp;</TD>" if like_excel else f"<TD{span}></TD>"
    stored = f' x:num="{value!r}"' if like_excel and not isinstance(value, str) else ""
    return f'<TD CLASS="{looks[look]}"{span}{stored}><NOBR>{escape(shown(value, look))}</NOBR></TD>'


def shown(value: CellValue, look: Look) -> str:
    """As a page shows it: 1 234,56, a code under its format."""
    if isinstance(value, str):
        return value
    if ".00" in look.number_format:
        sign = "-" if value < 0 else ""
        return f"{sign}{abs(value):,.2f}".replace(",", "\u00a0").replace(".", ",")
    zeros, _, tail = look.number_format.partition('"')
    return f"{value:0{len(zeros)}d}{tail.rstrip(chr(34))}" if isinstance(value, int) else str(value)
