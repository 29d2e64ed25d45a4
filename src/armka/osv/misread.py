"""Amounts as an eye or an engine misreads them: which texts were meant as one, and what they may
mean. Nobody uses what they may mean unasked.
"""

import re

from armka.osv.amounts import KOPECK, of_text

# Letters that stand where a digit was printed, Cyrillic and Latin.
_DIGITS = str.maketrans(
    {
        "О": "0", "о": "0", "O": "0", "o": "0", "D": "0", "Q": "0",
        "l": "1", "I": "1", "|": "1", "!": "1", "i": "1", "]": "1", "[": "1",
        "З": "3", "з": "3", "Э": "3", "э": "3",
        "Ч": "4", "ч": "4", "A": "4", "А": "4",
        "S": "5", "s": "5", "Б": "6", "б": "6", "b": "6", "G": "6",
        "T": "7", "Т": "7", "?": "7",
        "В": "8", "B": "8", "&": "8", "g": "9", "q": "9",
    }
)  # fmt: skip
_SHAPE = re.compile(r"[\d\s.,'’()\-−–—_]+")
_TWO_DECIMALS = re.compile(r"[.,]\d\d\)?$")
_SEPARATOR = re.compile("[.,]")
_DECIMALS = re.compile(r"[.,]\d\d\W*$")
_LEAST_DIGITS = 3  # 0,00


def looks_like_amount(text: str) -> bool:
    """Whether the text was meant as an amount: digits, what separates them, and letters that look
    like digits. At least half of them are digits.
    """
    bare = text.strip()
    digits = sum(char.isdecimal() for char in bare)
    letters = sum(char.isalpha() or char in "|!?&[]" for char in bare)
    return digits > 0 and digits >= letters and bool(_SHAPE.fullmatch(bare.translate(_DIGITS)))


def has_two_decimals(text: str) -> bool:
    """Whether the text ends as amounts in kopecks do."""
    return _TWO_DECIMALS.search(text.strip()) is not None


def meant(text: str, *, kopecks: bool) -> int | None:
    """The amount that a text may mean; `kopecks`: its neighbours show two decimals.

    None: there is nothing to propose.
    """
    straight = of_text(text)
    if isinstance(straight, int) and (not kopecks or has_two_decimals(text)):
        return straight
    bare = text.strip().translate(_DIGITS)
    negative = bare.startswith(("-", "−", "–", "—")) or (bare[:1] == "(" and bare[-1:] == ")")
    digits = re.sub(r"\D", "", bare)
    if not digits.isascii() or not 0 < len(digits) <= 18:
        return None
    if not kopecks:
        return straight if isinstance(straight, int) else None
    if len(digits) < _LEAST_DIGITS or (_SEPARATOR.search(bare) and not _DECIMALS.search(bare)):
        return None  # digits were lost, not the comma alone
    amount: int = int(digits) * KOPECK
    return -amount if negative else amount
