"""Words are put into the cells of a grid; where drawn lines leave it too coarse it is refined."""

from dataclasses import dataclass, field
from itertools import pairwise

from armka.services.scanning_system import answer
from armka.services.scanning_system.reading.marks import (
    Mark,
    Rect,
    around,
    ends_amount,
    lines,
    opens_row,
    text_of,
)
from armka.services.scanning_system.reading.rules import Grid, Span

_NUMERIC_SHARE = 0.6


@dataclass
class Slot:
    """A cell while it is being read."""

    span: Span
    box: Rect
    marks: list[Mark] = field(default_factory=list)
    text: str = ""
    confidence: float | None = None
    alternatives: list[answer.Alternative] = field(default_factory=list)


@dataclass
class Sheet:
    """A table while it is being read."""

    grid: Grid
    slots: list[Slot]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.grid.ys) - 1

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return len(self.grid.xs) - 1

    def texts(self) -> list[str]:
        """What stands in the cells that are not empty."""
        return [slot.text for slot in self.slots if slot.text]

    def amount_columns(self) -> set[int]:
        """The columns that hold amounts and hardly anything else below their header; to the right
        of the first one, those without words too: a column may have few amounts, or none legible.
        """
        texts: dict[int, list[str]] = {column: [] for column in range(self.columns)}
        body = self.first_amount_row()
        for slot in self.slots:
            if slot.span.columns == 1 and slot.text and slot.span.row >= body:
                texts[slot.span.column].append(slot.text)
        sure = {column for column, found in texts.items() if _mostly_amounts(found)}
        first = min(sure, default=self.columns)
        return sure | {it for it, found in texts.items() if it > first and not _are_words(found)}

    def first_amount_row(self) -> int:
        """Where the body begins."""
        rows = [it.span.row for it in self.slots if ends_amount(it.text.rpartition(" ")[2])]
        return min(rows, default=self.rows)

    def done(self, shrink: float = 1.0) -> answer.Table:
        """The table as it is answered, at the size of the page."""
        xs, ys = self.grid.xs, self.grid.ys
        return answer.Table(
            box=whole(Rect(xs[0], ys[0], xs[-1], ys[-1]), shrink),
            rows=self.rows,
            columns=self.columns,
            bordered=self.grid.bordered,
            cells=[_cell(slot, shrink) for slot in self.slots],
        )


def fill(grid: Grid, marks: list[Mark]) -> Sheet:
    """Put the words into the cells."""
    inside = [(place, mark) for mark in marks if (place := grid.place(*mark.at))]
    grid = _split_spans(grid, inside)
    grid = _split_rows(grid, inside)
    slots = [Slot(span, _box(grid, span)) for span in grid.spans]
    by_span = {slot.span: slot for slot in slots}
    for _, mark in inside:
        span = grid.cell(*mark.at)
        if span is not None:
            by_span[span].marks.append(mark)
    for slot in slots:
        settle(slot)
    return Sheet(grid, slots)


def settle(slot: Slot) -> None:
    """Text and confidence as the words have them."""
    slot.text = text_of(slot.marks)
    sure = [mark.confidence for mark in slot.marks if mark.confidence is not None]
    slot.confidence = min(sure) if sure and len(sure) == len(slot.marks) else None


def whole(rect: Rect, shrink: float = 1.0) -> answer.Box:
    """A box in whole pixels of the page."""
    left, top, right, bottom = (round(it * shrink) for it in rect)
    return left, top, right, bottom


def _mostly_amounts(texts: list[str]) -> bool:
    amounts = sum(ends_amount(text.rpartition(" ")[2]) for text in texts)
    digits = sum(_digit_share(text) >= _NUMERIC_SHARE for text in texts)
    mostly_digits = amounts > 0 and digits >= len(texts) * _NUMERIC_SHARE
    return mostly_digits or amounts >= len(texts) / 2


