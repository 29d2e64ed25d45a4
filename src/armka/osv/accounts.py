"""Account codes (счёт, субсчёт) as 1С writes them: 60, 60.01, 76.АВ, 90.01.1, 20.Н, 001, МЦ.04."""

import re

import msgspec

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


def is_off_balance(code: str) -> bool:
    """Whether the code says by itself that it is off balance (забалансовый); 000 is not."""
    return not "1" <= code[0] <= "9" and _OFF_BALANCE.match(code) is not None


def is_known_form(code: str) -> bool:
    """Whether the code has a form of the Russian chart of accounts: two digits, 0 and two digits,
    or letters.
    """
    return _KNOWN.fullmatch(code) is not None


def other_plan(code: str) -> str | None:
    """Which other chart of accounts, by its layout family, the code's head belongs to; None: it may
    be ours.
    """
    head = code.partition(".")[0]
    if len(head) < 3 or not head.isdigit() or (len(head) == 3 and head[0] == "0"):
        return None
    return {3: "budget", 4: "four_digit_plan"}.get(len(head), "nfo_eps")


def ancestors(code: str) -> list[str]:
    """The codes above it, nearest first: 90.01.1 is under 90.01, which is under 90."""
    parts = code.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]
