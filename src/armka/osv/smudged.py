"""Labels of a recognised table that came out smudged: «О55ззты за период», «Кредпт», «Итоrо».

Only words that say where things stand are mended, and marks behind a code taken off; never a
figure, a digit or a name. Whether the columns were taken for what they are, the arithmetic of every
row tells.
"""

import re
from difflib import SequenceMatcher
from functools import lru_cache

import msgspec

from armka.osv import accounts
from armka.osv.pages import Table, TableCell
from armka.osv.wording import Heading, heading, plain, side

_ALIKE = 0.6
_CLEARLY = 0.04  # ahead of the next best
HEADER_ROWS_MOST = 8
_TURNOVER = "Обороты за период"
_HEADER = (
    "Дебет",
    "Кредит",
    "Счет",
    "Наименование счета",
    "Счет, Наименование счета",
    "Сальдо на начало периода",
    _TURNOVER,
    "Сальдо на конец периода",
)
_TOTAL = ("Итого",)
_BEFORE = (Heading.OPENING, Heading.BALANCE)
_AFTER = (Heading.CLOSING, Heading.BALANCE)
_MARKS = re.compile(r"[\s.,:;'`\"|_~-]+$")


def mended(table: Table) -> Table:
    """The table with the labels that can be told."""
    header = header_rows(table)
    cells = [_with_text(cell, _label(cell, header)) for cell in table.cells]
    return msgspec.structs.replace(table, cells=_between(cells, header))


def header_rows(table: Table) -> int:
    """How many rows at the top have no figures to speak of, and so may be a header."""
    filled = {cell.row for cell in table.cells if cell.column and _is_figure(cell.text)}
    return min(min(filled, default=table.rows), HEADER_ROWS_MOST)


def _label(cell: TableCell, header: int) -> str:
    if cell.row < header:
        known = side(cell.text) is not None or heading(cell.text) is not None
        return cell.text if known else _nearest(cell.text, _HEADER)
    if cell.column:
        return cell.text
    bare = _MARKS.sub("", cell.text)
    return bare if accounts.parse(bare) is not None else _nearest(cell.text, _TOTAL)


def _between(cells: list[TableCell], header: int) -> list[TableCell]:
    """Of three headings over two columns each, the one between two balances is the turnovers'."""
    for row in range(header):
        pairs = [cell for cell in cells if cell.row == row and cell.column_span == 2]
        meant = [heading(cell.text) for cell in pairs]
        if len(pairs) == 3 and meant[0] in _BEFORE and meant[2] in _AFTER and meant[1] is None:
            turned = _with_text(pairs[1], _TURNOVER)
            return [turned if cell is pairs[1] else cell for cell in cells]
    return cells


def _with_text(cell: TableCell, text: str) -> TableCell:
    return cell if text == cell.text else msgspec.structs.replace(cell, text=text)


@lru_cache(maxsize=4096)
def _nearest(text: str, labels: tuple[str, ...]) -> str:
    words = plain(text)
    if not words or len(words) > 60:
        return text
    ranked = sorted(((_likeness(words, plain(label)), label) for label in labels), reverse=True)
    best, label = ranked[0]
    clear = len(ranked) == 1 or best - ranked[1][0] >= _CLEARLY
    return label if best >= _ALIKE and clear else text


def _likeness(words: str, label: str) -> float:
    return SequenceMatcher(None, words, label, autojunk=False).ratio()


def _is_figure(text: str) -> bool:
    return sum(char.isdecimal() for char in text) > 2
