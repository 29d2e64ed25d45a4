"""The chart of accounts (план счетов, приказ 94н): which accounts there are and how each behaves.

Of other charts only the heads of the codes are known here: the budget one (157н) and the one of
non-credit financial organisations (ЕПС, 486-П).
"""

from enum import Enum

import msgspec

from armka.osv.wording import plain


class Nature(Enum):
    """On which side an account's balance may stand."""

    ACTIVE = "активный"
    PASSIVE = "пассивный"
    BOTH = "активно-пассивный"


class Plan(Enum):
    """A chart of accounts, by the form of its codes."""

    COMMERCIAL = "94н"
    BUDGET = "бюджетный"
    FOUR_DIGITS = "с четырехзначными кодами"
    NFO = "ЕПС"


class Synthetic(msgspec.Struct, frozen=True):
    """A synthetic account (синтетический счет)."""

    name: str
    nature: Nature


_ACTIVE = """
01 Основные средства; 03 Доходные вложения в материальные ценности; 04 Нематериальные активы
07 Оборудование к установке; 08 Вложения во внеоборотные активы; 09 Отложенные налоговые активы
10 Материалы; 11 Животные на выращивании и откорме
15 Заготовление и приобретение материальных ценностей
19 Налог на добавленную стоимость (НДС) по приобретенным ценностям; 20 Основное производство
21 Полуфабрикаты собственного производства; 23 Вспомогательные производства
25 Общепроизводственные расходы; 26 Общехозяйственные расходы; 28 Брак в производстве
29 Обслуживающие производства и хозяйства; 41 Товары; 43 Готовая продукция
44 Расходы на продажу, издержки обращения; 45 Товары отгруженные
46 Выполненные этапы по незавершенным работам; 50 Касса; 51 Расчетные счета; 52 Валютные счета
55 Специальные счета в банках; 57 Переводы в пути; 58 Финансовые вложения
81 Собственные акции (доли); 94 Недостачи и потери от порчи ценностей
97 Расходы будущих периодов
"""
_PASSIVE = """
02 Амортизация основных средств; 05 Амортизация нематериальных активов
14 Резервы под снижение стоимости материальных ценностей; 42 Торговая наценка
59 Резервы под обесценение финансовых вложений; 63 Резервы по сомнительным долгам
66 Расчеты по краткосрочным кредитам и займам; 67 Расчеты по долгосрочным кредитам и займам
70 Расчеты с персоналом по оплате труда; 77 Отложенные налоговые обязательства
80 Уставный капитал; 82 Резервный капитал; 83 Добавочный капитал; 86 Целевое финансирование
96 Резервы предстоящих расходов, оценочные обязательства; 98 Доходы будущих периодов
"""
_BOTH = """
16 Отклонение в стоимости материальных ценностей; 40 Выпуск продукции (работ, услуг)
60 Расчеты с поставщиками и подрядчиками; 62 Расчеты с покупателями и заказчиками
68 Расчеты по налогам и сборам; 69 Расчеты по социальному страхованию и обеспечению
71 Расчеты с подотчетными лицами; 73 Расчеты с персоналом по прочим операциям
75 Расчеты с учредителями; 76 Расчеты с разными дебиторами и кредиторами
79 Внутрихозяйственные расчеты; 84 Нераспределенная прибыль (непокрытый убыток); 90 Продажи
91 Прочие доходы и расходы; 99 Прибыли и убытки; 000 Вспомогательный счет
"""


def _accounts(listed: str, nature: Nature) -> dict[str, Synthetic]:
    entries = [entry.strip() for line in listed.strip().splitlines() for entry in line.split(";")]
    return {code: Synthetic(name, nature) for code, name in (e.split(" ", 1) for e in entries if e)}


SYNTHETIC = {
    **_accounts(_ACTIVE, Nature.ACTIVE),
    **_accounts(_PASSIVE, Nature.PASSIVE),
    **_accounts(_BOTH, Nature.BOTH),
}

# Where both sides may stand at once, and what must be empty when a month has been closed.
EXPANDABLE = frozenset(("60", "62", "68", "69", "71", "73", "75", "76", "79"))
CLOSED_MONTHLY = frozenset(("25", "26", "90", "91"))
CLOSED_YEARLY = frozenset(("90", "91", "99"))

_BUDGET = frozenset(
    [
        "101",
        "102",
        "103",
        "104",
        "105",
        "106",
        "107",
        "108",
        "109",
        "110",
        "111",
        "112",
        "113",
        "114",
        "201",
        "202",
        "203",
        "204",
        "205",
        "206",
        "207",
        "208",
        "209",
        "210",
        "211",
        "212",
        "215",
        "301",
        "302",
        "303",
        "304",
        "306",
        "307",
        "308",
        "401",
        "402",
        "501",
        "502",
        "503",
        "504",
        "506",
        "507",
        "508",
    ]
)
_NFO = frozenset(f"{head:02d}" for head in (10, *range(20, 33), *range(42, 49), *range(50, 62), 71))


def knows(plan: Plan, head: str) -> bool:
    """Whether a chart has accounts whose codes begin so."""
    if plan is Plan.COMMERCIAL:
        return head in SYNTHETIC
    if plan is Plan.BUDGET:
        return head in _BUDGET
    return plan is Plan.NFO and head[:2] in _NFO


def names_agree(code: str, name: str) -> bool:
    """Whether a synthetic account's printed name has at least one word of its name in the chart."""
    known = SYNTHETIC.get(code)
    if known is None:
        return True
    printed = _stems(name)
    return not printed or bool(printed & _stems(known.name))


def _stems(name: str) -> set[str]:
    words = "".join(c if c.isalpha() else " " for c in plain(name)).split()
    return {word[:4] for word in words if len(word) >= 4} | {w for w in words if w in ("ндс", "ос")}
