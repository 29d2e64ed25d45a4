"""Sheets to XLS by xlwt, with number formats numbered from 50 as 1С numbers them."""

from pathlib import Path

import xlwt
from xlwt import Style

from tests.books.sheets import Look, Sheet

_FIRST_FORMAT_OF_1C = 49  # xlwt begins one above it, since General has its own number


def write(path: Path, sheets: list[Sheet], *, like_1c: bool = True) -> None:
    """Write a workbook. `like_1c`: own formats begin at 50, where others see East Asian dates."""
    before = Style.FIRST_USER_DEFINED_NUM_FORMAT_IDX
    Style.FIRST_USER_DEFINED_NUM_FORMAT_IDX = _FIRST_FORMAT_OF_1C if like_1c else before
    try:
        book = xlwt.Workbook(encoding="utf-8")
        looks: dict[Look, xlwt.XFStyle] = {}
        for sheet in sheets:
            _write_sheet(book, sheet, looks)
        book.save(str(path))
    finally:
        Style.FIRST_USER_DEFINED_NUM_FORMAT_IDX = before


def _write_sheet(book: xlwt.Workbook, sheet: Sheet, looks: dict[Look, xlwt.XFStyle]) -> None:
    page = book.add_sheet(sheet.name, cell_overwrite_ok=True)
    page.visibility = 1 if sheet.hidden else 0
    merged = {
        (row, column): (last_row, last_column)
        for row, column, last_row, last_column in sheet.merges
    }
    for (row, column), (value, look) in sorted(sheet.cells.items()):
        style = looks.setdefault(look, _style(look))
        if (row, column) in merged:
            last_row, last_column = merged[row, column]
            page.write_merge(row, last_row, column, last_column, value, style)
        else:
            page.write(row, column, value, style)
    for row in set(sheet.levels) | sheet.hidden_rows:
        page.row(row).level = sheet.levels.get(row, 0)
        page.row(row).hidden = row in sheet.hidden_rows


def _style(look: Look) -> xlwt.XFStyle:
    style = xlwt.XFStyle()
    style.num_format_str = look.number_format
    style.font.bold, style.font.italic = look.bold, look.italic
    style.alignment.inde = look.indent
    return style
