"""The cells of a drawn table are narrowed and moved together before they are read, and what was
read is put back: the reader's time goes by the length of its lines, and most of a table is blank.
"""

import bisect
from dataclasses import dataclass

import cv2
import numpy as np

from armka.services.scanning_system.reading.engine import Letter, Read
from armka.services.scanning_system.reading.paper import Picture
from armka.services.scanning_system.reading.rules import Grid, Span

_GAP = 40  # pixels between cells, where text is 32 high
_MARGIN = 4
_INSET = 2
_DARK = 150


@dataclass(frozen=True)
class _Move:
    """A strip of the picture: from where on it stands now, where its first pixel is, and was."""

    left: float
    now: int
    before: int


@dataclass(frozen=True)
class _Shelf:
    """A grid and what was moved in each of its rows, from left to right."""

    grid: Grid
    rows: list[list[_Move]]


class Packed:
    """A picture with its tables packed, their letters narrowed to a share of their width."""

    def __init__(self, picture: Picture, grids: list[Grid], narrow: float = 1.0) -> None:
        self.picture = picture.copy()
        self._narrow = narrow
        self._shelves = [self._pack(picture, grid) for grid in grids]

    def back(self, read: Read) -> Read:
        """A word where it stands on the page."""
        return Read([self._back(letter) for letter in read.letters], read.confidence)

    def _pack(self, picture: Picture, grid: Grid) -> _Shelf:
        rows: list[list[_Move]] = [[] for _ in grid.ys[1:]]
        cursors = [round(grid.xs[0]) for _ in grid.ys[1:]]
        top, bottom = round(grid.ys[0]), round(grid.ys[-1])
        self.picture[top:bottom, round(grid.xs[0]) : round(grid.xs[-1])] = 255
        for span in sorted(grid.spans, key=lambda it: (it.column, it.row)):
            self._move(picture, grid, span, rows, cursors)
        return _Shelf(grid, rows)

    def _move(
        self,
        picture: Picture,
        grid: Grid,
        span: Span,
        rows: list[list[_Move]],
        cursors: list[int],
    ) -> None:
        top, bottom = round(grid.ys[span.row]), round(grid.ys[span.row + span.rows])
        left = max(round(grid.xs[span.column]) + _INSET, 0)
        cell = picture[top:bottom, left : round(grid.xs[span.column + span.columns]) - _INSET]
        inked = np.flatnonzero((cell < _DARK).any(axis=0))
        if not inked.size:
            return
        first, last = max(int(inked[0]) - _MARGIN, 0), int(inked[-1]) + _MARGIN + 1
        wide, high = max(round((last - first) * self._narrow), 1), bottom - top
        piece = cv2.resize(cell[:, first:last], (wide, high), interpolation=cv2.INTER_AREA)
        covered = range(span.row, span.row + span.rows)
        to = min(max(cursors[row] for row in covered), left + first)
        self.picture[top:bottom, to : to + wide] = piece
        for row in covered:
            rows[row].append(_Move(to - _GAP / 2, to, left + first))
            cursors[row] = to + wide + _GAP

    def _back(self, letter: Letter) -> Letter:
        x, y = (letter.left + letter.right) / 2, (letter.top + letter.bottom) / 2
        for shelf in self._shelves:
            place = shelf.grid.place(x, y)
            if place is not None:
                return self._moved_back(letter, shelf.rows[place[0]], x)
        return letter

    def _moved_back(self, letter: Letter, moves: list[_Move], x: float) -> Letter:
        index = bisect.bisect([move.left for move in moves], x) - 1
        if index < 0:
            return letter
        move = moves[index]
        left, right = (
            round(move.before + (it - move.now) / self._narrow)
            for it in (letter.left, letter.right)
        )
        return letter._replace(left=left, right=right)