def _are_words(texts: list[str]) -> bool:
    """Whether most of these are words: letters, several of them."""
    words = sum(sum(it.isalpha() for it in text) > len(text) / 2 for text in texts)
    return words > len(texts) / 2


def _digit_share(text: str) -> float:
    bare = text.replace(" ", "")
    return sum(it.isdigit() or it in ",.-" for it in bare) / len(bare) if bare else 0.0


def _box(grid: Grid, span: Span) -> Rect:
    return Rect(
        grid.xs[span.column],
        grid.ys[span.row],
        grid.xs[span.column + span.columns],
        grid.ys[span.row + span.rows],
    )


def _cell(slot: Slot, shrink: float) -> answer.Cell:
    return answer.Cell(
        row=slot.span.row,
        column=slot.span.column,
        row_span=slot.span.rows,
        column_span=slot.span.columns,
        box=whole(slot.box, shrink),
        text=slot.text,
        confidence=slot.confidence,
        alternatives=slot.alternatives,
    )


Placed = list[tuple[tuple[int, int], Mark]]


def _split_spans(grid: Grid, inside: Placed) -> Grid:
    """Amounts on both sides of a column's edge were parted by a line that was not seen."""
    amounts = {place for place, mark in inside if ends_amount(mark.text)}
    spans = []
    for span in grid.spans:
        covered = range(span.column, span.column + span.columns)
        rows = range(span.row, span.row + span.rows)
        if sum(any((row, it) in amounts for row in rows) for it in covered) > 1:
            spans += [Span(span.row, it, span.rows, 1) for it in covered]
        else:
            spans.append(span)
    return Grid(grid.xs, grid.ys, spans, grid.bordered)


def _split_rows(grid: Grid, inside: Placed) -> Grid:
    """A row with several amounts one above the other in a column is several rows."""
    cuts: dict[int, list[float]] = {}
    for row in range(len(grid.ys) - 1):
        here = [(place[1], mark) for place, mark in inside if place[0] == row]
        columns = {column for column, mark in here if ends_amount(mark.text)}
        counts = [
            len(lines([it for at, it in here if at == column and ends_amount(it.text)]))
            for column in columns
        ]
        if max(counts, default=0) > 1:
            cuts[row] = row_tops([mark for _, mark in here])
    return _cut(grid, cuts) if cuts else grid


def row_tops(marks: list[Mark]) -> list[float]:
    """Where rows part that no line parts: at each line that has an amount or an account's code, but
    the first.
    """
    found = lines(marks)
    left = min((line[0].box.left for line in found if _has_amount(line)), default=0.0)
    opening = [
        index for index, line in enumerate(found) if _has_amount(line) or opens_row(line, left)
    ]
    tops = []
    for above, index in pairwise(opening):
        if opening[0] == 0:  # names run on below their amounts
            tops.append((around(found[index - 1]).bottom + around(found[index]).top) / 2)
        else:
            upper, lower = around(found[above]), around(found[index])
            tops.append((upper.centre[1] + lower.centre[1]) / 2)
    return tops


def _has_amount(line: list[Mark]) -> bool:
    return any(ends_amount(mark.text) for mark in line)


def _cut(grid: Grid, cuts: dict[int, list[float]]) -> Grid:
    ys, first_of, more = [grid.ys[0]], {}, {}
    for row in range(len(grid.ys) - 1):
        first_of[row], more[row] = len(ys) - 1, len(cuts.get(row, []))
        ys += [*cuts.get(row, []), grid.ys[row + 1]]
    spans = []
    for span in grid.spans:
        if span.rows == 1:
            first = first_of[span.row]
            pieces = range(first, first + 1 + more[span.row])
            spans += [Span(it, span.column, 1, span.columns) for it in pieces]
        else:
            last = span.row + span.rows - 1
            tall = first_of[last] + more[last] + 1 - first_of[span.row]
            spans.append(Span(first_of[span.row], span.column, tall, span.columns))
    return Grid(grid.xs, ys, spans, grid.bordered)
