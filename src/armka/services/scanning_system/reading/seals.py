"""Coloured seals and stamps are taken off the page before it is made grey.

Only what is large and of one colour counts as a seal: amounts printed in red are text.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

_QUARTER = 0.25
_COLOURED = 48  # difference between the strongest and the weakest channel
_LARGE = 0.035  # of the page's longer side, both ways
_HUE_NEAR = 16  # of 180
_TINTED = 26
_BEYOND = 0.05


def without_seals(picture: Picture) -> Picture:
    """The page in grey, its seals faded to paper; black under a seal stays black."""
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8)
    small: Picture = np.asarray(
        cv2.resize(picture, None, fx=_QUARTER, fy=_QUARTER, interpolation=cv2.INTER_AREA), np.uint8
    )
    tint = _tint(small)
    mask = cv2.dilate((tint > _COLOURED).astype(np.uint8), np.ones((3, 3), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    least = max(small.shape) * _LARGE
    for index in np.flatnonzero((stats[1:, 2] > least) & (stats[1:, 3] > least)) + 1:
        hue = _hue(small)[(labels == index) & (tint > _COLOURED)]
        _fade(grey, picture, stats[index], float(np.median(hue)))
    return grey


def _tint(picture: Picture) -> NDArray[np.int16]:
    red, green, blue = cv2.split(picture)
    most = cv2.max(cv2.max(red, green), blue)
    least = cv2.min(cv2.min(red, green), blue)
    return np.asarray(most, np.int16) - np.asarray(least, np.int16)


def _hue(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2HSV)[..., 0], np.uint8)


def _fade(grey: Picture, picture: Picture, box: NDArray[np.int32], hue: float) -> None:
    left, top, width, height = (round(int(it) / _QUARTER) for it in box[:4])
    more = round(max(width, height) * _BEYOND)
    rows = slice(max(top - more, 0), top + height + more)
    columns = slice(max(left - more, 0), left + width + more)
    part = picture[rows, columns]
    tint = _tint(part)
    off = np.abs((_hue(part).astype(np.float32) - hue + 90) % 180 - 90)
    seal = (tint > _TINTED) & (off < _HUE_NEAR)
    faded = np.clip(part.max(axis=2).astype(np.int16) + tint, 0, 255).astype(np.uint8)
    grey[rows, columns][seal] = faded[seal]
