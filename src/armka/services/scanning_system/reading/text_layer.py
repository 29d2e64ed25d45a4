"""The text layer of a PDF page: characters and drawn lines, as PDFium knows them.

A character is put where its loose box is: the box of its advance and its font, so that commas and
digits of one amount stand on one line.
"""

import ctypes
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from armka.services.scanning_system.reading.marks import Mark, Rect, ends_amount
from armka.services.scanning_system.reading.rules import Grid, Rule, Span

_POINTS = 72.0
_THIN = 2.5  # points: what is thinner is a line
_SHORT = 3.0
_GAP = 0.2  # of the height: a wider one parts words
_SPACE = 0.5  # of the height: a wider one parts texts
_DEPTH = 4
_BAD_SHARE = 0.02
_FOREIGN_SHARE = 0.9
_LETTERS_MIN = 20
_IMAGE_SHARE = 0.5
_QUARTER = 90
_ZERO = frozenset({0, 0xFFFE, 0xFFFF, 2})


class Glyph(NamedTuple):
    """A character and its box in pixels of the upright page; `number`: PDFium's of it."""

    text: str
    box: Rect
    follows_space: bool
    number: int


@dataclass(frozen=True)
class _Word:
    """Characters without a gap, and the cell in which the first one stands."""

    run: list[Glyph]
    place: tuple[int, Span] | None

    @property
    def text(self) -> str:
        return unicodedata.normalize("NFC", "".join(glyph.text for glyph in self.run))

    def mark(self, anchor: tuple[float, float] | None) -> Mark:
        lefts, tops, rights, bottoms = zip(*(it.box for it in self.run), strict=True)
        box = Rect(min(lefts), min(tops), max(rights), max(bottoms))
        return Mark(self.text, box, None, anchor)


@dataclass(frozen=True)
class Frame:
    """How points of the page become pixels of the upright page."""

    width: int
    height: int
    dpi: int
    rotation: int
    matrix: tuple[float, float, float, float, float, float]

    def rect(self, left: float, bottom: float, right: float, top: float) -> Rect:
        """A box in points as one in pixels."""
        a, b, c, d, e, f = self.matrix
        x, other_x = a * left + c * bottom + e, a * right + c * top + e
        y, other_y = b * left + d * bottom + f, b * right + d * top + f
        if other_x < x:
            x, other_x = other_x, x
        return Rect(x, other_y, other_x, y) if other_y < y else Rect(x, y, other_x, other_y)


def frame(page: pypdfium2.PdfPage, dpi: int, rotation: int) -> Frame:
    """The frame of a page that is shown as its /Rotate says and then turned by `rotation`."""
    left, bottom, right, top = page.get_cropbox()
    turn = (page.get_rotation() + rotation) % 360
    k = dpi / _POINTS
    wide, high = (right - left) * k, (top - bottom) * k
    match turn:
        case 90:
            matrix = (0.0, k, k, 0.0, -bottom * k, -left * k)
            wide, high = high, wide
        case 180:
            matrix = (-k, 0.0, 0.0, k, right * k, -bottom * k)
        case 270:
            matrix = (0.0, -k, -k, 0.0, top * k, right * k)
            wide, high = high, wide
        case _:
            matrix = (k, 0.0, 0.0, -k, -left * k, top * k)
    return Frame(round(wide), round(high), dpi, rotation, matrix)


def glyphs(text: pypdfium2.PdfTextPage, to: Frame) -> list[Glyph]:
    """All characters that leave ink."""
    found, after_space = [], False
    box, raw = pdfium.FS_RECTF(), text.raw
    for index in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(raw, index)
        character = chr(code) if code not in _ZERO and code < 0x110000 else ""
        if not character or character.isspace() or code in (0xA0, 0xAD):
            after_space = True
            continue
        pdfium.FPDFText_GetLooseCharBox(raw, index, ctypes.byref(box))
        rect = to.rect(box.left, box.bottom, box.right, box.top)
        found.append(Glyph(character, rect, after_space, index))
        after_space = False
    return found


