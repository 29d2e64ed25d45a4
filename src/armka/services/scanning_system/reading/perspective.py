"""How a page leans, and from where it was taken.

Horizontal lines of a page that was photographed from aside meet in one point, upright lines in
another; the page is right again once both points lie at infinity. Lines are those that are drawn,
else the edges of the paper; where there are neither, lines of text tell how the page leans.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system.reading.paper import Matrix, Picture, ink, reduced

_SLIGHT = 1.0  # pixel at a corner
_STEEP = 12.0  # degrees off an axis that a line may be
_FIT_ROUNDS = 6
_DRAWN = 0.15  # of half the page's longer side, as all lengths here
_LINES_LENGTH_MIN = 1.5  # all lines together
_UPRIGHT_LENGTH_MIN = 1.0


def rectification(grey: Picture, edges: NDArray[np.float64]) -> tuple[Matrix, float]:
    """The matrix that puts a page right, and by how many degrees it leans; `edges` of the paper."""
    small, scale = reduced(grey)
    height, width = small.shape
    half = max(width, height) / 2
    # Coordinates around the middle, about one in size.
    inner = np.array(
        [[1 / half, 0, -width / 2 / half], [0, 1 / half, -height / 2 / half], [0, 0, 1]]
    )
    segments = _segments(small)
    across = _across(segments, edges * scale, inner)
    if across is None:
        lean = np.radians(_lean(small))
        across = np.array([np.cos(lean), np.sin(lean), 0.0])
    down = _down(segments, edges * scale, inner, np.array([-across[1], across[0], 0.0]))
    back = np.column_stack(
        [across / np.hypot(*across[:2]), down / np.hypot(*down[:2]), [0.0, 0.0, 1.0]]
    )
    reduce = np.diag([scale, scale, 1.0])
    there = np.linalg.inv(inner @ reduce) @ np.linalg.inv(back) @ inner @ reduce
    if _moves(there, grey.shape) < _SLIGHT:
        return np.eye(3), 0.0
    skew = float(np.degrees(np.arctan2(across[1], across[0])))
    return there / there[2, 2], round(skew, 2)


def _across(
    drawn: NDArray[np.float64], edges: NDArray[np.float64], inner: Matrix
) -> NDArray[np.float64] | None:
    right = np.array([1.0, 0.0, 0.0])
    for segments in (drawn, edges):
        family = _family(segments, inner, 0.0)
        if _long_enough(family, _LINES_LENGTH_MIN):
            return _meeting(family, right)
    return None


def _down(
    drawn: NDArray[np.float64],
    edges: NDArray[np.float64],
    inner: Matrix,
    square: NDArray[np.float64],
) -> NDArray[np.float64]:
    for segments in (drawn, edges):
        family = _family(segments, inner, 90.0)
        if _long_enough(family, _UPRIGHT_LENGTH_MIN):
            return _meeting(family, square)
    return square


def _lean(grey: Picture) -> float:
    """By how many degrees lines of text lean: turned back, they leave the whitest gaps."""
    mask = ink(grey)
    half = np.asarray(
        cv2.resize(mask, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8
    )
    coarse = max(np.arange(-3.0, 3.01, 0.5), key=lambda it: _contrast(half, it))
    fine = np.arange(coarse - 0.45, coarse + 0.46, 0.05)
    return float(max(fine, key=lambda it: _contrast(mask, it)))


def _contrast(mask: cv2.typing.MatLike, degrees: float) -> float:
    height, width = mask.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    turned = cv2.warpAffine(mask, turn, (width, height), flags=cv2.INTER_LINEAR)
    profile = np.asarray(cv2.reduce(turned, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32F)).ravel()
    return float((np.diff(profile) ** 2).sum())


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
    """Whether these are drawn lines, and not strokes of letters."""
    return bool(family[family[:, 3] > _DRAWN, 3].sum() > least)


def _meeting(family: NDArray[np.float64], toward: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the lines meet, by least squares; lines that miss the point lose their weight."""
    lines, longer = family[:, :3], family[:, 3] ** 2
    weight = longer.copy()
    point = toward
    for _ in range(_FIT_ROUNDS):
        scatter = (lines * weight[:, None]).T @ lines
        # A slight pull to infinity: a scan that lies flat has no such point.
        scatter += np.diag([0.0, 0.0, 1e-4 * weight.sum()])
        _, vectors = np.linalg.eigh(scatter)
        point = vectors[:, 0]
        miss = np.abs(lines @ point)
        weight = longer / (1 + (miss / 0.004) ** 2)
    return point if point @ toward >= 0 else -point
