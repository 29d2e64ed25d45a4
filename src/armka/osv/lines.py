"""Lines of text on a page, put together from its words; and how far labels are indented."""

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


def outside_tables(page: Page) -> list[TextLine]:
    """The lines of a page that are in none of its tables, downward."""
    boxes = [table.box for table in page.tables]
    words = [word for word in page.words if word.text.strip() and not _within_any(word, boxes)]
    lines: list[TextLine] = []
    for word in sorted(words, key=lambda word: (word.box[1] + word.box[3]) / 2):
        centre = (word.box[1] + word.box[3]) / 2
        if lines and lines[-1].top <= centre <= lines[-1].bottom:
            lines[-1].words.append(word)
        else:
            lines.append(TextLine([word], word.box[1], word.box[3]))
    for line in lines:
        line.words.sort(key=lambda word: word.box[0])
    return lines


def offsets(page: Page, table: Table) -> list[float]:
    """How far each label of a table stands off the left edge of its cell, in page widths."""
    cells = [cell for cell in table.cells if cell.column == 0 and cell.text.strip()]
    found = (offset(page, cell) for cell in cells)
    return [one for one in found if one is not None]


def offset(page: Page, cell: TableCell) -> float | None:
    """How far the text of a cell stands off its left edge, in page widths; None: nobody knows."""
    lefts = [word.box[0] for word in words_within(page, cell.box)]
    return (min(lefts) - cell.box[0]) / page.width if lefts else None


def words_within(page: Page, box: Box) -> list[Word]:
    """The words whose centre is in a box."""
    return [word for word in page.words if _within(word, box)]


def _within_any(word: Word, boxes: list[Box]) -> bool:
    return any(_within(word, box) for box in boxes)


def _within(word: Word, box: Box) -> bool:
    x, y = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
