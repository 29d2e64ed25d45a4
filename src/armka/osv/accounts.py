"""Account codes (счёт, субсчёт) as 1С writes them: 60, 60.01, 76.АВ, 90.01.1, 20.Н, 001, МЦ.04."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from armka.osv.chart import Plan

# Off-balance accounts that 1С names by letters (ГТД, МЦ.04, НЕ.01.9 …), possibly with subaccounts.
_LETTERED = "АП|ВР|ГТД|КВ|МЦ|НЕ|НПР|ПВ|ПР|РВ|УСН|УТ"
_CODE = rf"(?:[0-9]{{1,5}}|{_LETTERED})(?:\.[0-9А-ЯЁA-Z]{{1,5}}){{0,5}}"
# "31 декабря", "2023 год", "1 квартал" name a time, not an account.
_TIME = (
    "[Яя]нв|[Фф]ев|[Мм]ар|[Аа]пр|[Мм]а[йя]|[Ии]ю[нл]|[Аа]вг|[Сс]ен|[Оо]кт|[Нн]оя|[Дд]ек"
    r"|[Гг]од|г\.|[Кк]варт|[Пп]олуг|[Мм]ес"
)
_ACCOUNT = re.compile(rf"({_CODE})(?:(?: ?, ?| [-–—] | (?!{_TIME}))(.+))?")
_DATE = re.compile(r"[0-9]{2}\.[0-9]{2}\.(?:19|20)[0-9]{2}")
_KNOWN = re.compile(rf"(?:[0-9]{{2}}|0[0-9]{{2}}|{_LETTERED})(?:\.[0-9А-ЯЁA-Z]{{1,5}})*")
_OFF_BALANCE = re.compile(rf"(?:0(?!00)[0-9]{{2}}|{_LETTERED})(?:\.|$)")
_PLANS = {3: Plan.BUDGET, 4: Plan.FOUR_DIGITS, 5: Plan.NFO}


class Account(msgspec.Struct, frozen=True):
    """A code and the name that stood with it in one cell, if any."""

    code: str
    name: str = ""


def parse(text: str) -> Account | None:
    """Read a cell of an account column, "60.01" or "60.01, Расчеты с поставщиками".

    None: there is no code in it.
    """
    match = _ACCOUNT.fullmatch(" ".join(text.split()))
    if match is None:
        return None
    code, name = match.groups("")
    return None if len(code) == 10 and _DATE.match(code) else Account(code, name)


def head_of(code: str) -> str:
    """The synthetic account's code: what stands before the first point."""
    return code.partition(".")[0]


def is_off_balance(code: str, plan: Plan = Plan.COMMERCIAL) -> bool:
    """Whether the code says by itself that it is off balance (забалансовый); 000 is not."""
    if plan is Plan.BUDGET:
        return len(head_of(code)) == 2
    if plan is Plan.NFO:
        return code[0] == "9"
    return not "1" <= code[0] <= "9" and _OFF_BALANCE.match(code) is not None


def is_known_form(code: str) -> bool:
    """Whether the code has a form of the Russian chart of accounts: two digits, 0 and two digits,
    or letters.
    """
    return _KNOWN.fullmatch(code) is not None


def plan_of(codes: Iterable[str]) -> Plan:
    """Which chart of accounts most of the codes are of; ours where they do not say."""
    heads = [head for head in map(head_of, codes) if head.isdigit()]
    lengths = Counter(
        len(head) for head in heads if len(head) > 1 and (len(head) != 3 or head[0] != "0")
    )
    if not lengths:
        return Plan.COMMERCIAL
    (length, _), *_ = lengths.most_common(1)
    return _PLANS.get(length, Plan.COMMERCIAL)


def ancestors(code: str, plan: Plan = Plan.COMMERCIAL) -> tuple[str, ...]:
    """The codes above it, nearest first: 90.01.1 is under 90.01, which is under 90; in the budget
    chart 101.34 is under 101.30, which is under 101.00.
    """
    above = _lineage(code.rpartition(".")[0])
    if plan is not Plan.BUDGET:
        return above
    head, *parts = code.split(".")
    if not parts or not re.fullmatch("[0-9]{2}", parts[0]):
        return above
    rounded = (f"{head}.{parts[0][0]}0", f"{head}.00")
    others = [other for other in rounded if code != other and other not in above]
    return (*above[:-1], *others, *above[-1:])


@lru_cache(maxsize=4096)
def _lineage(code: str) -> tuple[str, ...]:
    """A code and those above it; siblings ask for the same."""
    return (code, *_lineage(code.rpartition(".")[0])) if code else ()


def is_under(code: str, roots: Iterable[str]) -> bool:
    """Whether it is one of the accounts, or a subaccount of one."""
    return any(code == root or code.startswith(f"{root}.") for root in roots)
