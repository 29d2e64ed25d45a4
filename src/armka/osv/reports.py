"""Which report a title announces, and which layouts are read."""

import re
from collections.abc import Iterable

import msgspec

from armka.osv.wording import plain

ACCOUNTS = "accounts"
ACCOUNTS_SUBACCOUNTS = "accounts_subaccounts"

# Layout families that are known and not read yet, as a person calls them.
NOT_READ = {
    "account_subconto": "ОСВ по счету с аналитикой (субконто)",
    "account_turnover": "отчет «Обороты счета»",
    "account_analysis": "отчет «Анализ счета»",
    "indicators": "ОСВ с показателями (БУ, НУ, ПР, ВР, Кол., Вал.)",
    "currency": "ОСВ с валютными суммами",
    "periods": "ОСВ с разбивкой по периодам",
    "upp": "ОСВ из 1С:УПП с колонкой «Субконто»",
    "budget": "ОСВ бюджетного учреждения (КПС, КФО, КБК)",
    "nfo_eps": "оборотная ведомость по Единому плану счетов (0420521)",
    "four_digit_plan": "ОСВ по плану счетов с четырехзначными кодами",
}

_TRIAL_BALANCE = re.compile(r"оборотно ?- ?сальдов\w+ (?:ведомост|баланс)|\bосв\b")
_OF_ONE_ACCOUNT = re.compile(r"\bпо счет(?:у|ам)\b:? ?(?:№ ?)?\d")

_FAMILIES = [
    (re.compile(r"^обороты счета\b"), "account_turnover"),
    (re.compile(r"^анализ счета\b"), "account_analysis"),
    (re.compile(r"\b0420521\b|оборотная ведомость по счетам бухгалтерского учета"), "nfo_eps"),
]

# Reports that are no trial balance: what stands in the title, and what to call them.
_OTHERS = [
    (re.compile(r"^карточка (?:счета|субконто)\b"), "карточку счета"),
    (re.compile(r"^анализ субконто\b"), "анализ субконто"),
    (re.compile(r"шахматн\w+ (?:ведомост|оборотн)|^шахматка\b"), "шахматную ведомость"),
    (re.compile(r"^отчет по проводкам|^журнал проводок"), "отчет по проводкам"),
    (re.compile(r"^главная книга"), "главную книгу"),
    (re.compile(r"^сводные проводки"), "сводные проводки"),
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


class LayoutNotRead(SheetNotRead):
    """It is a turnover report of a known family that is not read; `reason` says how it was seen."""

    def __init__(self, family: str, reason: str) -> None:
        super().__init__(f"это {NOT_READ[family]}; такой вид отчета пока не читается ({reason})")
        self.family = family


class UnitNotRead(SheetNotRead):
    """Its amounts are in a unit that the contract cannot carry, or it names several."""

    def __init__(self, found: str) -> None:
        super().__init__(f"единица измерения сумм не читается или названа по-разному ({found})")


class Announced(msgspec.Struct, frozen=True):
    """What a title line says the report is."""

    title: str
    trial_balance: bool = False
    family: str | None = None
    looks_like: str | None = None


def announced(text: str) -> Announced | None:
    """Read one line of text as a report's title; None: it is none."""
    words = plain(text)
    if _TRIAL_BALANCE.search(words):
        family = "account_subconto" if _OF_ONE_ACCOUNT.search(words) else None
        return Announced(text, True, family)
    for pattern, family in _FAMILIES:
        if pattern.search(words):
            return Announced(text, family=family)
    for pattern, name in _OTHERS:
        if pattern.search(words):
            return Announced(text, looks_like=name)
    return None


def title_of(texts: Iterable[str]) -> Announced | None:
    """The title among the lines above a table: one of a trial balance goes before any other."""
    titles = [title for title in map(announced, texts) if title is not None]
    return next((title for title in titles if title.trial_balance), titles[0] if titles else None)
