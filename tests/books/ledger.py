"""Trial balances (ОСВ) that balance, made up, with every number known: the truth that written books
are held against.
"""

from dataclasses import dataclass, field
from datetime import date
from random import Random

# (code, name, codes and names of its subaccounts), after the Russian chart of accounts.
CHART: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("01", "Основные средства", [("01.01", "Основные средства в организации")]),
    (
        "02",
        "Амортизация основных средств",
        [("02.01", "Амортизация основных средств, учитываемых на счете 01")],
    ),
    (
        "08",
        "Вложения во внеоборотные активы",
        [
            ("08.03", "Строительство объектов основных средств"),
            ("08.04", "Приобретение объектов основных средств"),
            ("08.04.1", "Приобретение компонентов основных средств"),
        ],
    ),
    (
        "10",
        "Материалы",
        [
            ("10.01", "Сырье и материалы"),
            ("10.03", "Топливо"),
            ("10.10", "Специальная оснастка и специальная одежда на складе"),
        ],
    ),
    (
        "19",
        "НДС по приобретенным ценностям",
        [
            ("19.03", "НДС по приобретенным материально-производственным запасам"),
            ("19.04", "НДС по приобретенным услугам"),
        ],
    ),
    ("20", "Основное производство", [("20.Н", "Основное производство, не принимаемое для налога")]),
    ("26", "Общехозяйственные расходы", []),
    (
        "41",
        "Товары",
        [
            ("41.01", "Товары на складах"),
            ("41.02", "Товары в розничной торговле (по покупной стоимости)"),
        ],
    ),
    ("50", "Касса", [("50.01", "Касса организации")]),
    ("51", "Расчетные счета", []),
    ("58", "Финансовые вложения", [("58.03", "Предоставленные займы")]),
    (
        "60",
        "Расчеты с поставщиками и подрядчиками",
        [
            ("60.01", "Расчеты с поставщиками и подрядчиками"),
            ("60.02", "Расчеты по авансам выданным"),
        ],
    ),
    (
        "62",
        "Расчеты с покупателями и заказчиками",
        [
            ("62.01", "Расчеты с покупателями и заказчиками"),
            ("62.02", "Расчеты по авансам полученным"),
            ("62.Р", "Расчеты с розничными покупателями"),
        ],
    ),
    (
        "66",
        "Расчеты по краткосрочным кредитам и займам",
        [("66.01", "Краткосрочные кредиты"), ("66.02", "Проценты по краткосрочным кредитам")],
    ),
    (
        "68",
        "Расчеты по налогам и сборам",
        [
            ("68.02", "Налог на добавленную стоимость"),
            ("68.04", "Налог на прибыль"),
            ("68.04.1", "Расчеты с бюджетом"),
            ("68.90", "Единый налоговый счет"),
        ],
    ),
    (
        "69",
        "Расчеты по социальному страхованию и обеспечению",
        [("69.09", "Страховые взносы по единому тарифу")],
    ),
    ("70", "Расчеты с персоналом по оплате труда", []),
    ("71", "Расчеты с подотчетными лицами", [("71.01", "Расчеты с подотчетными лицами")]),
    (
        "76",
        "Расчеты с разными дебиторами и кредиторами",
        [
            ("76.05", "Расчеты с прочими поставщиками и подрядчиками"),
            ("76.АВ", "НДС по авансам и предоплатам"),
            ("76.ВА", "НДС по авансам и предоплатам выданным"),
        ],
    ),
    ("80", "Уставный капитал", [("80.09", "Прочий капитал")]),
    (
        "84",
        "Нераспределенная прибыль (непокрытый убыток)",
        [("84.01", "Прибыль, подлежащая распределению")],
    ),
    (
        "90",
        "Продажи",
        [
            ("90.01", "Выручка"),
            ("90.01.1", "Выручка по деятельности с основной системой налогообложения"),
            ("90.02", "Себестоимость продаж"),
            ("90.02.1", "Себестоимость продаж по деятельности с основной системой"),
            ("90.09", "Прибыль / убыток от продаж"),
        ],
    ),
    ("91", "Прочие доходы и расходы", [("91.01", "Прочие доходы"), ("91.02", "Прочие расходы")]),
    ("97", "Расходы будущих периодов", [("97.21", "Прочие расходы будущих периодов")]),
    (
        "99",
        "Прибыли и убытки",
        [
            ("99.01", "Прибыли и убытки (за исключением налога на прибыль)"),
            ("99.01.1", "Прибыли и убытки по деятельности с основной системой"),
        ],
    ),
]
OFF_BALANCE = [
    ("001", "Арендованные основные средства"),
    ("007", "Списанная задолженность неплатежеспособных дебиторов"),
    ("МЦ.04", "Инвентарь и хозяйственные принадлежности в эксплуатации"),
]
_ALWAYS = ("76", "84")  # what balances the rest: their balances may stand on either side
_PASSIVE = ("02", "05", "66", "67", "70", "80")
_EITHER = ("60", "62", "68", "69", "71", "76", "84")
_CLOSED = ("26", "90", "91", "99")  # empty at the end of a period

Six = tuple[int, int, int, int, int, int]


@dataclass
class Account:
    """A line of the truth; values in hundredths of the unit, 0 where the cell is empty."""

    code: str
    name: str
    level: int
    parent: str | None
    values: Six
    off_balance: bool = False


