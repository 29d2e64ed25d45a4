"""Sheets of the generator as grids, without a file between."""

from collections.abc import Callable
from random import Random
from typing import Any

from armka.contract.result import Document
from armka.osv import trial_balance
from armka.osv.grid import Cell, Grid, LooseRow, Merge, Row, Style, Value
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import Ledger, make
from tests.books.sheets import Sheet


def grid_of(sheet: Sheet) -> Grid:
    """What a reader would hand over."""
    styles: dict[Style, int] = {Style(): 0}
    rows: list[Row] = []
    for number, cells in sheet.rows().items():
        read: list[Cell] = []
        for column, value, look in cells:
            style = Style(look.number_format, look.bold, look.italic, look.indent)
            index = styles.setdefault(style, len(styles))
            is_number = isinstance(value, int) and not isinstance(value, bool)
            read.append((column, float(value) if is_number else value, index))
        hidden = number in sheet.hidden_rows
        rows.append(LooseRow(number + 1, read, sheet.levels.get(number, 0), hidden))
    merges = [Merge(r + 1, last_r + 1, c, last_c) for r, c, last_r, last_c in sheet.merges]
    return Grid(sheet.name, rows, list(styles), merges)


def ledger(seed: int = 1, **options: object) -> Ledger:
    return make(Random(seed), **options)  # type: ignore[arg-type]


def grid(seed: int = 1, layout: Layout | None = None) -> Grid:
    return grid_of(lay_out(ledger(seed), layout or Layout()))


def document_of(of: Grid) -> Document:
    """What is read of the grid's first table."""
    return trial_balance.read(of).documents[0]


def cell_of(of: Grid, account: str, which: int) -> tuple[int, int]:
    """(index of the row, index of its cell) of one of an account's six amounts."""
    document = document_of(of)
    line = next(line for line in document.lines if account in (line.account, line.name))
    column = ord((document.columns or [])[which] or "A") - ord("A")
    row = next(index for index, row in enumerate(of.rows) if row.number == line.row)
    return row, next(index for index, cell in enumerate(of.rows[row].cells) if cell[0] == column)


def change(of: Grid, account: str, which: int, value: Callable[[Any], Value]) -> None:
    """Put another value in place of one of an account's six amounts."""
    row, index = cell_of(of, account, which)
    cells = of.rows[row].cells
    column, before, style = cells[index]
    cells[index] = (column, value(before), style)
