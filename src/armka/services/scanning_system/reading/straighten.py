"""A scan or a photograph is made grey, even and upright.

Where the page leans or was taken from aside, its horizontal lines meet in one point and its upright
ones in another; the picture is warped so that both points lie at infinity.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.reading.seals import without_seals

Picture = NDArray[np.uint8]
Matrix = NDArray[np.float64]

_WORK_PIXELS = 1000
_SLIGHT = 1.0  # pixel at a corner
_STEEP = 12.0  # degrees off an axis that a line may be
_FIT_ROUNDS = 6
_LINES_LENGTH_MIN = 1.5  # of the page's side, all lines together
_UPRIGHT_LENGTH_MIN = 1.0
_ASPECT = 2.5
TEXT_HEIGHT = 26.0
_SCALES = (0.35, 3.5)
_GLYPH_HEIGHTS = (6, 90)


@dataclass(frozen=True)
class Straight:
    """An upright page, `scale` times as large as it came, its text about 26 pixels high.

    `transform` leads from pixels of the page as it came to those of the upright page at its size.
    """

    picture: Picture
    scale: float
    transform: Matrix
    size: tuple[int, int]
    skew: float
    rotation: int


def even_grey(picture: Picture) -> Picture:
    """Grey, with the light evened out."""
    grey = without_seals(picture)
    small = cv2.resize(grey, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA)
    paper = cv2.medianBlur(cv2.dilate(small, np.ones((5, 5), np.uint8)), 21)
    paper = cv2.resize(paper, (grey.shape[1], grey.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.divide(grey, np.maximum(paper, 1), scale=255), np.uint8)


def ink(grey: Picture, window: int = 31) -> Picture:
    """Ink is 255, paper 0."""
    return np.asarray(
        cv2.adaptiveThreshold(
            255 - grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, window, -14
        ),
        np.uint8,
    )


def straighten(grey: Picture, *, upside_down: bool = False) -> Straight:
    """Turn the page upright and bring its text to one size."""
    rotation = 90 if _lies(grey) else 0
    rotation = (rotation + (180 if upside_down else 0)) % 360
    turned = np.ascontiguousarray(np.rot90(grey, -rotation // 90 % 4))
    height, width = turned.shape
    rectify, skew = _rectification(turned)
    scale = _scale(turned)
    warped = _warped(turned, rectify, scale)
    quarter = _quarter(rotation, width, height)
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


def _quarter(rotation: int, width: int, height: int) -> Matrix:
    turns = {
        0: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        90: [[0, -1, width], [1, 0, 0], [0, 0, 1]],
        180: [[-1, 0, width], [0, -1, height], [0, 0, 1]],
        270: [[0, 1, 0], [-1, 0, height], [0, 0, 1]],
    }
    return np.array(turns[rotation], np.float64)


def _reduced(grey: Picture) -> tuple[Picture, float]:
    scale = min(_WORK_PIXELS / max(grey.shape), 1.0)
    if scale == 1.0:
        return grey, scale
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), scale


def _glyph_height(mask: Picture) -> float | None:
    """How high digits and capitals are: most pieces of ink are letters."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    heights, widths, areas = stats[1:, 3], stats[1:, 2], stats[1:, 4]
    low, high = _GLYPH_HEIGHTS
    letters = (heights >= low) & (heights <= high) & (widths < heights * 1.6) & (widths > 1)
    letters &= areas > heights
    if letters.sum() < 20:
        return None
    return float(np.percentile(heights[letters], 65))


def _scale(grey: Picture) -> float:
    height = _glyph_height(ink(grey))
    return 1.0 if height is None else float(np.clip(TEXT_HEIGHT / height, *_SCALES))


def _lies(grey: Picture) -> bool:
    """Whether lines of text run up or down the page."""
    small, _ = _reduced(grey)
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


def _rectification(grey: Picture) -> tuple[Matrix, float]:
    small, scale = _reduced(grey)
    height, width = small.shape
    half = max(width, height) / 2
    # Coordinates around the middle, about one in size.
    inner = np.array(
        [[1 / half, 0, -width / 2 / half], [0, 1 / half, -height / 2 / half], [0, 0, 1]]
    )
    segments = _segments(small)
    flat = _family(segments, inner, 0.0)
    upright = _family(segments, inner, 90.0)
    across = _meeting(flat, np.array([1.0, 0.0, 0.0])) if _long_enough(flat, 1.5) else None
    if across is None:
        return np.eye(3), 0.0
    square = np.array([-across[1], across[0], 0.0])
    down = _meeting(upright, square) if _long_enough(upright, _UPRIGHT_LENGTH_MIN) else square
    back = np.column_stack(
        [across / np.hypot(*across[:2]), down / np.hypot(*down[:2]), [0.0, 0.0, 1.0]]
    )
    reduce = np.diag([scale, scale, 1.0])
    there = np.linalg.inv(inner @ reduce) @ np.linalg.inv(back) @ inner @ reduce
    if _moves(there, grey.shape) < _SLIGHT:
        return np.eye(3), 0.0
    skew = float(np.degrees(np.arctan2(across[1], across[0])))
    return there / there[2, 2], round(skew, 2)


def _moves(there: Matrix, shape: tuple[int, ...]) -> float:
    """By how many pixels the corner moves that moves most."""
    height, width = shape[:2]
    corners = np.array([[[0, 0], [width, 0], [0, height], [width, height]]], np.float64)
    return float(np.abs(cv2.perspectiveTransform(corners, there) - corners).max())


def _segments(grey: Picture) -> NDArray[np.float64]:
    """Straight pieces of ink: x, y, x, y of their ends."""
    found: object = cv2.createLineSegmentDetector().detect(grey)[0]  # None where there are none
    return np.asarray([] if found is None else found, np.float64).reshape(-1, 4)


def _family(segments: NDArray[np.float64], inner: Matrix, degrees: float) -> NDArray[np.float64]:
    """Lines near an axis: a, b, c with a x + b y + c = 0, a and b of length one; and how long."""
    if not len(segments):
        return np.zeros((0, 4))
    first = (inner @ np.column_stack([segments[:, :2], np.ones(len(segments))]).T).T
    last = (inner @ np.column_stack([segments[:, 2:], np.ones(len(segments))]).T).T
    run = last - first
    length = np.hypot(run[:, 0], run[:, 1])
    angle = np.degrees(np.arctan2(run[:, 1], run[:, 0]))
    off = np.abs((angle - degrees + 90) % 180 - 90)
    keep = (off < _STEEP) & (length > 0.05)
    lines = np.cross(first[keep], last[keep])
    lines /= np.maximum(np.hypot(lines[:, 0], lines[:, 1]), 1e-12)[:, None]
    return np.column_stack([lines, length[keep]])


def _long_enough(family: NDArray[np.float64], least: float) -> bool:
    return bool(family[:, 3].sum() > least)


def _meeting(family: NDArray[np.float64], toward: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the lines meet, by least squares; lines that miss the point lose their weight."""
    lines, weight = family[:, :3], family[:, 3].copy()
    point = toward
    for _ in range(_FIT_ROUNDS):
        scatter = (lines * weight[:, None]).T @ lines
        # A slight pull to infinity: a scan that lies flat has no such point.
        scatter += np.diag([0.0, 0.0, 1e-4 * weight.sum()])
        _, vectors = np.linalg.eigh(scatter)
        point = vectors[:, 0]
        miss = np.abs(lines @ point)
        weight = family[:, 3] / (1 + (miss / 0.004) ** 2)
    return point if point @ toward >= 0 else -point
