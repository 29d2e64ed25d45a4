"""XLS (BIFF) by xlrd: other readers turn 1С's number formats from id 50 into dates."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import xlrd

from armka.osv.grid import Cell, CellError, Grid, Merge, Row, Style, Value
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.limits import CellCount, Corrupt, Encrypted, TooLarge

_WESTERN = ("iso-8859-1", "cp1252", "mac_roman", "ascii")
_MOJIBAKE = re.compile("[\u00c0-\u00ff]{3}")
_UNICODE_SINCE = 80  # the version of BIFF
_TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR = 1, 2, 3, 4, 5


def read(data: bytes) -> Iterator[Grid]:
    """The sheets one by one. Raises Encrypted, Corrupt, TooLarge."""
    try:
        yield from _grids(data)
    except (TooLarge, MemoryError):
        raise
    except Exception as error:
        # xlrd meets broken files with whatever Python raises first: no common parent to catch.
        if "encrypted" in str(error).lower():
            raise Encrypted from error
        raise Corrupt(f"xlrd: {type(error).__name__}: {error}") from error


def _grids(data: bytes) -> Iterator[Grid]:
    book = _open(data)
    if book.biff_version < _UNICODE_SINCE and book.encoding in _WESTERN and _is_mojibake(book):
        book = _open(data, "cp1251")
    styles = [_style(book, xf) for xf in book.xf_list]
    count = CellCount()
    for index in range(book.nsheets):
        sheet = book.sheet_by_index(index)
        name = clean(sheet.name)
        if sheet.visibility:
            yield Grid(name, [], [], [], hidden=True)
        else:
            yield Grid(name, list(_rows(sheet, len(styles), count)), styles, _merges(sheet))
        book.unload_sheet(index)


def _open(data: bytes, encoding: str | None = None) -> Any:
    return xlrd.open_workbook(
        file_contents=data,
        formatting_info=True,
        on_demand=True,
        ragged_rows=True,
        logfile=StringIO(),
        encoding_override=encoding,
    )


def _is_mojibake(book: Any) -> bool:
    """Whether texts before Unicode, said to be Western or said to be nothing, are Cyrillic: no
    Western word has three accented letters in a row.
    """
    return any(
        kind == _TEXT and _MOJIBAKE.search(value)
        for sheet in book.sheets()
        for row in range(sheet.nrows)
        for kind, value in zip(sheet.row_types(row), sheet.row_values(row), strict=True)
    )


def _style(book: Any, xf: Any) -> Style:
    font = book.font_list[xf.font_index] if xf.font_index < len(book.font_list) else None
    known = book.format_map.get(xf.format_key)
    return Style(
        number_format=(known and known.format_str) or "General",
        bold=bool(font and (font.bold or font.weight >= 600)),
        italic=bool(font and font.italic),
        indent=xf.alignment.indent_level,
    )


def _rows(sheet: Any, styles: int, count: CellCount) -> Iterator[Row]:
    for index in range(sheet.nrows):
        cells = _cells(sheet, index, styles)
        if cells:
            count.add(len(cells))
            look = sheet.rowinfo_map.get(index)
            level, hidden = (look.outline_level, bool(look.hidden)) if look else (0, False)
            yield Row(index + 1, cells, level, hidden)


def _cells(sheet: Any, row: int, styles: int) -> list[Cell]:
    types, values = sheet.row_types(row), sheet.row_values(row)
    return [
        (column, _value(kind, values[column]), min(sheet.cell_xf_index(row, column), styles - 1))
        for column, kind in enumerate(types)
        if _TEXT <= kind <= _ERROR
    ]


def _value(kind: int, stored: Any) -> Value:
    if kind in (_NUMBER, _DATE):
        return float(stored)
    if kind == _TEXT:
        return clean(str(stored))
    if kind == _BOOLEAN:
        return bool(stored)
    return CellError(xlrd.error_text_from_code.get(stored, "#ERROR!"))


def _merges(sheet: Any) -> list[Merge]:
    return [
        Merge(low_row + 1, high_row, low_column, high_column - 1)
        for low_row, high_row, low_column, high_column in sheet.merged_cells
    ]
