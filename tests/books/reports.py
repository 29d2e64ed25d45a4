"""The families of reports that 1С makes of a ledger (domain: `group_schema`), each a sheet and the
truth about it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.books import trees
from tests.books.report_sheets import Dress, write_analysis, write_rows
from tests.books.sheets import Sheet
from tests.books.trees import Line, Node, Six, added, branch, movements

FIRMS = [
    *("ООО «Альфа-Лен»", "АО «Берёзовый двор»", "ИП Незнамов А. А.", "ООО «Вереск»", "Гранит-2"),
    *("ООО «Дом у реки»", "60 лет Октября ООО", "Ёлочка", "ЗАО «Жаворонок»", "51 регион"),
]
CONTRACTS = ["Договор № 1 от 01.02.2023", "№ 17/2023", "Основной договор", "10.01", "б/н", "2023"]
GOODS = ["Лён трёпаный", "Нить льняная", "Полотно", "Ткань суровая", "Мешок джутовый", "Шпагат"]
MONTHS = ["Январь 2023 г.", "Февраль 2023 г.", "Март 2023 г."]
_SUBS = {"60": ["60.01", "60.02", "60.31"], "62": ["62.01", "62.02"], "76": ["76.05", "76.09"]}


@dataclass
class Report:
    """A report: what is printed, and how each family prints it."""

    family: str
    title: str
    nodes: list[Node]
    account: str | None = None
    legend: list[str] = field(default_factory=list)
    main: str | None = None  # the indicator of the lines themselves, where there are several
    total: Six | None = None
    total_measures: dict[str, Six] = field(default_factory=dict)
    headings: tuple[str, str, str] | None = None
    label: str = "Счет"
    columns: dict[str, str] = field(default_factory=dict)
    write: Callable[["Report", Dress, Sheet], None] = write_rows
    money: str = "#,##0.00;[Red]-#,##0.00"
    months: tuple[str, ...] = ()  # those that have columns of their own
    one_sided: bool = False
    measures_named: bool = False  # «Количество» stands under «Субконто», as УПП prints it

    def lines(self) -> list[Line]:
        """The truth, without the total."""
        return list(trees.lines(self.nodes, self.main))

    def sheet(self, dress: Dress) -> Sheet:
        """The report on a sheet."""
        sheet = Sheet(dress.sheet)
        self.write(self, dress, sheet)
        return sheet


def _account(random: Random, make: trees.Make, names: list[str]) -> tuple[str, Node]:
    """An account of settlements with its subaccounts, lines of these names under each."""
    code = random.choice(list(_SUBS))
    node = Node("account", "", account=code)
    branch(
        random,
        node,
        lambda sub: branch(random, Node("account", "", account=sub), make, names),
        _SUBS[code],
    )
    node.children.sort(key=lambda child: child.account or "")
    return code, node


def subconto(random: Random, levels: int = 2) -> Report:
    """ОСВ по счету: subconto under subaccounts, one level or two."""

    def firm(name: str) -> Node:
        node = Node("dimension", name, movements(random))
        if levels == 1:
            return node
        return branch(random, node, lambda c: Node("dimension", c, movements(random)), CONTRACTS)

    code, node = _account(random, firm, FIRMS)
    title = f"Оборотно-сальдовая ведомость по счету {code}"
    legend = ["Контрагенты", "Договоры"][:levels]
    return Report("account_subconto", title, [node], code, legend, total=node.values)


def indicators(random: Random) -> Report:
    """A whole balance by БУ, НУ, ПР and ВР."""

    def leaf(code: str, name: str, values: Six) -> Node:
        node = Node("account", name, values, account=code)
        tax = _share(values, random.random())
        rest = _less(values, tax)
        node.measures = {"НУ": tax, "ПР": rest, "ВР": trees.EMPTY}
        return node

    pairs = [movements(random, active=True) for _ in range(3)]
    mirrored = [(oc, od, tc, td, cc, cd) for od, oc, td, tc, cd, cc in pairs]
    names = ["01 Основные средства", "10 Материалы", "51 Расчетные счета"]
    others = [
        "02 Амортизация основных средств",
        "80 Уставный капитал",
        "84 Нераспределенная прибыль",
    ]
    nodes = [
        leaf(name[:2], name[3:], values)
        for name, values in sorted(zip([*names, *others], [*pairs, *mirrored], strict=True))
    ]
    total = added([node.values for node in nodes], expanded=True)
    measures = {
        name: added([node.measures[name] for node in nodes], expanded=True) for name in ("НУ", "ПР")
    }
    return Report(
        "indicators",
        "Оборотно-сальдовая ведомость",
        nodes,
        main="БУ",
        total=total,
        total_measures=measures,
        columns={"indicator": "Показа-\nтели", "name": "Наименование счета"},
    )


def _share(values: Six, share: float) -> Six:
    od, oc, td, tc, _, _ = (int(value * share) for value in values)
    return trees.net((od, oc, td, tc, od - oc + td - tc, 0))


def _less(values: Six, part: Six) -> Six:
    od, oc, td, tc, _, _ = (a - b for a, b in zip(values, part, strict=True))
    return trees.net((od - oc, 0, td, tc, od - oc + td - tc, 0))


def quantities(random: Random) -> Report:
    """ОСВ по счету 10: goods by БУ and Кол."""
    node = branch(
        random,
        Node("account", "", account="10"),
        lambda sub: branch(
            random, Node("account", "", account=sub), lambda name: _goods(random, name), GOODS
        ),
        ["10.01", "10.03", "10.06"],
    )
    return Report(
        "indicators",
        "Оборотно-сальдовая ведомость по счету 10",
        [node],
        "10",
        ["Номенклатура"],
        main="БУ",
        total=node.values,
        total_measures=node.measures,
        columns={"indicator": "Показа-\nтели"},
    )


def _goods(random: Random, name: str) -> Node:
    node = Node("dimension", name, movements(random, active=True))
    node.measures = {"Кол": movements(random, active=True)}
    return node


def currencies(random: Random) -> Report:
    """ОСВ по счету with lines by currency, each in roubles and in its own."""

    def of_firm(name: str) -> Node:
        node = Node("dimension", name)
        return branch(random, node, lambda code: _money(random, code), ["USD", "EUR", "CNY"])

    code, node = _account(random, of_firm, FIRMS)
    for one in node.walk():
        if one.kind != "currency":
            one.measures = {}
    return Report(
        "currency",
        f"Оборотно-сальдовая ведомость по счету {code}",
        [node],
        code,
        ["Контрагенты", "Валюта"],
        main="БУ",
        total=node.values,
        columns={"indicator": "Показа-\nтели"},
    )


def _money(random: Random, code: str) -> Node:
    node = Node("currency", code, movements(random), currency=code)
    node.measures = {"Вал": movements(random)}
    return node


def periods(random: Random) -> Report:
    """ОСВ по счету by months."""

    def firm(name: str) -> Node:
        return trees.months(random, Node("dimension", name, movements(random)), MONTHS)

    code, node = _account(random, firm, FIRMS)
    title = f"Оборотно-сальдовая ведомость по счету {code}"
    return Report("periods", title, [node], code, ["Контрагенты", "Период"], total=node.values)


def period_columns(random: Random) -> Report:
    """Turnovers of each month in columns of their own."""
    code, node = _account(random, lambda name: Node("dimension", name, movements(random)), FIRMS)
    for one in list(node.walk()):
        if not one.children:
            trees.months(random, one, MONTHS)
    _raise_months(node)
    return Report(
        "periods",
        f"Оборотно-сальдовая ведомость по счету {code}",
        [node],
        code,
        ["Контрагенты"],
        total=node.values,
        months=tuple(MONTHS),
    )


def _raise_months(node: Node) -> None:
    """Months of the leaves, added up in the lines above; only their turnovers are printed."""
    for child in node.children:
        if child.kind != "period":
            _raise_months(child)
    kept = [child for child in node.children if child.kind != "period"]
    if kept:
        parts = [c for child in kept for c in child.children if c.kind == "period"]
        by_month = {name: [c.values for c in parts if c.name == name] for name in MONTHS}
        own = [Node("period", name, added(values)) for name, values in by_month.items() if values]
    else:
        own = [child for child in node.children if child.kind == "period"]
    for child in own:
        child.values = (0, 0, *child.values[2:4], 0, 0)
    node.children = [child for child in own if any(child.values)] + kept


def turnover(random: Random) -> Report:
    """Обороты счета, with a column for each correspondent account."""
    code, node = _account(random, lambda n: Node("dimension", n, movements(random)), FIRMS)
    trees.correspondents(random, node, ["08", "10", "20.Н", "51", "91"])
    return Report(
        "account_turnover",
        f"Обороты счета {code}",
        [node],
        code,
        ["Контрагенты"],
        total=node.values,
        headings=("Начальное сальдо", "Оборот", "Конечное сальдо"),
    )


def upp_turnover(random: Random) -> Report:
    """Обороты счета as УПП prints them, with quantities under their goods."""
    node = branch(
        random, Node("account", "", account="11.04"), lambda name: _goods(random, name), GOODS
    )
    node.measures = {}
    trees.correspondents(random, node, ["01", "11", "20", "60", "94.Н"])
    return Report(
        "account_turnover",
        "Обороты счета 11",
        [node],
        "11",
        total=node.values,
        headings=("Нач. сальдо", "оборот", "Кон. сальдо"),
        label="Субконто",
        measures_named=True,
    )


def analysis(random: Random) -> Report:
    """Анализ счета: balances and turnovers are rows."""
    code, node = _account(random, lambda n: Node("dimension", n, movements(random)), FIRMS)
    trees.correspondents(random, node, ["08.03", "10", "51", "91.01", "91.02"])
    return Report(
        "account_analysis",
        f"Анализ счета {code}",
        [node],
        code,
        write=write_analysis,
    )


def upp_subconto(random: Random) -> Report:
    """ОСВ по счету of УПП, where accounts are not shown."""
    nodes = [Node("dimension", name, movements(random)) for name in random.sample(FIRMS, 5)]
    total = added([node.values for node in nodes], expanded=True)
    return Report(
        "upp",
        "Оборотно-сальдовая ведомость по счету 76",
        nodes,
        "76",
        total=total,
        headings=("Сальдо на начало периода", "Оборот за период", "Сальдо на конец периода"),
        label="Субконто",
    )


def budget(random: Random) -> Report:
    """ОСВ of a budget institution: КФО, accounts of the budget chart, КБК."""

    def of_kfo(kfo: str) -> Node:
        debit, credit = movements(random), movements(random)
        nodes = [
            _budget_account(random, "101", "101.34", debit),
            _budget_account(random, "205", "205.31", credit),
        ]
        balancing = added([node.values for node in nodes])
        mirrored = (*_swapped(balancing[:2]), *_swapped(balancing[2:4]), *_swapped(balancing[4:]))
        nodes.append(_budget_account(random, "401", "401.10", mirrored))
        node = Node("dimension", kfo, children=nodes)
        node.values = added([child.values for child in nodes], expanded=True)
        return node

    nodes = [of_kfo("2"), of_kfo("4")]
    total = added([node.values for node in nodes], expanded=True)
    return Report(
        "budget",
        "Оборотно-сальдовая ведомость",
        nodes,
        total=total,
        legend=["Счет", "КПС"],
        label="КФО",
    )


def _swapped(pair: tuple[int, ...]) -> tuple[int, int]:
    return pair[1], pair[0]


def _budget_account(random: Random, head: str, code: str, values: Six) -> Node:
    kbk = Node("dimension", f"0706000000000{random.randrange(10**6):06d}", values)
    inner = Node("account", "", values, account=code, children=[kbk])
    return Node("account", "", values, account=f"{head}.00", children=[inner])


def one_sided(random: Random) -> Report:
    """Оборотная ведомость НФО (0420521): balances of one side, актив and пассив apart."""
    active = [
        Node("account", name, movements(random, active=True), account=code)
        for code, name in (("20501", "Расчетные счета"), ("20503", "Депозиты"), ("50104", "Акции"))
    ]
    passive = []
    for node, code in zip(active, ("10208", "43708", "47422"), strict=True):
        od, oc, td, tc, cd, cc = node.values
        passive.append(Node("account", "Пассивный счет", (oc, od, tc, td, cc, cd), account=code))
    return Report(
        "nfo_eps",
        "Оборотная ведомость НФО по счетам бухгалтерского учета",
        [*active, *passive],
        one_sided=True,
        label="Счет ЕПС",
        columns={"name": "Наименование счета"},
    )


def four_digits(random: Random) -> Report:
    """A chart of four digits, as in Kazakhstan."""
    values = movements(random, active=True)
    od, oc, td, tc, cd, cc = values
    nodes = [
        Node("account", "Денежные средства на текущих счетах", values, account="1030"),
        Node("account", "Авансы полученные", (oc, od, tc, td, cc, cd), account="3510"),
    ]
    total = added([node.values for node in nodes], expanded=True)
    return Report(
        "accounts",
        "Оборотно-сальдовая ведомость",
        nodes,
        total=total,
        columns={"name": "Наименование счета"},
    )


FAMILIES: dict[str, Callable[[Random], Report]] = {
    "subconto, two levels": subconto,
    "subconto, one level": lambda random: subconto(random, 1),
    "БУ, НУ, ПР, ВР": indicators,
    "БУ, Кол.": quantities,
    "currencies": currencies,
    "months in rows": periods,
    "months in columns": period_columns,
    "обороты счета": turnover,
    "обороты счета, УПП": upp_turnover,
    "анализ счета": analysis,
    "УПП, субконто": upp_subconto,
    "БГУ": budget,
    "0420521": one_sided,
    "four digits": four_digits,
}
