"""Every amount is read a second time, by another model of the engine, one below the other.

One model takes a digit of some font for another and is sure of it; two rarely do so in the same
place. Readings that agree are as sure as the surer one. Where they differ, one stands, the other
becomes a proposal, and the confidence is halved: nobody is to take such a cell on trust.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.answer import Alternative
from armka.services.scanning_system.reading import engine
from armka.services.scanning_system.reading.marks import ends_amount, is_strict, likely, tidy
from armka.services.scanning_system.reading.tables import Sheet, Slot

_SURE = 0.9
_LARGER = 1.1
_GAP = 32
_MARGIN = 8
_DARK = 128
_DARK_MIN = 30
_DIGIT_HEIGHT_MIN = 17
_DOUBT = 0.5
_INSET = 4
_SPACE = 26  # pixels: a space between digits is narrower, a gap between columns wider
_TORN = 0.3


@dataclass(frozen=True)
class _Strip:
    """Cells of a table, one below the other."""

    picture: NDArray[np.uint8]
    slots: list[Slot]
    edges: list[int]  # where each ends


def reread(sheet: Sheet, clean: NDArray[np.uint8], tessdata: str) -> None:
    """Read the amounts of a table a second time; without another model, those in doubt."""
    for slot in amounts(sheet):
        slot.text = tidy(slot.text)
    torn = [] if sheet.grid.bordered else _torn(amounts(sheet), clean)
    language = engine.second(tessdata)
    is_other = language != engine.LANGUAGE
    chosen = [it for it in amounts(sheet) if _is_read_again(it, clean, all_of_them=is_other)]
    strip = _strip(chosen, clean)
    if strip is not None:
        _read_strip(strip, tessdata, language)
    for slot in torn:
        slot.confidence = min(slot.confidence or 0.0, _TORN)


def _read_strip(strip: _Strip, tessdata: str, language: str) -> None:
    second: dict[int, list[engine.Read]] = {}
    for read in engine.read(strip.picture, tessdata, language):
        middle = (read.letters[0].top + read.letters[0].bottom) / 2
        second.setdefault(int(np.searchsorted(strip.edges, middle)), []).append(read)
    for index, slot in enumerate(strip.slots):
        words = sorted(second.get(index, []), key=lambda it: it.letters[0].left)
        text = tidy(" ".join(word.text for word in words))
        decide(slot, text, round(min((it.confidence for it in words), default=0.0), 3))


def amounts(sheet: Sheet) -> list[Slot]:
    """The cells below the header in columns of amounts."""
    columns, first = sheet.amount_columns(), sheet.first_amount_row()
    return [
        slot
        for slot in sheet.slots
        if slot.span.columns == 1 and slot.span.column in columns and slot.span.row >= first
    ]


def decide(slot: Slot, second: str, confidence: float) -> None:
    """Settle a cell between what was read first and what was read now."""
    first, before = slot.text, slot.confidence or 0.0
    if not first and not second:
        slot.confidence = 0.0  # there is ink, and nobody could read it
    elif first == second:
        slot.confidence = max(before, confidence)
    elif _digits(first) == _digits(second) and (is_strict(first) or is_strict(second)):
        slot.text = first if is_strict(first) else second
        slot.confidence = before if is_strict(first) else min(before, confidence)
    else:
        _differ(slot, second, confidence)
    if not is_strict(slot.text) and is_strict(likely(slot.text)):
        _propose(slot, likely(slot.text), None)


def _differ(slot: Slot, second: str, confidence: float) -> None:
    first, before = slot.text, slot.confidence or 0.0
    if is_strict(second) and (not is_strict(first) or _is_better(second, confidence, slot)):
        slot.text = second
        _propose(slot, first, before)
    else:
        _propose(slot, second, confidence)
    slot.confidence = round(min(before, confidence) * _DOUBT, 3)


def _is_better(second: str, confidence: float, slot: Slot) -> bool:
    """Of two amounts: the second model takes fewer digits for others, but both may lose one."""
    if len(_digits(second)) == len(_digits(slot.text)):
        return True
    return confidence > (slot.confidence or 0.0)


def _digits(text: str) -> str:
    return "".join(it for it in text if it.isdigit())


def _propose(slot: Slot, text: str, confidence: float | None) -> None:
    if text and all(it.text != text for it in slot.alternatives):
        slot.alternatives.append(Alternative(text, confidence))


def _is_read_again(slot: Slot, clean: NDArray[np.uint8], *, all_of_them: bool) -> bool:
    if not slot.text:
        return _has_ink(slot, clean)
    return all_of_them or not is_strict(slot.text) or (slot.confidence or 0.0) < _SURE


def _torn(cells: list[Slot], clean: NDArray[np.uint8]) -> list[Slot]:
    """The amounts that guessed edges may have torn; all, where an edge was missed: two amounts in
    one cell.
    """
    if any(sum(ends_amount(mark.text) for mark in it.marks) > 1 for it in cells):
        return cells
    return [it for it in cells if _is_torn(it, clean)]


def _is_torn(slot: Slot, clean: NDArray[np.uint8]) -> bool:
    """Whether something stands so near before an amount that it may be the amount's beginning, on
    the other side of an edge that nobody drew.
    """
    cell = _inside(slot, clean)
    inked = np.flatnonzero((cell < _DARK).any(axis=0)) if cell.size else np.zeros(0, int)
    if not inked.size:
        return False
    left = max(round(slot.box.left) + _INSET, 0)
    first, top = left + int(inked[0]), round(slot.box.top) + _INSET
    before = clean[top : top + cell.shape[0], max(first - _SPACE, 0) : max(first - 2, 0)]
    return first - _SPACE < left and bool((before < _DARK).sum() > _DARK_MIN)


def _inside(slot: Slot, clean: NDArray[np.uint8]) -> NDArray[np.uint8]:
    left, top, right, bottom = (round(it) for it in slot.box)
    return clean[max(top + _INSET, 0) : bottom - _INSET, max(left + _INSET, 0) : right - _INSET]


def _has_ink(slot: Slot, clean: NDArray[np.uint8]) -> bool:
    """Whether there is a piece of ink as large as a digit."""
    cell = _inside(slot, clean)
    if not cell.size:
        return False
    mask = (cell < _DARK).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    return bool(((stats[1:, 3] > _DIGIT_HEIGHT_MIN) & (stats[1:, 4] > _DARK_MIN)).any())


def _strip(slots: list[Slot], clean: NDArray[np.uint8]) -> _Strip | None:
    cells = [(slot, crop) for slot in slots if (crop := _cropped(slot, clean)) is not None]
    if not cells:
        return None
    width = max(crop.shape[1] for _, crop in cells) + 2 * _MARGIN
    rows, edges, bottom = [], [], 0
    for _, crop in cells:
        row = np.full((crop.shape[0] + _GAP, width), 255, np.uint8)
        row[_GAP // 2 : _GAP // 2 + crop.shape[0], _MARGIN : _MARGIN + crop.shape[1]] = crop
        rows.append(row)
        bottom += row.shape[0]
        edges.append(bottom)
    return _Strip(np.vstack(rows), [slot for slot, _ in cells], edges)


def _cropped(slot: Slot, clean: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    cell = _inside(slot, clean)
    dark = cell < _DARK
    if not dark.any():
        return None
    ys, xs = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    cell = cell[max(ys[0] - 3, 0) : ys[-1] + 4, max(xs[0] - 3, 0) : xs[-1] + 4]
    larger = cv2.resize(cell, None, fx=_LARGER, fy=_LARGER, interpolation=cv2.INTER_CUBIC)
    return np.asarray(larger, np.uint8)
