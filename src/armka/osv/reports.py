"""Which report a title announces, and the layout families."""

import re
from collections.abc import Iterable

import msgspec

from armka.osv.wording import plain

ACCOUNTS = "accounts"
ACCOUNTS_SUBACCOUNTS = "accounts_subaccounts"
ACCOUNT_SUBCONTO = "account_subconto"
INDICATORS = "indicators"
CURRENCY = "currency"
PERIODS = "periods"
ACCOUNT_TURNOVER = "account_turnover"
ACCOUNT_ANALYSIS = "account_analysis"
UPP = "upp"
BUDGET = "budget"
NFO = "nfo_eps"
FOUR_DIGITS = "four_digit_plan"

_TRIAL_BALANCE = re.compile(r"оборотно ?- ?сальдов\w+ (?:ведомост|баланс)|\bосв\b")
_OF_ACCOUNTS = re.compile(r"\b(?:по )?счет(?:а|у|ам|ов)\b:? ?(?:№ ?)?((?:[\w.]+(?:, ?| и )?)+)")
_CODE = re.compile(r"\d{2,5}(?:\.[0-9а-яa-z]{1,5})*\b(?!\.)")

_FAMILIES = [
    (re.compile(r"^обороты счета\b"), ACCOUNT_TURNOVER),
    (re.compile(r"^анализ счета\b"), ACCOUNT_ANALYSIS),
    (re.compile(r"\b0420521\b|оборотная ведомость (?:нфо|по счетам)"), NFO),
]

# Reports that are no trial balance: what stands in the title, and what to call them.
_OTHERS = [
    (re.compile(r"^карточка (?:счета|субконто)\b"), "карточку счета"),
    (re.compile(r"^анализ субконто\b"), "анализ субконто"),
    (re.compile(r"шахматн\w+ (?:ведомост|оборотн)|^шахматка\b"), "шахматную ведомость"),
    (re.compile(r"^отчет по проводкам|^журнал проводок"), "отчет по проводкам"),
    (re.compile(r"^главная книга"), "главную книгу"),
    (re.compile(r"^сводные проводки"), "сводные проводки"),
    (re.compile(r"^обороты между субконто"), "обороты между субконто"),
    (re.compile(r"^бухгалтерский баланс"), "бухгалтерский баланс (форма 1)"),
    (
        re.compile(r"^отчет о (?:финансовых результатах|прибылях и убытках)"),
        "отчет о финансовых результатах",
    ),
    (re.compile(r"^отчет о движении денежных средств"), "отчет о движении денежных средств"),
    (re.compile(r"^акт сверки"), "акт сверки"),
    (re.compile(r"^книга (?:покупок|продаж)"), "книгу покупок или продаж"),
    (re.compile(r"^(?:банковская )?выписка\b"), "выписку по счету"),
    (re.compile(r"^журнал[- ]ордер\b"), "журнал-ордер"),
    (re.compile(r"^счет на оплату|^счет-фактура"), "счет"),
]


class SheetNotRead(Exception):
    """A sheet that gives no trial balance; `explanation` says to a person why not."""

    def __init__(self, explanation: str) -> None:
        super().__init__(explanation)
        self.explanation = explanation


class NotTrialBalance(SheetNotRead):
    """It is none; `looks_like` says what it is instead, in the accusative, where that is known."""

    def __init__(self, looks_like: str | None, reason: str) -> None:
        super().__init__(
            f"это не оборотно-сальдовая ведомость, а похоже на {looks_like} ({reason})"
            if looks_like
            else f"оборотно-сальдовая ведомость не найдена: {reason}"
        )
        self.looks_like = looks_like


class UnitNotRead(SheetNotRead):
    """Its amounts are in a unit that the contract cannot carry, or it names several."""

    def __init__(self, found: str) -> None:
        super().__init__(f"единица измерения сумм не читается или названа по-разному ({found})")


class Announced(msgspec.Struct, frozen=True):
    """What a title line says the report is. `accounts`: which ones it is about, if not all."""

    title: str
    trial_balance: bool = False
    family: str | None = None
    looks_like: str | None = None
    accounts: tuple[str, ...] = ()


def announced(text: str) -> Announced | None:
    """Read one line of text as a report's title; None: it is none."""
    words = plain(text)
    if _TRIAL_BALANCE.search(words):
        codes = _codes(words, text) if "по счет" in words else ()
        return Announced(text, True, ACCOUNT_SUBCONTO if codes else None, accounts=codes)
    for pattern, family in _FAMILIES:
        if pattern.search(words):
            codes = _codes(words, text) if family is not NFO else ()
            return Announced(text, family is NFO, family, accounts=codes)
    for pattern, name in _OTHERS:
        if pattern.search(words):
            return Announced(text, looks_like=name)
    return None


def _codes(words: str, text: str) -> tuple[str, ...]:
    """The account codes of «по счету 60», «Обороты счета 10.01», as they are printed."""
    named = _OF_ACCOUNTS.search(words)
    if named is None:
        return ()
    found = _CODE.findall(named.group(1))
    printed = " ".join(text.split())
    years = {code for code in found if re.fullmatch(r"(?:19|20)\d\d", code)}
    codes = [code for code in found if code not in years]
    return tuple(
        next((m.group() for m in re.finditer(re.escape(code), printed, re.IGNORECASE)), code)
        for code in codes
    )


def title_of(texts: Iterable[str]) -> Announced | None:
    """The title among the lines above a table: one of a trial balance goes before any other."""
    titles = [title for title in map(announced, texts) if title is not None]
    return next((title for title in titles if title.trial_balance), titles[0] if titles else None)
