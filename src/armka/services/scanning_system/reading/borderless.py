"""Tables without lines: amounts stand in columns, and columns stand apart."""

import re
import statistics
from itertools import pairwise
from typing import NamedTuple

from armka.services.scanning_system.reading.marks import Mark, around, ends_amount, lines, opens_row
from armka.services.scanning_system.reading.rules import Grid, Span
from armka.services.scanning_system.reading.tables import row_tops

_BODY_LINES_MIN = 2
_ROW_AMOUNTS = 4  # a line of so many is a row, were it the only one
_WIDE_GAP = 1.0  # in heights of the line
_BLANK_LINES = 3.5
_HEADER_PHRASES_MIN = 2
_NAME_LINES = 4
_GROUP = re.compile(r"[(\-−–]?\d{1,3}")


class _Phrase(NamedTuple):
    left: float
    right: float
    is_amount: bool

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


class _Line(NamedTuple):
    marks: list[Mark]
    phrases: list[_Phrase]
    top: float
    bottom: float

    @property
    def amounts(self) -> int:
        return sum(phrase.is_amount for phrase in self.phrases)


def find(marks: list[Mark]) -> Grid | None:
    """Find the one table that these words make; None where too few lines hold amounts."""
    if not marks:
        return None
    height = statistics.median(mark.box.height for mark in marks)
    page = [_line(it, height) for it in lines(marks)]
    body = [index for index, line in enumerate(page) if line.amounts >= 1]
    are_many = sum(page[index].amounts >= _HEADER_PHRASES_MIN for index in body) >= _BODY_LINES_MIN
    if not are_many and all(page[index].amounts < _ROW_AMOUNTS for index in body):
        return None
    first, last = _reach(page, body, height)
    edge = min(p.left for line in page[first : last + 1] for p in line.phrases if p.is_amount)
    top = _header_top(page, first, height, edge)
    columns = _columns(page[first : last + 1], page[top:first])
    if len(columns) <= _BODY_LINES_MIN:
        return None
    return _grid(columns, page[top:first], page[first : last + 1])


def _reach(page: list[_Line], body: list[int], height: float) -> tuple[int, int]:
    """The body's first and last line: rows without amounts belong to it, and what runs on."""
    first, last = body[0], body[-1]
    left = min(page[index].marks[0].box.left for index in body)
    while (above := _row_above(page, first, height, left)) is not None:
        first = above
    while last + 1 < len(page) and (
        _runs_on(page[last], page[last + 1], height, left) or opens_row(page[last + 1].marks, left)
    ):
        last += 1
    return first, last


def _row_above(page: list[_Line], first: int, height: float, left: float) -> int | None:
    """Where a row without amounts begins that ends right above a line: its name may run on."""
    for index in range(first - 1, max(first - 1 - _NAME_LINES, -1), -1):
        if opens_row(page[index].marks, left):
            return index
        # Where code and name share a column, the name runs on from its edge.
        if not (index and _runs_on(page[index - 1], page[index], height, left - 2 * height)):
            return None
    return None


def _line(marks: list[Mark], height: float) -> _Line:
    phrases: list[_Phrase] = []
    before: Mark | None = None
    starts = _amount_starts(marks, height)
    for index, mark in enumerate(marks):
        goes_on = before is not None and (
            mark.box.left - before.box.right < height * _WIDE_GAP
            and not ends_amount(before.text)
            and index not in starts
        )
        left = phrases.pop().left if goes_on else mark.box.left
        phrases.append(_Phrase(left, mark.box.right, ends_amount(mark.text)))
        before = mark
    box = around(marks)
    return _Line(marks, phrases, box.top, box.bottom)


def _amount_starts(marks: list[Mark], height: float) -> set[int]:
    """Where the groups of digits begin that end as amounts."""
    starts = set()
    for end, mark in enumerate(marks):
        if not ends_amount(mark.text):
            continue
        start = end
        while (
            start > 0
            and _GROUP.fullmatch(marks[start - 1].text)
            and marks[start].text[:1].isdigit()
            and marks[start].box.left - marks[start - 1].box.right < height * _WIDE_GAP
        ):
            start -= 1
        starts.add(start)
    return starts


def _runs_on(line: _Line, below: _Line, height: float, left: float) -> bool:
    """Whether a line without amounts goes on with the row above it, which begins at `left`."""
    near = below.top - line.bottom < height * 0.6
    return near and not below.amounts and below.phrases[0].left > left + height


def _header_top(page: list[_Line], first: int, height: float, edge: float) -> int:
    """Lines of several phrases that reach over the amounts are the header; a title is not. Between
    them one label alone may run on.
    """
    top = first
    for index in range(first - 1, -1, -1):
        line = page[index]
        is_near = page[index + 1].top - line.bottom < height * _BLANK_LINES
        if not is_near or line.phrases[-1].middle <= edge:
            break
        if len(line.phrases) >= _HEADER_PHRASES_MIN:
            top = index
    return top


