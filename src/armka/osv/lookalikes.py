"""What a sheet without a trial balance looks like, by its table alone where no title says it."""

from armka.osv import accounts
from armka.osv.grid import Grid, Row
from armka.osv.wording import plain, text_of

_ROWS = 60
# All of the words of one of these in a row: the report is that.
_HEADERS = [
    ({"документ", "текущее сальдо"}, "карточку счета"),
    ({"документ", "дебет", "кредит", "сумма"}, "отчет по проводкам"),
    ({"документ", "дт", "кт", "сумма"}, "отчет по проводкам"),
    ({"дата", "дебет", "кредит", "назначение платежа"}, "выписку по счету"),
    ({"наименование показателя", "код"}, "форму бухгалтерской отчетности"),
]
_FEWEST_CODES = 4


def looks_like(grid: Grid) -> str | None:
    """What it is, in the accusative; None: nothing known."""
    rows = grid.rows[:_ROWS]
    for row in rows:
        texts = {plain(text) for text in map(text_of, row.cells) if text}
        for words, name in _HEADERS:
            if words <= texts:
                return name
    return "шахматную ведомость" if any(_is_chess(rows, i) for i in range(len(rows))) else None


def _is_chess(rows: list[Row], index: int) -> bool:
    """Whether a row is of account codes, and such codes begin the rows below it."""
    across = [cell for cell in rows[index].cells if _is_code(text_of(cell))]
    down = [row for row in rows[index + 1 :] if row.cells and _is_code(text_of(row.cells[0]))]
    return len(across) >= _FEWEST_CODES and len(down) >= _FEWEST_CODES


def _is_code(text: str) -> bool:
    found = accounts.parse(text)
    return found is not None and not found.name and accounts.is_known_form(found.code)
