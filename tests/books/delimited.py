"""Sheets to CSV."""

import csv
import io
from pathlib import Path

from tests.books.html import shown
from tests.books.sheets import Sheet


def write(
    path: Path, sheets: list[Sheet], *, delimiter: str = ";", encoding: str = "cp1251"
) -> None:
    """Write what the first sheet shows, in a code page of a Russian office."""
    (sheet,) = sheets
    rows = sheet.rows()
    width = 1 + max((column for _, column in sheet.cells), default=0)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    for row in range(max(rows, default=-1) + 1):
        fields = [""] * width
        for column, value, look in rows.get(row, []):
            fields[column] = shown(value, look)
        writer.writerow(fields)
    path.write_bytes(buffer.getvalue().encode(encoding, "replace"))
