"""Sheets to XLSX by XlsxWriter, with what 1С does to the package afterwards."""

import io
import re
import zipfile
from datetime import datetime
from pathlib import Path

import xlsxwriter

from tests.books.sheets import Look, Sheet

_MADE = datetime(2025, 1, 1)  # noqa: DTZ001 - a workbook's properties have no zone
_ZIP_DATE = (2025, 1, 1, 0, 0, 0)


def write(path: Path, sheets: list[Sheet], *, like_1c: bool = False) -> None:
    """Write a workbook, the same bytes each time.

    `like_1c`: `xl/SharedStrings.xml` with a capital S, and a dimension that names one far cell
    only.
    """
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer, {"in_memory": True})
    book.set_properties({"created": _MADE})
    looks: dict[Look, xlsxwriter.format.Format] = {}
    for sheet in sheets:
        _write_sheet(book, sheet, looks)
    book.close()
    repack(buffer.getvalue(), path, like_1c=like_1c)


def _write_sheet(
    book: xlsxwriter.Workbook, sheet: Sheet, looks: dict[Look, xlsxwriter.format.Format]
) -> None:
    page = book.add_worksheet(sheet.name)
    page.outline_settings(symbols_below=False)
    if sheet.hidden:
        page.hide()
    for row in set(sheet.levels) | sheet.hidden_rows:
        options = {"level": sheet.levels.get(row, 0), "hidden": row in sheet.hidden_rows}
        page.set_row(row, None, None, options)
    for row, column, last_row, last_column in sheet.merges:
        page.merge_range(row, column, last_row, last_column, "")
    for (row, column), (value, look) in sheet.cells.items():
        if look not in looks:
            looks[look] = book.add_format(
                {
                    "num_format": look.number_format,
                    "bold": look.bold,
                    "italic": look.italic,
                    "indent": look.indent,
                }
            )
        page.write(row, column, value, looks[look])


def repack(data: bytes, path: Path, *, like_1c: bool) -> None:
    """Write the package again with fixed dates, and 1С's peculiarities on demand."""
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(path, "w") as target:
        for member in source.infolist():
            body, name = source.read(member), member.filename
            if like_1c and name == "xl/sharedStrings.xml":
                name = "xl/SharedStrings.xml"
            if like_1c and name.startswith("xl/worksheets/"):
                body = re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="AA82"', body)
            info = zipfile.ZipInfo(name, _ZIP_DATE)
            target.writestr(info, body, zipfile.ZIP_DEFLATED)
