"""Account codes (счёт, субсчёт) as 1С writes them: 60, 60.01, 76.АВ, 90.01.1, 20.Н, 001, МЦ.04."""

import re

import msgspec

# Off-balance accounts that 1С names by letters (ГТД, МЦ.04, НЕ.01.9 …), possibly with subaccounts.
_LETTERED = "АП|ВР|ГТД|КВ|МЦ|НЕ|НПР|ПВ|ПР|РВ|УСН|УТ"
_CODE = rf"(?:\d{{1,5}}|{_LETTERED})(?:\.[0-9А-ЯЁA-Z]{{1,5}}){{0,5}}"
_ACCOUNT = re.compile(_CODE)
_TIME = r"(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек|год|г\b|квартал|полугод|месяц)"
_ACCOUNT_AND_NAME = re.compile(rf"({_CODE})(?: ?, ?| [-–—] | (?!{_TIME}))(.+)", re.IGNORECASE)
_DATE = re.compile(r"\d\d\.\d\d\.(?:19|20)\d\d\b")
_KNOWN = re.compile(rf"(?:\d\d|0\d\d|{_LETTERED})(?:\.[0-9А-ЯЁA-Z]{{1,5}})*")
_OFF_BALANCE = re.compile(rf"(?:0(?!00)\d\d|{_LETTERED})(?:\.|$)")


class Account(msgspec.Struct, frozen=True):
    """A code and the name that stood with it in one cell, if any."""

    code: str
    name: str = ""


def parse(text: str) -> Account | None:
    """Read a cell of an account column, "60.01" or "60.01, Расчеты с поставщиками"; None: there is
    no code in it.
    """
    bare = " ".join(text.split())
    if _DATE.match(bare):
        return None
    if _ACCOUNT.fullmatch(bare):
        return Account(bare)
    match = _ACCOUNT_AND_NAME.fullmatch(bare)
    return Account(match.group(1), match.group(2)) if match else None


def is_off_balance(code: str) -> bool:
    """Whether the code says by itself that the account is off balance (забалансовый); 000 is not."""
    return _OFF_BALANCE.match(code) is not None


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
