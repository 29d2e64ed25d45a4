"""What a scanning system read off pages: words, and tables of cells, each with its box.

Boxes are [left, top, right, bottom] in pixels of the upright page. A confidence is a share, None
where nobody knows it.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

_Size = Annotated[int, Meta(ge=1, le=10**6)]
_Place = Annotated[int, Meta(ge=0, le=10**6)]
_Share = Annotated[float, Meta(ge=0, le=1)]
Box = tuple[float, float, float, float]

MOST_CELLS = 2_000_000  # of all tables of a file, the empty ones counted


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word anywhere on the page, in a table or not."""

    text: str
    box: Box
    confidence: _Share | None = None


class Alternative(msgspec.Struct, frozen=True, gc=False):
    """Another reading of the same cell."""

    text: str
    confidence: _Share | None = None


class TableCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell at (row, column), counted from 0, over as many rows and columns as its spans say."""

    row: _Place
    column: _Place
    row_span: _Size = 1
    column_span: _Size = 1
    box: Box
    text: str
    confidence: _Share | None = None
    alternatives: list[Alternative] = []


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table of the page, with or without rules around its cells."""

    box: Box
    rows: _Place
    columns: _Place
    bordered: bool = True
    cells: list[TableCell]


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page; `source` says whether it was read from a text layer, exact, or recognised."""

    number: Annotated[int, Meta(ge=1, le=10**6)]
    width: _Size
    height: _Size
    dpi: Annotated[float, Meta(ge=0)] | None = None
    source: Literal["text", "ocr"]
    words: list[Word] = []
    tables: list[Table] = []


def problem(pages: list[Page]) -> str | None:
    """What contradicts itself in pages whose fields pass one by one; None: nothing does."""
    numbers = [page.number for page in pages]
    if len(set(numbers)) < len(numbers):
        return "a page number stands twice"
    if sum(table.rows * table.columns for page in pages for table in page.tables) > MOST_CELLS:
        return f"its tables have room for more than {MOST_CELLS} cells"
    for page in pages:
        for index, table in enumerate(page.tables):
            found = _table_problem(table)
            if found:
                return f"page {page.number}, table {index}: {found}"
    return None


def _table_problem(table: Table) -> str | None:
    room = table.rows * table.columns
    taken: set[tuple[int, int]] = set()
    for cell in table.cells:
        last_row, last_column = cell.row + cell.row_span, cell.column + cell.column_span
        where = f"cell ({cell.row}, {cell.column})"
        if last_row > table.rows or last_column > table.columns:
            return f"{where} reaches out of the table"
        room -= cell.row_span * cell.column_span
        if room < 0:
            return "its cells have no room in it"
        for row in range(cell.row, last_row):
            for column in range(cell.column, last_column):
                if (row, column) in taken:
                    return f"{where} overlaps another"
                taken.add((row, column))
    return None
