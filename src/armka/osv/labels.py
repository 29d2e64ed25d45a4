"""What a cell of a header says about its column: an amount of which group and side, or what stands
in the rows there.
"""

import re
from enum import Enum
from functools import lru_cache

import msgspec

from armka.osv import period
from armka.osv.reports import announced
from armka.osv.wording import Heading, Side, heading, plain, side


class Stub(Enum):
    """What a column beside the amounts holds."""

    ACCOUNT = "account"
    NAME = "name"
    INDICATOR = "indicator"
    CURRENCY = "currency"
    PERIOD = "period"
    CORRESPONDENT = "correspondent"
    BUDGET = "budget"  # КПС, КФО, КБК: what an account of the budget chart is kept by
    DIMENSION = "dimension"


class Measure(Enum):
    """In what the amounts of a column are."""

    MAIN = "main"
    CURRENCY = "currency"
    QUANTITY = "quantity"
    NATIONAL = "national"  # the part in roubles, where a total of all currencies stands beside it
    PERIOD = "period"


class Band(msgspec.Struct, frozen=True):
    """One set of amounts across the table, and what it is called."""

    measure: Measure
    label: str = ""


class Amount(msgspec.Struct, frozen=True):
    """A column of amounts: which group and side; None where the header does not say."""

    group: Heading | None
    side: Side | None
    band: Band


MAIN = Band(Measure.MAIN)

_STUBS = [
    (re.compile(r"^(?:валюта|вал\.?|код валюты)$"), Stub.CURRENCY),
    (re.compile(r"\bкор(?:р(?:еспондирующий)?)?\.? ?-? ?счет"), Stub.CORRESPONDENT),
    (
        re.compile(r"^(?:код )?(?:№ ?|номер )?(?:бухгалтерск\w+ )?(?:счет\w*|код)\b(?!.*\bкор)"),
        Stub.ACCOUNT,
    ),
    (re.compile(r"\bнаименован\w+|\bназвание\b"), Stub.NAME),
    (re.compile(r"^показател"), Stub.INDICATOR),
    (re.compile(r"^(?:кпс|кфо|квд|кбк|кэк|косгу|ифо|кдб|крб)\b"), Stub.BUDGET),
    (re.compile(r"^(?:период|месяц|дата|квартал)$"), Stub.PERIOD),
    (
        re.compile(
            r"^(?:субконто|контрагент|договор|номенклатур|подразделени|сотрудник|работник|стать|"
            r"склад|аналитик|основн\w+ средств|объект|вид\w* |документ|организаци|партнер|"
            r"места? хранени|банковск|ставк|номенклатурн|физическ|уров|движени|назначени)"
        ),
        Stub.DIMENSION,
    ),
]
_FROM_CREDIT = re.compile(r"^с кред\w*\.? счет")
_INTO_DEBIT = re.compile(r"^в деб\w*\.? счет")
_CURRENCY = re.compile(r"\bвалют\w*|\bвал\b|\bв у\.?е\b")
_QUANTITY = re.compile(r"\bкол\b|\bкол-во\b|\bколичеств\w*")
_NATIONAL = re.compile(r"\bв? ?рубл\w*|\bруб\b")
_TOTAL = re.compile(r"^(?:итого|всего)\b")


@lru_cache(maxsize=8192)
def stub(text: str) -> Stub | None:
    """What a column of this label holds beside the amounts; None: not said."""
    words = plain(text)
    if not words or len(words) > 200 or heading(text) or side(text):
        return None
    return next((kind for pattern, kind in _STUBS if pattern.search(words)), None)


@lru_cache(maxsize=8192)
def group_and_side(text: str) -> tuple[Heading | None, Side | None]:
    """What one label says; a title that contains such words says nothing."""
    words = plain(text)
    if _FROM_CREDIT.search(words):
        return Heading.TURNOVER, Side.DEBIT
    if _INTO_DEBIT.search(words):
        return Heading.TURNOVER, Side.CREDIT
    if announced(text) is not None:
        return None, None
    return heading(text), side(text)


def amount(path: list[str]) -> Amount | None:
    """What a column under these labels, from the top one down, holds; None: no amounts."""
    group, which = None, None
    for text in reversed(path):
        own_group, own_side = group_and_side(text)
        group = group or own_group
        which = which or own_side
    if group is None and which is None:
        return None
    return Amount(group, which, _band(path))


def _band(path: list[str]) -> Band:
    words = [plain(text) for text in path]
    if any(_QUANTITY.search(text) for text in words):
        return Band(Measure.QUANTITY)
    if any(_CURRENCY.search(text) for text in words):
        return Band(Measure.CURRENCY)
    if any(_TOTAL.search(text) for text in words):
        return MAIN
    for text in path:
        named = period.alone(text) or (period.find(text) if heading(text) else None)
        if named is not None:
            return Band(Measure.PERIOD, named.text)
    if any(_NATIONAL.search(text) for text in words):
        return Band(Measure.NATIONAL)
    return MAIN


def says_band(text: str) -> bool:
    """Whether a cell by itself says in what amounts are, or in which period."""
    words = plain(text)
    if len(words) > 40:
        return False
    return bool(
        _QUANTITY.search(words)
        or _CURRENCY.search(words)
        or _TOTAL.search(words)
        or _NATIONAL.search(words)
        or words == "сумма"
        or period.alone(text)
    )
