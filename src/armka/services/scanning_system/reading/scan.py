"""A page that is a picture: straightened, freed of lines, read, and read again where in doubt."""

import numpy as np
from numpy.typing import NDArray

from armka.services.scanning_system import answer
from armka.services.scanning_system.reading import engine, ruling
from armka.services.scanning_system.reading.layout import sheets_of, word
from armka.services.scanning_system.reading.marks import Mark, Rect
from armka.services.scanning_system.reading.packing import Packed
from armka.services.scanning_system.reading.paper import Paper, paper_of
from armka.services.scanning_system.reading.preview import preview_of
from armka.services.scanning_system.reading.rereading import reread
from armka.services.scanning_system.reading.rules import Grid, Rule, grids
from armka.services.scanning_system.reading.straighten import Straight, straighten
from armka.services.scanning_system.reading.tables import Sheet

_NEAR = 9.0  # pixels, where text is 32 high
_GAP = 44.0
_EDGE_SHARE = 0.25
_LEGIBLE = 0.5
_NARROW = 0.8  # letters of a fine scan are still told apart, and sooner
_FINE = 1.7  # times that it was enlarged: what came coarser is as wide as it is
_SIZE = 0.75  # Tesseract reads letters of 24 pixels as well as larger ones, and sooner


def read(
    picture: NDArray[np.uint8], dpi: int | None, number: int, tessdata: str
) -> answer.PageAnswer:
    """Read a picture, RGB."""
    page, found, clean, words = _read_upright(paper_of(picture), tessdata)
    marks = [mark for it in words for mark in _parted(it, found)]
    sheets = sheets_of(found, marks)
    for sheet in sheets:
        reread(sheet, clean, tessdata)
    return answer.PageAnswer(_answer(page, marks, sheets, dpi, number), _warnings(words, number))


def _read_upright(
    paper: Paper, tessdata: str
) -> tuple[Straight, list[Grid], NDArray[np.uint8], list[engine.Read]]:
    """Read the page; where nothing in it is legible, it may stand on its head."""
    page = straighten(paper)
    found, clean = _ruled(page)
    words = _read(page, clean, found, tessdata)
    if _legible(words) >= _LEGIBLE:
        return page, found, clean, words
    other = straighten(paper, upside_down=True)
    other_found, other_clean = _ruled(other)
    other_words = _read(other, other_clean, other_found, tessdata)
    if _legible(other_words) > _legible(words):
        return other, other_found, other_clean, other_words
    return page, found, clean, words


def _read(
    page: Straight, clean: NDArray[np.uint8], found: list[Grid], tessdata: str
) -> list[engine.Read]:
    packed = Packed(clean, found, _NARROW if page.scale < _FINE else 1.0)
    return [packed.back(word) for word in engine.read_at(_SIZE, packed.picture, tessdata)]


def _ruled(page: Straight) -> tuple[list[Grid], NDArray[np.uint8]]:
    across, down, covered = ruling.find(page.picture)
    clean = ruling.without(page.picture, covered)
    return grids(_long(across), _long(down), _NEAR, _EDGE_SHARE), clean


def _long(rules: list[Rule]) -> list[Rule]:
    """Lines that are interrupted here and there run on."""
    joined: list[Rule] = []
    for rule in sorted(rules):
        for index, other in enumerate(joined):
            gap = max(rule.start, other.start) - min(rule.end, other.end)
            if abs(rule.at - other.at) < _NEAR and gap < _GAP:
                start, end = min(rule.start, other.start), max(rule.end, other.end)
                joined[index] = Rule((rule.at + other.at) / 2, start, end)
                break
        else:
            joined.append(rule)
    return joined


def _legible(words: list[engine.Read]) -> float:
    weighed = [(word.confidence, len(word.letters)) for word in words]
    letters = sum(count for _, count in weighed)
    return sum(sure * count for sure, count in weighed) / letters if letters else 0.0


def _parted(read: engine.Read, found: list[Grid]) -> list[Mark]:
    """A word as marks: one, or one for each cell that its letters stand in."""
    parts: list[tuple[object, list[engine.Letter]]] = []
    for letter in read.letters:
        x, y = (letter.left + letter.right) / 2, (letter.top + letter.bottom) / 2
        where = next((span for grid in found if (span := grid.cell(x, y))), None)
        if not parts or parts[-1][0] != where:
            parts.append((where, []))
        parts[-1][1].append(letter)
    return [_mark(letters, read.confidence) for _, letters in parts]


def _mark(letters: list[engine.Letter], confidence: float) -> Mark:
    box = Rect(
        min(it.left for it in letters),
        min(it.top for it in letters),
        max(it.right for it in letters),
        max(it.bottom for it in letters),
    )
    return Mark("".join(it.text for it in letters), box, round(confidence, 3))


def _answer(
    page: Straight, marks: list[Mark], sheets: list[Sheet], dpi: int | None, number: int
) -> answer.Page:
    shrink = 1 / page.scale
    a, b, c, d, e, f, g, h, i = (float(it) for it in page.transform.reshape(9))
    return answer.Page(
        number=number,
        width=page.size[0],
        height=page.size[1],
        dpi=dpi,
        rotation=page.rotation,
        skew=page.skew,
        source="ocr",
        words=[word(mark, shrink) for mark in marks],
        tables=[sheet.done(shrink) for sheet in sheets],
        transform=(a, b, c, d, e, f, g, h, i),
        preview=preview_of(page.picture, number),
    )


def _warnings(words: list[engine.Read], number: int) -> list[str]:
    if not words:
        return [f"Страница {number}: текста не видно"]
    if _legible(words) < _LEGIBLE:
        return [f"Страница {number}: текст почти не читается, отсканируйте ее заново"]
    return []
