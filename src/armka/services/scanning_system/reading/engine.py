"""Tesseract, in the process: lines of text in a grey picture become words and their letters."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import tesserocr
from numpy.typing import NDArray

LANGUAGE = "rus"
SECOND = "eng"  # another model, trained on other pages: it errs elsewhere
_DPI = 300


class Letter(NamedTuple):
    """A letter: its box in pixels of the picture, its confidence from 0 to 1."""

    text: str
    left: int
    top: int
    right: int
    bottom: int
    confidence: float


class Read(NamedTuple):
    """A word with its letters; the confidence is Tesseract's own for the word."""

    letters: list[Letter]
    confidence: float

    @property
    def text(self) -> str:
        """The letters in a row."""
        return "".join(letter.text for letter in self.letters)


@cache
def _api(tessdata: str, language: str) -> tesserocr.PyTessBaseAPI:
    api = tesserocr.PyTessBaseAPI(
        path=tessdata,
        lang=language,
        psm=tesserocr.PSM.SINGLE_BLOCK,
        oem=tesserocr.OEM.LSTM_ONLY,
    )
    # White text on black is not tried: it doubles the time of whatever is hard to read.
    api.SetVariable("tessedit_do_invert", "0")
    return api


def second(tessdata: str) -> str:
    """The model for second readings: the other one where it is installed."""
    return SECOND if (Path(tessdata) / f"{SECOND}.traineddata").is_file() else LANGUAGE


def read(picture: NDArray[np.uint8], tessdata: str, language: str = LANGUAGE) -> list[Read]:
    """Read a picture as one block of text."""
    height, width = picture.shape
    api = _api(tessdata, language)
    api.SetImageBytes(np.ascontiguousarray(picture).tobytes(), width, height, 1, width)
    api.SetSourceResolution(_DPI)
    api.Recognize()
    try:
        return list(_words(api))
    finally:
        api.Clear()


def read_at(
    size: float, picture: NDArray[np.uint8], tessdata: str, language: str = LANGUAGE
) -> list[Read]:
    """Read a picture at another size; the boxes are those of the picture as it came."""
    resized = cv2.resize(picture, None, fx=size, fy=size, interpolation=cv2.INTER_AREA)
    words = read(np.asarray(resized, np.uint8), tessdata, language)
    return [Read([_sized(it, 1 / size) for it in word.letters], word.confidence) for word in words]


def _sized(letter: Letter, factor: float) -> Letter:
    left, top, right, bottom = (round(it * factor) for it in letter[1:5])
    return Letter(letter.text, left, top, right, bottom, letter.confidence)


def _words(api: tesserocr.PyTessBaseAPI) -> Iterator[Read]:
    symbols = api.GetIterator()
    if symbols is None:
        return
    letters: list[Letter] = []
    confidence = 0.0
    while True:
        if symbols.IsAtBeginningOf(tesserocr.RIL.WORD):
            if letters:
                yield Read(letters, confidence)
            letters, confidence = [], 0.0
            if not symbols.Empty(tesserocr.RIL.WORD):
                confidence = symbols.Confidence(tesserocr.RIL.WORD) / 100
        if not symbols.Empty(tesserocr.RIL.SYMBOL):
            letters += _letter(symbols)
        if not symbols.Next(tesserocr.RIL.SYMBOL):
            break
    if letters:
        yield Read(letters, confidence)


def _letter(symbols: tesserocr.PyResultIterator) -> list[Letter]:
    text = symbols.GetUTF8Text(tesserocr.RIL.SYMBOL).strip()
    box = symbols.BoundingBox(tesserocr.RIL.SYMBOL)
    if not text or box is None:
        return []
    left, top, right, bottom = box
    confidence = symbols.Confidence(tesserocr.RIL.SYMBOL) / 100
    return [Letter(text, left, top, right, bottom, confidence)]