def _columns(body: list[_Line], header: list[_Line]) -> list[tuple[float, float]]:
    """Where the body's phrases stand, seen from above; a header adds columns that are empty."""
    amounts = _united([p for line in body for p in line.phrases if p.is_amount])
    edge = amounts[0][0]
    texts = _united(
        [p for line in body for p in line.phrases if not p.is_amount and p.right <= edge]
    )
    columns = [*_names(texts, body), *amounts]
    return _labelled(columns, header[-1].phrases) if header else columns


def _labelled(
    columns: list[tuple[float, float]], labels: list[_Phrase]
) -> list[tuple[float, float]]:
    """Columns with those of their labels that stand over nothing: amounts stand at the right of
    their column, so such a label belongs to a column to its right that has no other, or else to
    one that is empty.
    """
    found = list(columns)
    for label, after in zip(labels, [*labels[1:], None], strict=True):
        if any(label.right >= left and label.left <= right for left, right in found):
            continue
        right_of = min((it for it in found if it[0] > label.right), default=None)
        if right_of is None or (after is not None and after.left <= right_of[1]):
            found.append((label.left, label.right))
        else:
            found[found.index(right_of)] = (label.left, right_of[1])
    return sorted(found)


def _names(texts: list[tuple[float, float]], body: list[_Line]) -> list[tuple[float, float]]:
    """Columns of texts that few rows have are none: they join the one to their left."""
    kept: list[tuple[float, float]] = []
    for left, right in texts:
        rows = sum(any(left <= p.left <= right for p in line.phrases) for line in body)
        if kept and rows < max(2, len(body) * 0.1):
            kept[-1] = (kept[-1][0], right)
        else:
            kept.append((left, right))
    return kept


def _united(phrases: list[_Phrase]) -> list[tuple[float, float]]:
    united: list[list[float]] = []
    for left, right, _ in sorted(phrases):
        if united and left <= united[-1][1]:
            united[-1][1] = max(united[-1][1], right)
        else:
            united.append([left, right])
    return [(left, right) for left, right in united]


def _grid(columns: list[tuple[float, float]], header: list[_Line], body: list[_Line]) -> Grid:
    xs = [columns[0][0] - 1.0]
    xs += [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]
    xs.append(columns[-1][1] + 1.0)
    edges, spans = _header_rows(header, columns)
    first = len(edges)
    marks = [mark for line in body for mark in line.marks]
    start = (header[-1].bottom + body[0].top) / 2 if header else body[0].top - 1.0
    ys = [*edges, start, *row_tops(marks), max(line.bottom for line in body) + 1.0]
    spans += [
        Span(row, column, 1, 1)
        for row in range(first, len(ys) - 1)
        for column in range(len(columns))
    ]
    return Grid(xs, ys, spans, bordered=False)


def _header_rows(
    header: list[_Line], columns: list[tuple[float, float]]
) -> tuple[list[float], list[Span]]:
    """At most two rows: the groups, which span columns, and the labels right above the body."""
    if not header:
        return [], []
    groups, labels = header[:-1], header[-1]
    edges = [min(line.top for line in header) - 1.0]
    labelled = {
        index
        for index, (left, right) in enumerate(columns)
        if any(phrase.left < right and phrase.right > left for phrase in labels.phrases)
    }
    if not groups:
        return edges, [Span(0, column, 1, 1) for column in range(len(columns))]
    edges.append((groups[-1].bottom + labels.top) / 2)
    spans = _spanning(groups, columns, labelled)
    return edges, spans + [Span(1, column, 1, 1) for column in sorted(labelled)]


def _spanning(
    groups: list[_Line], columns: list[tuple[float, float]], labelled: set[int]
) -> list[Span]:
    """A column without a label of its own has one cell from the top down to the body."""
    spans, column = [], 0
    phrases = _united([phrase for line in groups for phrase in line.phrases])
    while column < len(columns):
        wide = 1
        for left, right in phrases:
            covered = [
                index
                for index, (start, end) in enumerate(columns)
                if left < end and right > start and index >= column
            ]
            if covered and covered[0] == column:
                wide = max(wide, covered[-1] - column + 1)
        covers = set(range(column, column + wide))
        if not covers & labelled:
            spans += [Span(0, it, 2, 1) for it in sorted(covers)]
        else:
            spans.append(Span(0, column, 1, wide))
            spans += [Span(1, it, 1, 1) for it in sorted(covers - labelled)]
        column += wide
    return spans
