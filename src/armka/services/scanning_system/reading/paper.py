"""Paper and ink: a picture becomes grey in even light; what lies around the page is left out."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.reading.seals import without_seals

Picture = NDArray[np.uint8]
Matrix = NDArray[np.float64]

_WORK_PIXELS = 1000
_EIGHTH = 0.125
_QUARTER = 0.25
_RIM = (0.08, 0.92)  # of a side, without its corners
_RIM_OFF = 0.06  # of its length: how far the rim may be
_RIM_LEAST = 40  # points
_DESK_SHARES = (0.02, 0.7)
_DESK_CONTRAST = 60.0
_CORNER = 0.02  # of the outline: what is smaller is no corner


@dataclass(frozen=True)
class Paper:
    """A page in grey, and the straight edges of its paper where something else lies around it:
    x, y, x, y of their ends.
    """

    grey: Picture
    edges: NDArray[np.float64]


def paper_of(picture: Picture) -> Paper:
    """Make an RGB picture grey, with the light evened out."""
    grey = without_seals(picture)
    small = cv2.resize(grey, None, fx=_EIGHTH, fy=_EIGHTH, interpolation=cv2.INTER_AREA)
    light = cv2.medianBlur(cv2.dilate(small, np.ones((5, 5), np.uint8)), 21)
    outline = _outline(np.asarray(light, np.uint8))
    light = cv2.resize(light, (grey.shape[1], grey.shape[0]), interpolation=cv2.INTER_LINEAR)
    even = np.asarray(cv2.divide(grey, np.maximum(light, 1), scale=255), np.uint8)
    if outline is None:
        return Paper(even, np.zeros((0, 4)))
    corners = outline / _EIGHTH
    around = np.ones_like(even)
    cv2.fillConvexPoly(around, corners.round().astype(np.int32), 0)
    even[around > 0] = 255
    return Paper(even, _sides(grey, corners))


def _outline(light: Picture) -> NDArray[np.float64] | None:
    """The corners of a page that is much lighter than what lies around it."""
    _, bright = cv2.threshold(light, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    # The light was spread a little over the edge.
    bright = cv2.erode(bright, np.ones((7, 7), np.uint8), borderValue=1)
    contours, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not contours:
        return None
    hull = cv2.convexHull(max(contours, key=cv2.contourArea))
    around = np.ones_like(light)
    cv2.fillConvexPoly(around, hull, 0)
    if not _DESK_SHARES[0] < float(around.mean()) < _DESK_SHARES[1]:
        return None
    if float(light[around == 0].mean()) - float(light[around > 0].mean()) < _DESK_CONTRAST:
        return None
    corners = cv2.approxPolyDP(hull, _CORNER * cv2.arcLength(hull, closed=True), closed=True)
    return np.asarray(corners, np.float64).reshape(-1, 2)


def _sides(grey: Picture, corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sides of an outline as lines through the rim of what is bright: where the light was
    looked at, corners are round.
    """
    small = cv2.resize(grey, None, fx=_QUARTER, fy=_QUARTER, interpolation=cv2.INTER_AREA)
    _, bright = cv2.threshold(small, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    contours, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    rim = np.asarray(max(contours, key=cv2.contourArea), np.float64).reshape(-1, 2) / _QUARTER
    ends = np.hstack([corners, np.roll(corners, -1, axis=0)])
    return np.array([_side(rim, end[:2], end[2:]) for end in ends])


def _side(
    rim: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The line through the rim beside a side, as its two ends; the side, where none is there."""
    run = end - start
    length = float(np.hypot(*run))
    along = run / max(length, 1.0)
    places = (rim - start) @ along / max(length, 1.0)
    off = np.abs((rim - start) @ np.array([-along[1], along[0]]))
    near = rim[(places > _RIM[0]) & (places < _RIM[1]) & (off < length * _RIM_OFF)]
    if len(near) < _RIM_LEAST:
        return np.hstack([start, end])
    x, y, at_x, at_y = cv2.fitLine(near.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
    middle, way = np.array([at_x, at_y], np.float64), np.array([x, y], np.float64) * length / 2
    return np.hstack([middle - way, middle + way])


def ink(grey: Picture, window: int = 31) -> Picture:
    """Ink is 255, paper 0."""
    return np.asarray(
        cv2.adaptiveThreshold(
            255 - grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, window, -14
        ),
        np.uint8,
    )


def reduced(grey: Picture) -> tuple[Picture, float]:
    """A page small enough for a look at the whole of it, and its scale."""
    scale = min(_WORK_PIXELS / max(grey.shape), 1.0)
    if scale == 1.0:
        return grey, scale
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), scale
