"""The words of a page by where they stand: lines of text, and what is in a cell."""

from bisect import bisect_left, bisect_right
from statistics import median

import msgspec

from armka.osv.pages import Box, Page, Table, TableCell, Word

_GAP = 2.5  # times the height of a word: what is farther apart says two things


class TextLine(msgspec.Struct):
    """A line: its words from left to right, and its texts, one for each group of near words."""

    words: list[Word]
    top: float
    bottom: float

    @property
    def texts(self) -> list[str]:
        """The groups."""
        height = median(word.box[3] - word.box[1] for word in self.words)
        groups: list[list[str]] = []
        end = float("-inf")
        for word in self.words:
            if word.box[0] - end > _GAP * height:
                groups.append([])
            groups[-1].append(word.text)
            end = word.box[2]
        return [" ".join(group) for group in groups]


class PageWords:
    """The words of a page, downward by their centres."""

    def __init__(self, page: Page) -> None:
        self._width = page.width
        self._tables = [table.box for table in page.tables]
        self._words = sorted((word for word in page.words if word.text.strip()), key=_middle)
        self._middles = [_middle(word) for word in self._words]

    def within(self, box: Box) -> list[Word]:
        """The words whose centre is in a box."""
        first, end = bisect_left(self._middles, box[1]), bisect_right(self._middles, box[3])
        return [word for word in self._words[first:end] if _is_within(word, box)]

    def outside_tables(self) -> list[TextLine]:
        """The lines that are in none of the page's tables, downward."""
        lines: list[TextLine] = []
        for word, middle in zip(self._words, self._middles, strict=True):
            if any(_is_within(word, box) for box in self._tables):
                continue
            if lines and lines[-1].top <= middle <= lines[-1].bottom:
                lines[-1].words.append(word)
            else:
                lines.append(TextLine([word], word.box[1], word.box[3]))
        for line in lines:
            line.words.sort(key=lambda word: word.box[0])
        return lines

    def offset(self, cell: TableCell) -> float | None:
        """How far a cell's text stands off its left edge, in page widths; None: nobody knows."""
        lefts = [word.box[0] for word in self.within(cell.box)]
        return (min(lefts) - cell.box[0]) / self._width if lefts else None

    def offsets(self, table: Table) -> list[float]:
        """The offsets of a table's labels."""
        cells = (cell for cell in table.cells if cell.column == 0 and cell.text.strip())
        return [found for found in map(self.offset, cells) if found is not None]


def _middle(word: Word) -> float:
    return (word.box[1] + word.box[3]) / 2


def _is_within(word: Word, box: Box) -> bool:
    x = (word.box[0] + word.box[2]) / 2
    return box[0] <= x <= box[2] and box[1] <= _middle(word) <= box[3]