def turn_of(text: pypdfium2.PdfTextPage) -> int:
    """By how many degrees clockwise the page must be turned before its text is upright, from a
    sample of its characters; what its /Rotate says is not looked at.
    """
    count = text.count_chars()
    turns: dict[int, int] = {}
    for index in range(0, count, max(count // 200, 1)):
        degrees = pdfium.FPDFText_GetCharAngle(text.raw, index) * 180 / 3.141592653589793
        quarter = round(degrees / _QUARTER) * _QUARTER % 360
        turns[quarter] = turns.get(quarter, 0) + 1
    return max(turns, key=lambda it: turns[it]) if turns else 0


def words(found: list[Glyph], grids: list[Grid], text: pypdfium2.PdfTextPage) -> list[Mark]:
    """Join characters into words, in the order in which they were written. A text that runs on over
    the border of its cell stays in the cell; what another command writes beyond it does not.
    """
    marks: list[Mark] = []
    chain: list[_Word] = []
    for each in _written(found, grids, text):
        if chain and not _runs_over(chain, each, text):
            marks += _marks(chain)
            chain = []
        chain.append(each)
    return [*marks, *_marks(chain)]


def _marks(chain: list[_Word]) -> Iterator[Mark]:
    """An amount stands where it stands, and so does all that is in one line of text with it."""
    own = len({each.place for each in chain}) == 1 or any(ends_amount(each.text) for each in chain)
    for each in chain:
        first = each.run[0] if own else chain[0].run[0]
        yield each.mark(first.box.centre if each.place else None)


def _written(found: list[Glyph], grids: list[Grid], text: pypdfium2.PdfTextPage) -> Iterator[_Word]:
    run: list[Glyph] = []
    where: tuple[int, Span] | None = None
    for glyph in found:
        place = _place(glyph, grids)
        if run and not (
            _goes_on(run[-1], glyph) and (place == where or _is_one_text(run[-1], glyph, text))
        ):
            yield _Word(run, where)
            run = []
        if not run:
            where = place
        run.append(glyph)
    if run:
        yield _Word(run, where)


def _runs_over(chain: list[_Word], word: _Word, text: pypdfium2.PdfTextPage) -> bool:
    """Whether a word in another cell is the next one of a text that begins in the chain's cell."""
    before, after, cell = chain[-1].run[-1], word.run[0], chain[0].place
    return (
        None not in (cell, word.place)
        and word.place != cell
        and _is_beside(before, after, _SPACE)
        and _is_one_text(before, after, text)
    )


def _is_one_text(one: Glyph, other: Glyph, text: pypdfium2.PdfTextPage) -> bool:
    """Whether one command writes both."""
    first, second = (
        ctypes.cast(pdfium.FPDFText_GetTextObject(text.raw, it.number), ctypes.c_void_p).value
        for it in (one, other)
    )
    return first is not None and first == second


def _place(glyph: Glyph, grids: list[Grid]) -> tuple[int, Span] | None:
    for number, grid in enumerate(grids):
        span = grid.cell(*glyph.box.centre)
        if span is not None:
            return number, span
    return None


def _goes_on(last: Glyph, glyph: Glyph) -> bool:
    return not glyph.follows_space and _is_beside(last, glyph, _GAP)


def _is_beside(last: Glyph, glyph: Glyph, gap: float) -> bool:
    """Whether a character follows on the same line, no further off than a share of the height."""
    _, top, right, bottom = last.box
    left, upper, _, lower = glyph.box
    height = max(1.0, bottom - top)
    on_line = top < (upper + lower) / 2 < bottom
    return on_line and -height / 2 < left - right < height * gap


def is_usable(found: list[Glyph], page: pypdfium2.PdfPage) -> bool:
    """Whether the characters can be what a reader sees: no lost encodings, no other alphabet where
    Cyrillic belongs, no scan with somebody else's recognition below it.
    """
    if not found:
        return False
    bad = sum(_is_lost(glyph.text) for glyph in found)
    letters = [glyph.text for glyph in found if glyph.text.isalpha()]
    foreign = sum(not "\u0400" <= letter <= "\u04ff" for letter in letters)
    if bad > len(found) * _BAD_SHARE:
        return False
    if len(letters) >= _LETTERS_MIN and foreign > len(letters) * _FOREIGN_SHARE:
        return False
    return scan_dpi(page) is None


def _is_lost(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in ("Co", "Cc", "Cn")


def scan_dpi(page: pypdfium2.PdfPage) -> int | None:
    """The resolution of the picture that covers most of the page; None where none does."""
    width, height = page.get_width(), page.get_height()
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    for picture, (left, bottom, right, top) in _objects(page.raw, pdfium.FPDF_PAGEOBJ_IMAGE):
        if (right - left) * (top - bottom) > width * height * _IMAGE_SHARE:
            pdfium.FPDFImageObj_GetImagePixelSize(picture, wide, high)
            inches: float = max(right - left, top - bottom) / _POINTS
            return round(max(wide.value, high.value) / inches)
    return None


def has_ink(page: pypdfium2.PdfPage) -> bool:
    """Whether anything at all is drawn."""
    return next(iter(page.get_objects(max_depth=1)), None) is not None


def rules(page: pypdfium2.PdfPage, to: Frame) -> tuple[list[Rule], list[Rule]]:
    """The straight lines and the sides of the boxes: those across, those down."""
    across: list[Rule] = []
    down: list[Rule] = []
    for _, (left, bottom, right, top) in _objects(page.raw, pdfium.FPDF_PAGEOBJ_PATH):
        rect = to.rect(left, bottom, right, top)
        thin, short = _THIN * to.dpi / _POINTS, _SHORT * to.dpi / _POINTS
        x, y = rect.centre
        if rect.height < thin and rect.width > short:
            across.append(Rule(y, rect.left, rect.right))
        elif rect.width < thin and rect.height > short:
            down.append(Rule(x, rect.top, rect.bottom))
        elif rect.width > short and rect.height > short:
            across += [Rule(it, rect.left, rect.right) for it in (rect.top, rect.bottom)]
            down += [Rule(it, rect.top, rect.bottom) for it in (rect.left, rect.right)]
    return across, down


def _objects(
    parent: Any, kind: int, depth: int = _DEPTH
) -> Iterator[tuple[Any, tuple[float, float, float, float]]]:
    """What of a kind is drawn on a page or in a form on it, with its bounds. PDFium is asked
    itself: its helpers make an object of each text, and there are thousands.
    """
    is_page = depth == _DEPTH
    count = (pdfium.FPDFPage_CountObjects if is_page else pdfium.FPDFFormObj_CountObjects)(parent)
    get = pdfium.FPDFPage_GetObject if is_page else pdfium.FPDFFormObj_GetObject
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(count):
        each = get(parent, index)
        found = pdfium.FPDFPageObj_GetType(each)
        if found == kind and pdfium.FPDFPageObj_GetBounds(each, left, bottom, right, top):
            yield each, (left.value, bottom.value, right.value, top.value)
        elif found == pdfium.FPDF_PAGEOBJ_FORM and depth > 1:
            yield from _objects(each, kind, depth - 1)
