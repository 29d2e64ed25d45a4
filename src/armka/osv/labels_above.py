"""The rows that make a header, and for each column the labels over it from the top one down."""

import re
from decimal import Decimal

import msgspec

from armka.osv import accounts
from armka.osv.grid import Cell, Grid, Merge, Row, Style
from armka.osv.labels import amount, group_and_side, says_band, stub
from armka.osv.number_format import show_code
from armka.osv.reports import announced
from armka.osv.wording import text_of

_ABOVE = 3  # how many rows above the labels the headings may stand
_BELOW = 3
_LEVELS = 8  # how many rows of a legend there may be
_NO_LEVEL = re.compile(
    r"^(?:раздел|глава|актив|пассив|итого|всего|забаланс|балансов|примечан|\*)", re.IGNORECASE
)

Path = list[tuple[int, str]]  # (row's number, label), from the top one down


class HeaderRows(msgspec.Struct, frozen=True):
    """A header's rows. `merged`: the last column of each label that is merged over several."""

    rows: list[Row]
    first_row: int
    last_row: int
    paths: dict[int, Path]
    merged: dict[int, int]
    legend: list[str]
    texts: list[list[str]]


def rows_of(grid: Grid, index: int, start: int) -> HeaderRows:
    """The header around the row with this index, no higher than `start`."""
    rows = grid.rows
    first = index
    while first > start and _belongs_above(rows[first - 1], rows[index]):
        first -= 1
    last = index
    while last + 1 < len(rows) and _belongs_below(rows[last + 1], rows[index]):
        last += 1
    header = rows[first : last + 1]
    merges = _merges(grid.merges, header[0].number, header[-1].number)
    paths = _paths(header, merges)
    last_row = _last_row(header[-1].number, rows[index].number, grid.merges)
    legend, legend_end = _legend(grid, last + 1, paths)
    return HeaderRows(
        rows=header,
        first_row=header[0].number,
        last_row=max(last_row, legend_end),
        paths=paths,
        merged={m.first_column: m.last_column for m in _widest(merges, paths)},
        legend=_named_levels(header, paths) + legend,
        texts=[texts_of(row) for row in (rows[index], *header)],
    )


def texts_of(row: Row) -> list[str]:
    """The texts of a row, from left to right."""
    return [text for text in map(text_of, row.cells) if text]


def shown_code(cell: Cell, styles: list[Style]) -> str | None:
    """The cell's text, a number as its format shows it."""
    value = cell[1]
    if isinstance(value, float | Decimal):
        return show_code(value, styles[cell[2]].number_format)
    return text_of(cell) or None


def _belongs_above(row: Row, seed: Row) -> bool:
    if row.number < seed.number - _ABOVE:
        return False
    texts = [text for text in map(text_of, row.cells) if text]
    if any(announced(text) for text in texts):
        return False
    headings = sum(group_and_side(text)[0] is not None for text in texts)
    return headings >= 1 or sum(map(says_band, texts)) >= 2


def _belongs_below(row: Row, seed: Row) -> bool:
    """A row of labels further down: sides under a heading, or in what the amounts are."""
    if row.number > seed.number + _BELOW:
        return False
    if any(isinstance(cell[1], float | Decimal) for cell in row.cells):
        return False
    texts = [text for text in map(text_of, row.cells) if text]
    says = sum(says_band(text) or amount([text]) is not None for text in texts)
    return says >= 2 and says >= len(texts) - 2


def _merges(merges: list[Merge], first: int, last: int) -> list[Merge]:
    return [m for m in merges if first <= m.first_row <= last]


def _paths(rows: list[Row], merges: list[Merge]) -> dict[int, Path]:
    """For each column that has a label of its own, all labels over it."""
    covering = {(m.first_row, m.first_column): m for m in merges}
    labelled = [
        [(cell[0], text_of(cell), covering.get((row.number, cell[0]))) for cell in row.cells]
        for row in rows
    ]
    paths: dict[int, Path] = {}
    columns = sorted({c for row in labelled for c, text, _ in row if text})
    for column in columns:
        path: Path = []
        since = 0
        for row, labels in zip(rows, labelled, strict=True):
            over = _over(column, [label for label in labels if label[1] and label[0] >= since])
            if over:
                since, text = over
                path.append((row.number, text))
        paths[column] = path
    return _without_spread(paths, rows)


def _over(column: int, labels: list[tuple[int, str, Merge | None]]) -> tuple[int, str] | None:
    """The label at a column and where it begins: its own, else the one to the left whose merge
    reaches here, or that is not merged at all and heads a group. A label reaches no further than
    the one above it.
    """
    left = [label for label in labels if label[0] <= column]
    if not left:
        return None
    first, text, merge = left[-1]
    if first == column:
        return first, text
    if merge is not None and merge.last_column > merge.first_column:
        return (first, text) if column <= merge.last_column else None
    return (first, text) if group_and_side(text)[0] is not None or says_band(text) else None


def _without_spread(paths: dict[int, Path], rows: list[Row]) -> dict[int, Path]:
    """A column whose lowest label is not its own has none of its own: it only stands beside one."""
    own = {(row.number, cell[0]) for row in rows for cell in row.cells if text_of(cell)}
    return {
        column: path
        for column, path in paths.items()
        if path and any((number, column) in own for number, _ in path)
    }


def _widest(merges: list[Merge], paths: dict[int, Path]) -> list[Merge]:
    """The merged ranges of the lowest labels."""
    lowest = {column: path[-1][0] for column, path in paths.items()}
    return [m for m in merges if lowest.get(m.first_column) == m.first_row]


def _last_row(last: int, seed: int, merges: list[Merge]) -> int:
    return max(
        [last, *(m.last_row for m in merges if m.first_row == seed and m.last_row < seed + 4)]
    )


def _named_levels(header: list[Row], paths: dict[int, Path]) -> list[str]:
    """Labels under «Счет» in the same column, inside the header."""
    for column in sorted(paths):
        own = [text_of(cell) for row in header for cell in row.cells if cell[0] == column]
        own = [text for text in own if text]
        if own and stub(own[0]) is not None and len(own) > 1:
            return own[1:]
    return []


def _legend(grid: Grid, index: int, paths: dict[int, Path]) -> tuple[list[str], int]:
    """Rows right under the header that only name the levels of the rows to come, and the last of
    them.
    """
    stubs = [column for column, path in paths.items() if stub(path[-1][1]) is not None]
    found: list[str] = []
    end = 0
    for row in grid.rows[index : index + _LEVELS]:
        cells = [cell for cell in row.cells if cell[1] != ""]
        if len(cells) != 1 or (end and row.number != end + 1) or row.level:
            break
        text = text_of(cells[0])
        if not text or cells[0][0] not in stubs or _NO_LEVEL.match(text) or accounts.parse(text):
            break
        found.append(text)
        end = row.number
    return found, end
