"""What paper, scanners and telephones do to a page, repeatably."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import pypdfium2
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class Degradation:
    """All off by default. `shadow` 0–1; `jpeg` is a quality; `photo` is how far corners move."""

    skew: float = 0.0
    blur: float = 0.0
    noise: float = 0.0
    shadow: float = 0.0
    faint: float = 0.0
    jpeg: int | None = None
    stamp: bool = False
    photo: float = 0.0
    turned: int = 0  # quarter turns clockwise


def rasterise(pdf: bytes, dpi: int, pages: Sequence[int] | None = None) -> list[Picture]:
    """Draw pages as RGB pictures."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        wanted = range(len(document)) if pages is None else pages
        return [
            np.ascontiguousarray(
                document[n].render(scale=dpi / 72, rev_byteorder=True).to_numpy()[..., :3]
            )
            for n in wanted
        ]
    finally:
        document.close()


def degrade(picture: Picture, how: Degradation, seed: int) -> Picture:
    """Spoil a page."""
    random = np.random.default_rng(seed)
    spoilt = picture
    if how.stamp:
        spoilt = _stamped(spoilt, random)
    if how.faint:
        spoilt = _clipped(255 - (255 - spoilt.astype(np.float32)) * (1 - how.faint))
    if how.photo:
        spoilt = _photographed(spoilt, how.photo, random)
    if how.skew:
        spoilt = _skewed(spoilt, how.skew)
    if how.shadow:
        spoilt = _shadowed(spoilt, how.shadow, random)
    if how.blur:
        spoilt = np.asarray(cv2.GaussianBlur(spoilt, (0, 0), how.blur), np.uint8)
    if how.noise:
        noise = random.normal(0, how.noise, spoilt.shape[:2]).astype(np.float32)[..., None]
        spoilt = _clipped(spoilt.astype(np.float32) + noise)
    if how.turned:
        spoilt = np.ascontiguousarray(np.rot90(spoilt, -how.turned))
    if how.jpeg is not None:
        spoilt = decode(encode(spoilt, ".jpg", how.jpeg))
    return spoilt


def encode(picture: Picture, suffix: str, quality: int = 90) -> bytes:
    """As a PNG or JPG file."""
    parameters = [cv2.IMWRITE_JPEG_QUALITY, quality] if suffix == ".jpg" else []
    done, data = cv2.imencode(suffix, picture[..., ::-1], parameters)
    assert done
    return data.tobytes()


def decode(data: bytes) -> Picture:
    """Read a PNG or JPG file."""
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return np.ascontiguousarray(picture[..., ::-1]).astype(np.uint8)


def _clipped(values: NDArray[np.floating]) -> Picture:
    return np.asarray(np.clip(values, 0, 255), np.uint8)


def _skewed(picture: Picture, degrees: float) -> Picture:
    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    turned = cv2.warpAffine(
        picture, turn, (width, height), flags=cv2.INTER_CUBIC, borderValue=(255, 255, 255)
    )
    return np.asarray(turned, np.uint8)


def _shadowed(picture: Picture, depth: float, random: np.random.Generator) -> Picture:
    height, width = picture.shape[:2]
    x, y = np.linspace(0, 1, width), np.linspace(0, 1, height)
    angle = random.uniform(0, 2 * np.pi)
    slope = np.cos(angle) * x[None, :] + np.sin(angle) * y[:, None]
    slope = (slope - slope.min()) / np.ptp(slope)
    return _clipped((picture * (1 - depth * slope[..., None])).astype(np.float32))


def _stamped(picture: Picture, random: np.random.Generator) -> Picture:
    """A round blue seal over the figures."""
    height, width = picture.shape[:2]
    ink = np.full_like(picture, 255)
    centre = (int(width * random.uniform(0.45, 0.8)), int(height * random.uniform(0.3, 0.6)))
    radius = int(width * 0.09)
    blue = (70, 80, 190)
    thick = max(2, width // 400)
    cv2.circle(ink, centre, radius, blue, thick * 2)
    cv2.circle(ink, centre, int(radius * 0.7), blue, thick)
    where = (centre[0] - int(radius * 0.6), centre[1])
    cv2.putText(ink, "OOO POMALIIKA", where, cv2.FONT_HERSHEY_SIMPLEX, width / 4000, blue, thick)
    return _clipped(picture.astype(np.float32) * ink / 255)


def _photographed(picture: Picture, move: float, random: np.random.Generator) -> Picture:
    """Laid on a dark desk and taken from aside, in uneven light."""
    height, width = picture.shape[:2]
    around = int(width * 0.06)
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    moved = corners + random.uniform(-move, move, (4, 2)).astype(np.float32) * width + around
    turn = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    taken = cv2.warpPerspective(
        picture,
        turn,
        (width + 2 * around, height + 2 * around),
        flags=cv2.INTER_AREA,
        borderValue=(72, 84, 96),
    )
    return _shadowed(np.asarray(taken, np.uint8), 0.3, random)
