"""Words as the readers hand them to the table finders, and how amounts are written.

Coordinates are pixels of the upright page, origin top left.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple


class Rect(NamedTuple):
    """A box: left, top, right, bottom."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def centre(self) -> tuple[float, float]:
        """The middle: x, y."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@dataclass(frozen=True)
class Mark:
    """A word on the page. `anchor`: a point in the cell that it belongs to, where it does not stand
    in it.
    """

    text: str
    box: Rect
    confidence: float | None
    anchor: tuple[float, float] | None = None

    @property
    def at(self) -> tuple[float, float]:
        """The point that says in which cell it is: x, y."""
        return self.anchor or self.box.centre


# A point may be a comma misread, but 60.01 is an account.
_TAIL = re.compile(r"[(\-−–]?\d*,\d{2}\)?|[(\-−–]?\d{3,}\.\d{2}\)?")
_WHOLE = r"(?:0|[1-9]\d{0,2}(?: \d{3})*),\d{2}"
_STRICT = re.compile(rf"-?{_WHOLE}|\({_WHOLE}\)")
_CODE = re.compile(r"(\d{2,3}|[А-Я]{2})(\.[0-9А-Я]{1,3})*[.,]?")
_AMISS = re.compile(r"(\(?-?) ?(\d[\d ]*?) ?[,.] ?(\d\d)(\)?)")
_EDGE_HEIGHTS = 1.5
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2007": " "})
_MINUSES = str.maketrans({"−": "-", "–": "-"})
# What stands for a digit in a misread amount, and only there.
_LOOKALIKES = str.maketrans(
    {"О": "0", "о": "0", "O": "0", "o": "0", "З": "3", "з": "3", "б": "6", "l": "1", "I": "1"}
    | {"В": "8", "B": "8", "S": "5", "$": "5", "|": "1", "!": "1"}
)


def spaced(text: str) -> str:
    """The same text with plain single spaces."""
    return " ".join(text.translate(_SPACES).split())


def is_strict(text: str) -> bool:
    """Whether the text is an amount in the one form that leaves no doubt: "1 234,56"."""
    return _STRICT.fullmatch(text.translate(_SPACES).translate(_MINUSES)) is not None


def ends_amount(text: str) -> bool:
    """Whether a word ends an amount: it has decimals, two of them."""
    return _TAIL.fullmatch(text) is not None


def opens_row(line: list[Mark], left: float) -> bool:
    """Whether a line without amounts is a row of its own: an account's code at the edge, and a
    name after it. A name that runs on may well begin with "01", but then it ends there.
    """
    first = line[0]
    at_edge = abs(first.box.left - left) < first.box.height * _EDGE_HEIGHTS
    return at_edge and len(line) > 1 and _CODE.fullmatch(first.text) is not None


def tidy(text: str) -> str:
    """An amount whose spaces or comma alone are amiss, as it must be: a space that was not seen
    before thousands, one seen beside the comma, a comma taken for a point. A space anywhere else
    may stand for a digit that was lost, and the text stays as it is.
    """
    match = _AMISS.fullmatch(spaced(text).translate(_MINUSES))
    if match is None:
        return text
    head, whole, cents, tail = match.groups()
    grouped = f"{int(whole.replace(' ', '')):,}".replace(",", " ")
    spaces = [index for index, character in enumerate(whole) if character == " "]
    belong = all(len(whole[index:].replace(" ", "")) % 3 == 0 for index in spaces)
    leads = whole == "0" or whole[0] != "0"
    return f"{head}{grouped},{cents}{tail}" if belong and leads else text


def likely(text: str) -> str:
    """What a misread amount probably says: letters that look like digits become digits, groups are
    put right where the digits allow it. A proposal.
    """
    bare = spaced(text).translate(_LOOKALIKES).translate(_MINUSES)
    match = re.fullmatch(r"(\(?-?)([\d ., ]*\d)[,.] ?(\d ?\d)(\)?)", bare)
    if match is None:
        return bare
    head, whole, cents, tail = match.groups()
    digits = re.sub(r"\D", "", whole)
    return f"{head}{int(digits):,}".replace(",", " ") + f",{cents.replace(' ', '')}{tail}"


def lines(marks: list[Mark]) -> list[list[Mark]]:
    """Put words into lines, top down, each from left to right."""
    found: list[tuple[float, float, list[Mark]]] = []
    for mark in sorted(marks, key=lambda it: it.box.centre[1]):
        middle = mark.box.centre[1]
        if found:
            top, bottom, line = found[-1]
            if top < middle < bottom and mark.box.top < (top + bottom) / 2 < mark.box.bottom:
                line.append(mark)
                continue
        found.append((mark.box.top, mark.box.bottom, [mark]))
    return [sorted(line, key=lambda it: it.box.left) for _, _, line in found]


def text_of(marks: list[Mark]) -> str:
    """The words of a cell, line by line, as one text."""
    return " ".join(mark.text for line in lines(marks) for mark in line)


def around(marks: list[Mark]) -> Rect:
    """The box around words."""
    return Rect(
        min(it.box.left for it in marks),
        min(it.box.top for it in marks),
        max(it.box.right for it in marks),
        max(it.box.bottom for it in marks),
    )
