"""A small picture of a page that was read, so that a person can hold the values against it."""

import cv2

from armka.services.scanning_system.answer import Preview
from armka.services.scanning_system.reading.paper import Picture

MOST_PAGES = 50  # of a document: an answer must stay one that can be fetched
MOST_BYTES = 160 * 1024
_TRIES = ((1600, 40), (1600, 25), (1200, 25), (1000, 20))  # pixels of the long side, quality


def preview_of(upright: Picture, number: int) -> Preview | None:
    """The page as JPEG, at most `MOST_BYTES`; None: it is a later page, or cannot be so small."""
    if number > MOST_PAGES:
        return None
    for long_side, quality in _TRIES:
        shrink = min(long_side / max(upright.shape[:2]), 1.0)
        small = cv2.resize(upright, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        is_made, encoded = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
        if is_made and encoded.nbytes <= MOST_BYTES:
            return Preview("image/jpeg", encoded.tobytes())
    return None
