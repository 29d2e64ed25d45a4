"""Texts made comparable, and the words that a trial balance's header is made of."""

import re
from enum import Enum
from functools import lru_cache

from armka.osv.grid import Cell, CellError

_HYPHENATED = re.compile(r"(?<=\w)(?:-|\u00ad)[ \t]*\r?\n[ \t]*(?=\w)")
_DEBIT = re.compile(r"\b(дебет\w*|дт|деб)\b")
_CREDIT = re.compile(r"\b(кредит\w*|кт|кред)\b")
_BALANCE = re.compile(r"\b(сальдо|остат\w+)\b")
_TURNOVER = re.compile(r"\bоборот\w*\b")
_START = re.compile(r"\b(нач\w*|вход\w*)\b")
_END = re.compile(r"\b(кон\w*|исход\w*)\b")
_LONGEST = 80


_INDICATORS = {
    "бу": "БУ",
    "ну": "НУ",
    "пр": "ПР",
    "вр": "ВР",
    "кол": "Кол",
    "кол-во": "Кол",
    "количество": "Кол",
    "вал": "Вал",
    "в валюте": "Вал",
    "валютная сумма": "Вал",
    "контроль": "Контроль",
}
_CURRENCIES = {
    "руб": "RUB",
    "рубль": "RUB",
    "рубли": "RUB",
    "российский рубль": "RUB",
    "евро": "EUR",
    "доллар сша": "USD",
    "доллары сша": "USD",
    "юань": "CNY",
    "китайский юань": "CNY",
    "тенге": "KZT",
    "белорусский рубль": "BYN",
    "фунт стерлингов": "GBP",
    "швейцарский франк": "CHF",
}
_CODES = frozenset(
    [
        *("USD", "EUR", "CNY", "KZT", "RUB", "BYN", "GBP", "CHF", "JPY", "TRY"),
        *("AED", "KGS", "UZS", "AMD", "GEL", "AZN", "INR", "HKD"),
    ]
)


class Side(Enum):
    """Debit or credit."""

    DEBIT = 0
    CREDIT = 1


class Heading(Enum):
    """What a group of two amounts is; of BALANCE it is not said whether opening or closing."""

    OPENING = 0
    TURNOVER = 1
    CLOSING = 2
    BALANCE = 3


@lru_cache(maxsize=8192)
def plain(text: str) -> str:
    """Lower case, ё as е, single spaces, soft hyphens and hyphenated line breaks mended."""
    joined = _HYPHENATED.sub("", text).replace("\u00ad", "")
    return " ".join(joined.lower().replace("ё", "е").split())


def text_of(cell: Cell) -> str:
    """The cell's text, mended but in its own case; empty for anything that is no text."""
    value = cell[1]
    if not isinstance(value, str) or isinstance(value, CellError):
        return ""
    return " ".join(_HYPHENATED.sub("", value).replace("\u00ad", "").split())


@lru_cache(maxsize=8192)
def side(text: str) -> Side | None:
    """Which side a header cell names, if exactly one."""
    words = plain(text) if len(text) <= _LONGEST else ""
    debit, credit = _DEBIT.search(words), _CREDIT.search(words)
    if bool(debit) == bool(credit):
        return None
    return Side.DEBIT if debit else Side.CREDIT


@lru_cache(maxsize=8192)
def heading(text: str) -> Heading | None:
    """Which group of amounts a header cell names."""
    words = plain(text) if len(text) <= _LONGEST else ""
    if _TURNOVER.search(words):
        return None if _BALANCE.search(words) else Heading.TURNOVER
    if not _BALANCE.search(words):
        return None
    start, end = _START.search(words), _END.search(words)
    if bool(start) == bool(end):
        return Heading.BALANCE
    return Heading.OPENING if start else Heading.CLOSING


@lru_cache(maxsize=8192)
def indicator(text: str) -> str | None:
    """Which of the показатели (БУ, НУ, ПР, ВР, Кол, Вал) a cell names, if it names nothing else."""
    return _INDICATORS.get(plain(text).rstrip(".:")) if len(text) <= _LONGEST else None


@lru_cache(maxsize=8192)
def currency(text: str) -> str | None:
    """The ISO 4217 code of the currency that a cell names, if it names nothing else."""
    bare = text.strip().rstrip(".")
    if bare.upper() in _CODES:
        return bare.upper()
    return _CURRENCIES.get(plain(bare)) if len(text) <= _LONGEST else None