@dataclass
class Ledger:
    """A whole trial balance: on-balance accounts, the total, off-balance accounts."""

    accounts: list[Account]
    total: Six
    off_balance: list[Account] = field(default_factory=list)
    organisation: str = 'ООО "Ромашка-Трейд"'
    inn: str | None = None
    period: str = "за 2023 г."
    dates: tuple[date, date] = (date(2023, 1, 1), date(2023, 12, 31))


def make(
    random: Random,
    *,
    share: float = 1.0,
    subaccounts: bool = True,
    expanded: bool = False,
    largest: int = 10**11,
    step: int = 1,
    off_balance: bool = False,
) -> Ledger:
    """Make a balanced ledger out of a random `share` of the chart.

    `step`: every amount is a multiple of it (100: whole units). `expanded`: an account with
    balances on both sides shows both, as 1С does on demand.
    """
    chart = [row for row in CHART if row[0] in _ALWAYS or random.random() < share]
    leaves = {
        code: _plausible(code, _movements(random, largest, step))
        for code in _leaf_codes(chart, subaccounts)
    }
    _balance(leaves, _leaf(leaves, "84"), 0)
    _balance(leaves, _leaf(leaves, "76"), 2)
    accounts = [
        _account(code, name, parent, leaves, expanded=expanded)
        for code, name, parent in _codes(chart, subaccounts)
    ]
    tops = [account.values for account in accounts if account.parent is None]
    total = tuple(sum(column) for column in zip(*tops, strict=True))
    extra = (
        [_off_balance_account(random, code, name, largest, step) for code, name in OFF_BALANCE]
        if off_balance
        else []
    )
    return Ledger(accounts, total, extra)


def _codes(
    chart: list[tuple[str, str, list[tuple[str, str]]]], subaccounts: bool
) -> list[tuple[str, str, str | None]]:
    """(code, name, parent's code) of every line, top down."""
    codes: list[tuple[str, str, str | None]] = []
    for code, name, subs in chart:
        codes.append((code, name, None))
        if subaccounts:
            codes.extend(
                (sub, sub_name, _parent(sub, [s for s, _ in subs], code)) for sub, sub_name in subs
            )
    return codes


def _parent(code: str, siblings: list[str], top: str) -> str:
    above = code.rpartition(".")[0]
    return above if above in siblings else top


def _leaf_codes(
    chart: list[tuple[str, str, list[tuple[str, str]]]], subaccounts: bool
) -> list[str]:
    codes = _codes(chart, subaccounts)
    parents = {parent for _, _, parent in codes}
    return [code for code, _, _ in codes if code not in parents]


def _leaf(leaves: dict[str, list[int]], top: str) -> str:
    return next(code for code in leaves if code.partition(".")[0] == top)


def _movements(random: Random, largest: int, step: int) -> list[int]:
    """Opening debit, opening credit, turnover debit, turnover credit of a leaf."""

    def amount() -> int:
        digits = random.randint(1, len(str(largest)) - 1)
        return max(random.randrange(10**digits) // step, 1) * step

    opening = amount() if random.random() < 0.7 else 0
    is_debit = random.random() < 0.5
    return [
        opening if is_debit else 0,
        0 if is_debit else opening,
        amount() if random.random() < 0.8 else 0,
        amount() if random.random() < 0.8 else 0,
    ]


def _plausible(code: str, movements: list[int]) -> list[int]:
    """The movements as such an account has them: balances on its own side, nothing left where it is
    closed.
    """
    head = code.partition(".")[0]
    opening, debit, credit = max(movements[:2]), movements[2], movements[3]
    if head in _CLOSED:
        return [0, 0, debit, debit]
    if head in _EITHER:
        return movements
    if head in _PASSIVE:
        return [0, opening, min(debit, opening + credit), credit]
    return [opening, 0, debit, min(credit, opening + debit)]


def _balance(leaves: dict[str, list[int]], code: str, first: int) -> None:
    """Let one leaf make debits equal credits; of an opening balance only one side stays."""
    difference = sum(leaf[first] - leaf[first + 1] for leaf in leaves.values())
    leaf = leaves[code]
    leaf[first + (1 if difference > 0 else 0)] += abs(difference)
    if first == 0:
        common = min(leaf[0], leaf[1])
        leaf[0], leaf[1] = leaf[0] - common, leaf[1] - common


def _account(
    code: str, name: str, parent: str | None, leaves: dict[str, list[int]], *, expanded: bool
) -> Account:
    below = [leaf for own, leaf in leaves.items() if own == code or own.startswith(f"{code}.")]
    openings = [leaf[0] - leaf[1] for leaf in below]
    closings = [leaf[0] - leaf[1] + leaf[2] - leaf[3] for leaf in below]
    values = (
        *_sides(openings, expanded=expanded),
        sum(leaf[2] for leaf in below),
        sum(leaf[3] for leaf in below),
        *_sides(closings, expanded=expanded),
    )
    return Account(code, name, 0 if parent is None else code.count("."), parent, values)


def _sides(nets: list[int], *, expanded: bool) -> tuple[int, int]:
    if expanded:
        return sum(net for net in nets if net > 0), -sum(net for net in nets if net < 0)
    return max(sum(nets), 0), max(-sum(nets), 0)


def _off_balance_account(random: Random, code: str, name: str, largest: int, step: int) -> Account:
    debit, _, turnover, _ = _movements(random, largest, step)
    return Account(
        code, name, 0, None, (debit, 0, turnover, 0, debit + turnover, 0), off_balance=True
    )
