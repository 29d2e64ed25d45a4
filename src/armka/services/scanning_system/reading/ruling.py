"""The drawn lines of a scan: found in the ink, and painted over before the text is read."""

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.reading.paper import Picture, ink
from armka.services.scanning_system.reading.rules import Rule

# Lines are sought at half the size, where text is about 16 pixels high.
_HALF = 0.5
_DOWN_MIN = 36
_ACROSS_MIN = 52
_THICK_MAX = 22


def find(picture: Picture) -> tuple[list[Rule], list[Rule], NDArray[np.bool_]]:
    """Lines across, lines down, and where their ink is; the text is about 32 pixels high."""
    half = cv2.resize(picture, None, fx=_HALF, fy=_HALF, interpolation=cv2.INTER_AREA)
    mask = ink(np.asarray(half, np.uint8))
    across = _opened(mask, (_ACROSS_MIN, 1), (1, 3))
    down = _opened(mask, (1, _DOWN_MIN), (3, 1))
    both = cv2.bitwise_or(across, down)
    size = (picture.shape[1], picture.shape[0])
    covered = cv2.resize(both, size, interpolation=cv2.INTER_NEAREST) > 0
    return _rules(across, is_across=True), _rules(down, is_across=False), np.asarray(covered)


def without(picture: Picture, covered: NDArray[np.bool_]) -> Picture:
    """The picture with its lines painted white."""
    clean = picture.copy()
    clean[covered] = 255
    return clean


def _opened(mask: Picture, run: tuple[int, int], thicker: tuple[int, int]) -> Picture:
    """Ink that runs straight for so long; made thicker first, since a line may drift a little."""
    thick = cv2.dilate(mask, np.ones((thicker[1], thicker[0]), np.uint8))
    found = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones((run[1], run[0]), np.uint8))
    return np.asarray(found, np.uint8)


def _rules(mask: Picture, *, is_across: bool) -> list[Rule]:
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    rules = []
    for contour in contours:
        left, top, width, height = cv2.boundingRect(contour)
        thickness = height if is_across else width
        if thickness > _THICK_MAX:
            continue
        if is_across:
            rules.append(_full_size(top + height / 2, left, left + width))
        else:
            rules.append(_full_size(left + width / 2, top, top + height))
    return rules


def _full_size(at: float, start: float, end: float) -> Rule:
    return Rule(at / _HALF, start / _HALF, end / _HALF)
