"""What was read of a page, held against what was printed on it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from armka.services.scanning_system.answer import Cell, Page
from armka.services.scanning_system.reading.marks import spaced

AMOUNTS = 6
TRUSTED = 0.7  # a reader takes cells of this confidence, and those of a text layer, as they are
_LIKENESS_MIN = 0.3


@dataclass
class Miss:
    """An amount that was read as something else; `read` is None where its cell was not found."""

    printed: str
    read: str | None
    confidence: float | None
    alternatives: list[str]

    @property
    def is_silent(self) -> bool:
        """Whether the wrong amount passes for a right one."""
        return self.read is not None and (self.confidence is None or self.confidence >= TRUSTED)


@dataclass
class Score:
    """Amount cells, empty ones included, and account codes."""

    cells: int = 0
    codes: int = 0
    codes_right: int = 0
    misses: list[Miss] = field(default_factory=list)
    doubted: int = 0  # right, and marked as doubtful

    @property
    def right(self) -> int:
        """The amounts that are as printed."""
        return self.cells - len(self.misses)

    @property
    def silent(self) -> list[Miss]:
        """The wrong amounts that nothing marks."""
        return [miss for miss in self.misses if miss.is_silent]

    def add(self, other: "Score") -> None:
        """Take another page in."""
        self.cells += other.cells
        self.codes += other.codes
        self.codes_right += other.codes_right
        self.misses += other.misses
        self.doubted += other.doubted


def score(page: Page, printed: Sequence[Sequence[str]]) -> Score:
    """Compare a page with its printed body rows."""
    read = _rows(page)
    found = _aligned([_flat(row) for row in printed], [_texts(row) for row in read])
    total = Score()
    for number, row in enumerate(printed):
        cells = read[found[number]] if number in found else []
        total.codes += 1
        total.codes_right += bool(cells) and _begins(cells[0], row[0])
        _compare(total, row, cells)
    return total


def _begins(cell: Cell | None, code: str) -> bool:
    return cell is not None and cell.text.startswith(code.partition(",")[0])


def _compare(total: Score, row: Sequence[str], cells: list[Cell | None]) -> None:
    for index in range(-AMOUNTS, 0):
        total.cells += 1
        want = spaced(row[index])
        cell = cells[index] if len(cells) > AMOUNTS else None
        if cell is None:
            total.misses.append(Miss(want, None, None, []))
        elif cell.text != want:
            others = [it.text for it in cell.alternatives]
            total.misses.append(Miss(want, cell.text, cell.confidence, others))
        elif cell.confidence is not None and cell.confidence < TRUSTED:
            total.doubted += 1


def _rows(page: Page) -> list[list[Cell | None]]:
    rows: list[list[Cell | None]] = []
    for table in page.tables:
        own: list[list[Cell | None]] = [[None] * table.columns for _ in range(table.rows)]
        for cell in table.cells:
            own[cell.row][cell.column] = cell
        rows += own
    return rows


def _flat(row: Sequence[str]) -> str:
    return spaced(" ".join(row))


def _texts(row: list[Cell | None]) -> str:
    return spaced(" ".join(cell.text for cell in row if cell is not None))


def _aligned(printed: list[str], read: list[str]) -> dict[int, int]:
    """Which row was read for which printed one: the order is kept, likeness is maximal."""
    like = [
        [SequenceMatcher(None, a, b, autojunk=False).quick_ratio() - _LIKENESS_MIN for b in read]
        for a in printed
    ]
    best = [[0.0] * (len(read) + 1) for _ in range(len(printed) + 1)]
    for i in range(len(printed) - 1, -1, -1):
        for j in range(len(read) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + like[i][j])
    pairs, i, j = {}, 0, 0
    while i < len(printed) and j < len(read):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs[i] = j
            i, j = i + 1, j + 1
    return pairs
