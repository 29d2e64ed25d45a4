"""XLS (BIFF) by xlrd: other readers turn 1С's number formats from id 50 into dates."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import xlrd

from armka.osv.grid import (
    Cell,
    CellError,
    Grid,
    LooseRow,
    Merge,
    RegularRow,
    Row,
    Style,
    Value,
)
from armka.services.tabular_parser import regular_biff
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
    reader = regular_biff.Reader(book._sharedstrings, len(styles))  # noqa: SLF001 - see _regular
    for index in range(book.nsheets):
        regular = _regular(book, index, reader) if book.biff_version == _UNICODE_SINCE else None
        sheet, rows = regular or (book.sheet_by_index(index), None)
        name = clean(sheet.name)
        if sheet.visibility:
            yield Grid(name, [], [], [], hidden=True)
        elif rows is not None:
            count.add(sum(map(_cells_of, rows)))
            yield Grid(name, rows, styles, _merges(sheet))
        else:
            yield Grid(name, list(_rows(sheet, len(styles), count)), styles, _merges(sheet))
        book.unload_sheet(index)


def _regular(book: Any, index: int, reader: regular_biff.Reader) -> tuple[Any, list[Row]] | None:
    """A sheet and its rows, where these have the regular shape: xlrd is given the other records of
    the sheet in place of the file. Its inner parts have not changed in years; it is pinned.
    """
    data, position = book.mem, book._sh_abs_posn[index]  # noqa: SLF001
    found = reader.read(data, position)
    if found is None:
        return None
    rows, rest = found
    book.mem, book._position = rest, 0  # noqa: SLF001
    try:
        return book.get_sheet(index, update_pos=False), rows
    finally:
        book.mem = data


def _cells_of(row: Row) -> int:
    return len(row.values if type(row) is RegularRow else row.cells)


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
            yield LooseRow(index + 1, cells, level, hidden)


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
