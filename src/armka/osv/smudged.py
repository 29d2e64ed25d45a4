"""Labels of a recognised table that came out smudged: «О55ззты за период», «Кредпт», «Итоrо».

Only words that say where things stand are mended, never a figure, a code or a name. Whether the
columns were taken for what they are, the arithmetic of every row tells.
"""

from difflib import SequenceMatcher
from functools import lru_cache

from armka.osv.pages import Table, TableCell
from armka.osv.wording import heading, plain, side

_ALIKE = 0.66
_SHORT = 0.74  # of few letters more must be right
_FEW = 8
_HEADER_ROWS = 8
_HEADER = (
    "Дебет",
    "Кредит",
    "Счет",
    "Наименование счета",
    "Счет, Наименование счета",
    "Сальдо на начало периода",
    "Обороты за период",
    "Сальдо на конец периода",
)
_TOTAL = ("Итого",)


def header_rows(table: Table) -> int:
    """How many rows at the top have no figures to speak of, and so may be a header."""
    filled = {cell.row for cell in table.cells if cell.column and _is_figure(cell.text)}
    return min(min(filled, default=table.rows), _HEADER_ROWS)


def mended(cell: TableCell, header: int) -> str:
    """The cell's text; what a label of a header or a total comes near to is read as that."""
    if cell.row < header:
        known = side(cell.text) is not None or heading(cell.text) is not None
        return cell.text if known else _nearest(cell.text, _HEADER)
    return _nearest(cell.text, _TOTAL) if cell.column == 0 else cell.text


@lru_cache(maxsize=4096)
def _nearest(text: str, labels: tuple[str, ...]) -> str:
    words = plain(text)
    if not words or len(words) > 60:
        return text
    alike, best = max((_likeness(words, plain(label)), label) for label in labels)
    return best if alike >= (_SHORT if len(best) <= _FEW else _ALIKE) else text


def _likeness(words: str, label: str) -> float:
    return SequenceMatcher(None, words, label, autojunk=False).ratio()


def _is_figure(text: str) -> bool:
    return sum(char.isdecimal() for char in text) > 2
