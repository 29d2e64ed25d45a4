"""Every amount is read a second time, by another model of the engine, one below the other.

One model takes a digit of some font for another and is sure of it; two rarely do so in the same
place. Readings that agree are as sure as the surer one. Where they differ, both models read the
cell again at other sizes, and what most of them say stands; the rest become proposals, and the
confidence is halved: nobody is to take such a cell on trust.
"""

from collections import defaultdict

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.answer import Alternative
from armka.services.scanning_system.reading import engine
from armka.services.scanning_system.reading.marks import ends_amount, is_strict, likely, tidy
from armka.services.scanning_system.reading.strips import DARK, INSET, Reading, inside, strip_of
from armka.services.scanning_system.reading.tables import Sheet, Slot

_SURE = 0.9
_SIZE = 0.8
_OTHER_SIZES = ((True, 1.1), (True, 0.65), (False, 0.65))  # of the other model, of the first one
_DARK_MIN = 30
_DIGIT_HEIGHT_MIN = 17
_DOUBT = 0.5
_SPACE = 26  # pixels: a space between digits is narrower, a gap between columns wider
_TORN = 0.3


def reread(sheet: Sheet, clean: NDArray[np.uint8], tessdata: str) -> None:
    """Read the amounts of a table a second time; without another model, those in doubt."""
    for slot in amounts(sheet):
        slot.text = tidy(slot.text)
    torn = [] if sheet.grid.bordered else _torn(amounts(sheet), clean)
    second = engine.second(tessdata)
    is_other = second != engine.LANGUAGE
    chosen = [it for it in amounts(sheet) if _is_read_again(it, clean, all_of_them=is_other)]
    seconds = _read(chosen, clean, tessdata, second, _SIZE)
    disputed = [
        (slot, reading)
        for slot, reading in zip(chosen, seconds, strict=True)
        if not decide(slot, reading)
    ]
    _settle(disputed, clean, tessdata)
    for slot in torn:
        slot.confidence = min(slot.confidence or 0.0, _TORN)


def _read(
    slots: list[Slot], clean: NDArray[np.uint8], tessdata: str, language: str, size: float
) -> list[Reading]:
    strip = strip_of([slot.box for slot in slots], clean)
    return [] if strip is None else strip.read(size, tessdata, language)


def _settle(disputed: list[tuple[Slot, Reading]], clean: NDArray[np.uint8], tessdata: str) -> None:
    slots = [slot for slot, _ in disputed]
    more = [
        _read(slots, clean, tessdata, engine.second(tessdata) if other else engine.LANGUAGE, size)
        for other, size in _OTHER_SIZES
    ]
    for index, (slot, second) in enumerate(disputed):
        vote(slot, [second, *(readings[index] for readings in more)])


def amounts(sheet: Sheet) -> list[Slot]:
    """The cells below the header in columns of amounts."""
    columns, first = sheet.amount_columns(), sheet.first_amount_row()
    return [
        slot
        for slot in sheet.slots
        if slot.span.columns == 1 and slot.span.column in columns and slot.span.row >= first
    ]


def decide(slot: Slot, second: Reading) -> bool:
    """Settle a cell whose second reading says the same as the first; else False."""
    first, before = slot.text, slot.confidence or 0.0
    if not first and not second.text:
        slot.confidence = 0.0  # there is ink, and nobody could read it
    elif first == second.text:
        slot.confidence = max(before, second.confidence)
    elif _digits(first) == _digits(second.text) and (is_strict(first) or is_strict(second.text)):
        slot.text = first if is_strict(first) else second.text
        slot.confidence = before if is_strict(first) else min(before, second.confidence)
    else:
        return False
    _propose_likely(slot)
    return True


def vote(slot: Slot, more: list[Reading]) -> None:
    """Settle a cell whose second reading, the first of `more`, says something else: the amount that
    most readings have stands, of equals the one read most surely.
    """
    readings = [Reading(slot.text, slot.confidence or 0.0), *more]
    votes: dict[str, list[float]] = defaultdict(list)
    for text, confidence in readings:
        if is_strict(text):
            votes[text].append(confidence)
    ranked = sorted(votes, key=lambda text: (len(votes[text]), sum(votes[text])), reverse=True)
    if ranked:
        slot.text = ranked[0]
    slot.confidence = round(min(it.confidence for it in readings[:2]) * _DOUBT, 3)
    _propose(slot, [Alternative(it, max(votes[it])) for it in ranked[1:]])
    _propose(slot, [Alternative(*it) for it in readings[:2]])
    _propose_likely(slot)


def _propose_likely(slot: Slot) -> None:
    if not is_strict(slot.text) and is_strict(likely(slot.text)):
        _propose(slot, [Alternative(likely(slot.text), None)])


def _digits(text: str) -> str:
    return "".join(it for it in text if it.isdigit())


def _propose(slot: Slot, others: list[Alternative]) -> None:
    for other in others:
        if other.text not in ("", slot.text, *(it.text for it in slot.alternatives)):
            slot.alternatives.append(other)


def _is_read_again(slot: Slot, clean: NDArray[np.uint8], *, all_of_them: bool) -> bool:
    if not slot.text:
        return _has_ink(slot, clean)
    return all_of_them or not is_strict(slot.text) or (slot.confidence or 0.0) < _SURE


def _torn(cells: list[Slot], clean: NDArray[np.uint8]) -> list[Slot]:
    """The amounts that guessed edges may have torn; all, where an edge was missed: two amounts in
    one cell.
    """
    torn = []
    for cell in cells:
        start = _start(cell, clean)
        if start is not None:
            cell.box = cell.box._replace(left=start - INSET - 1.0)
            torn.append(cell)
    are_two = any(sum(ends_amount(mark.text) for mark in it.marks) > 1 for it in cells)
    return cells if are_two else torn


def _start(slot: Slot, clean: NDArray[np.uint8]) -> int | None:
    """Where an amount begins whose beginning may be on the other side of an edge that nobody drew:
    something stands there, no further off than a space. None where nothing does.
    """
    cell = inside(slot.box, clean)
    inked = np.flatnonzero((cell < DARK).any(axis=0)) if cell.size else np.zeros(0, int)
    left, top = max(round(slot.box.left) + INSET, 0), round(slot.box.top) + INSET
    if not inked.size or inked[0] >= _SPACE:
        return None
    first = left + int(inked[0])
    before = clean[top : top + cell.shape[0], :first] < DARK
    if before[:, max(first - _SPACE, 0) : max(first - 2, 0)].sum() <= _DARK_MIN:
        return None
    for x in reversed(np.flatnonzero(before.any(axis=0))):
        if first - x > _SPACE:
            break
        first = int(x)
    return first


def _has_ink(slot: Slot, clean: NDArray[np.uint8]) -> bool:
    """Whether there is a piece of ink as large as a digit."""
    cell = inside(slot.box, clean)
    if not cell.size:
        return False
    mask = (cell < DARK).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    return bool(((stats[1:, 3] > _DIGIT_HEIGHT_MIN) & (stats[1:, 4] > _DARK_MIN)).any())
