"""Cells of a table, cut out and put one below the other, and what the engine reads in each."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.reading import engine
from armka.services.scanning_system.reading.marks import Rect, tidy

DARK = 128
INSET = 4
_GAP = 32
_MARGIN = 8
_ROUND = 3


class Reading(NamedTuple):
    """What was read in a cell, and how surely, from 0 to 1."""

    text: str
    confidence: float


@dataclass(frozen=True)
class Strip:
    """A picture, and where in it each cell ends."""

    picture: NDArray[np.uint8]
    edges: list[int]

    def read(self, size: float, tessdata: str, language: str) -> list[Reading]:
        """Read every cell, at another size of the letters."""
        words: list[list[engine.Read]] = [[] for _ in self.edges]
        for word in engine.read_at(size, self.picture, tessdata, language):
            middle = (word.letters[0].top + word.letters[0].bottom) / 2
            index = min(int(np.searchsorted(self.edges, middle)), len(words) - 1)
            words[index].append(word)
        return [_reading(it) for it in words]


def _reading(words: list[engine.Read]) -> Reading:
    words = sorted(words, key=lambda it: it.letters[0].left)
    text = tidy(" ".join(word.text for word in words))
    return Reading(text, round(min((it.confidence for it in words), default=0.0), _ROUND))


def inside(box: Rect, clean: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture of a cell without its rim."""
    left, top, right, bottom = (round(it) for it in box)
    return clean[max(top + INSET, 0) : bottom - INSET, max(left + INSET, 0) : right - INSET]


def strip_of(boxes: list[Rect], clean: NDArray[np.uint8]) -> Strip | None:
    """Put cells one below the other, each without the blank around its ink; None for none."""
    crops = [_cropped(inside(box, clean)) for box in boxes]
    if not crops:
        return None
    width = max(crop.shape[1] for crop in crops) + 2 * _MARGIN
    rows, edges, bottom = [], [], 0
    for crop in crops:
        row = np.full((crop.shape[0] + _GAP, width), 255, np.uint8)
        row[_GAP // 2 : _GAP // 2 + crop.shape[0], _MARGIN : _MARGIN + crop.shape[1]] = crop
        rows.append(row)
        bottom += row.shape[0]
        edges.append(bottom)
    return Strip(np.vstack(rows), edges)


def _cropped(cell: NDArray[np.uint8]) -> NDArray[np.uint8]:
    dark = cell < DARK
    if not dark.any():
        return np.full((1, 1), 255, np.uint8)
    ys, xs = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    return cell[max(ys[0] - 3, 0) : ys[-1] + 4, max(xs[0] - 3, 0) : xs[-1] + 4]
