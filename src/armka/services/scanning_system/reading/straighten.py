"""A page is turned upright, put right, and brought to the size at which its text is read best."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.reading.paper import Matrix, Paper, Picture, ink, reduced
from armka.services.scanning_system.reading.perspective import rectification

_ASPECT = 2.5
TEXT_HEIGHT = 32.0
_SCALES = (0.35, 3.5)
_GLYPH_HEIGHTS = (6, 90)


@dataclass(frozen=True)
class Straight:
    """An upright page, `scale` times as large as it came, its text about 32 pixels high.

    `transform` leads from pixels of the page as it came to those of the upright page at its size.
    """

    picture: Picture
    scale: float
    transform: Matrix
    size: tuple[int, int]
    skew: float
    rotation: int


def straighten(paper: Paper, *, upside_down: bool = False) -> Straight:
    """Turn the page upright and bring its text to one size."""
    grey = paper.grey
    rotation = 90 if _lies(grey) else 0
    rotation = (rotation + (180 if upside_down else 0)) % 360
    turned = np.ascontiguousarray(np.rot90(grey, -rotation // 90 % 4))
    height, width = turned.shape
    quarter = _quarter(rotation, width, height)
    rectify, skew = rectification(turned, _turned(paper.edges, quarter))
    scale = _scale(turned)
    warped = _warped(turned, rectify, scale)
    return Straight(warped, scale, rectify @ quarter, (width, height), skew, rotation)


def _warped(grey: Picture, rectify: Matrix, scale: float) -> Picture:
    """Rectified and enlarged at once: each pixel is computed from the original ones."""
    height, width = grey.shape
    size = (round(width * scale), round(height * scale))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    if np.array_equal(rectify, np.eye(3)):
        return np.asarray(cv2.resize(grey, size, interpolation=how), np.uint8)
    enlarge = np.diag([scale, scale, 1.0])
    warped = cv2.warpPerspective(grey, enlarge @ rectify, size, flags=how, borderValue=255)
    return np.asarray(warped, np.uint8)


def _turned(edges: NDArray[np.float64], quarter: Matrix) -> NDArray[np.float64]:
    points = np.column_stack([edges.reshape(-1, 2), np.ones(len(edges) * 2)]) @ quarter.T
    return points[:, :2].reshape(-1, 4)


def _quarter(rotation: int, width: int, height: int) -> Matrix:
    turns = {
        0: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        90: [[0, -1, width], [1, 0, 0], [0, 0, 1]],
        180: [[-1, 0, width], [0, -1, height], [0, 0, 1]],
        270: [[0, 1, 0], [-1, 0, height], [0, 0, 1]],
    }
    return np.array(turns[rotation], np.float64)


def _glyph_height(mask: Picture, least: int = 20) -> float | None:
    """How high digits and capitals are: most pieces of ink are letters."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    heights, widths, areas = stats[1:, 3], stats[1:, 2], stats[1:, 4]
    low, high = _GLYPH_HEIGHTS
    letters = (heights >= low) & (heights <= high) & (widths < heights * 1.6) & (widths > 1)
    letters &= areas > heights
    if letters.sum() < least:
        return None
    return float(np.percentile(heights[letters], 65))


def _scale(grey: Picture) -> float:
    """By how much to enlarge; the middle of the page tells it, where enough is written there."""
    high, wide = grey.shape
    middle = grey[high // 4 : high * 3 // 4, wide // 4 : wide * 3 // 4]
    height = _glyph_height(ink(middle), least=100) or _glyph_height(ink(grey))
    return 1.0 if height is None else float(np.clip(TEXT_HEIGHT / height, *_SCALES))


def _lies(grey: Picture) -> bool:
    """Whether lines of text run up or down the page."""
    small, _ = reduced(grey)
    mask = ink(small)
    height = _glyph_height(mask) or 10.0
    reach = max(round(height * 0.45), 3)
    return _long(mask, (1, reach), along=1) > 1.3 * _long(mask, (reach, 1), along=0)


def _long(mask: Picture, kernel: tuple[int, int], along: int) -> float:
    closed = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((kernel[1], kernel[0]), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(np.asarray(closed), connectivity=8)
    wide, high = stats[1:, 2].astype(float), stats[1:, 3].astype(float)
    length, across = (high, wide) if along == 1 else (wide, high)
    words = (length > across * _ASPECT) & (across > 5) & (length < max(mask.shape) / 4)
    return float(length[words].sum())
