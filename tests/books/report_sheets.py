"""Reports of all families on sheets, the way 1С prints them, with the traits that make them hard to
read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.books.sheets import PLAIN, CellValue, Look, Sheet
from tests.books.trees import EMPTY, Node, Six, added

if TYPE_CHECKING:
    from tests.books.reports import Report

_GROUPS = ("Сальдо на начало периода", "Обороты за период", "Сальдо на конец периода")
_SHORT = {"Кол": "Кол.", "Вал": "Вал."}


@dataclass(frozen=True)
class Dress:
    """How a sheet looks."""

    sheet: str = "TDSheet"
    first_column: int = 0
    above: int = 0
    decorative: tuple[int, ...] = ()
    outline: bool = True
    indent: bool = True
    legend: bool = True
    notes: bool = False  # lines of text between the rows
    signatures: bool = True
    total: bool = True
    page_break_after: int | None = None
    sides: tuple[str, str] = ("Дебет", "Кредит")
    organisation: str = 'ООО "Ромашка-Трейд"'
    period: str = "за 1 квартал 2023 г."
    text_amounts: str | None = None


class _Page:
    """A sheet that is written from the top down."""

    def __init__(self, report: "Report", dress: Dress, sheet: Sheet) -> None:
        self.report, self.dress, self.sheet = report, dress, sheet
        self.row = dress.above
        self.label = dress.first_column
        column = self.label + 1
        self.beside: dict[str, int] = {}
        for kind in report.columns:
            self.beside[kind] = column
            column += 1
        self.first = column

    def text(self, text: str) -> None:
        self.sheet.put(self.row, self.label, text, Look(bold=True))
        self.row += 1

    def begin(self) -> None:
        self.text(self.dress.organisation)
        self.text(f"{self.report.title} {self.dress.period}")
        self.row += 1

    def amount(self, row: int, column: int, value: int, *, three: bool = False) -> None:
        if not value:
            return
        number_format = "#,##0.000" if three else self.report.money
        shown: CellValue = value / 100
        if self.dress.text_amounts is not None:
            whole = f"{abs(value) // 100:,}".replace(",", self.dress.text_amounts)
            shown = f"{'-' if value < 0 else ''}{whole},{abs(value) % 100:02d}"
        self.sheet.put(row, column, shown, Look(number_format))

    def name(self, text: str, level: int) -> None:
        if text:
            indent = 2 * level if self.dress.indent else 0
            self.sheet.put(self.row, self.label, text, Look(indent=indent))
        self.outline(level)

    def outline(self, level: int) -> None:
        if self.dress.outline and level:
            self.sheet.levels[self.row] = level

    def gaps(self, count: int) -> list[int]:
        """Columns of amounts, with the empty ones between them."""
        column, columns = self.first, []
        for index in range(count):
            columns.append(column)
            given = self.dress.decorative
            column += 1 + (given[index % len(given)] if given else 0)
        return columns

    def sign(self) -> None:
        if self.dress.signatures:
            self.row += 2
            self.sheet.put(self.row, self.label, "Ответственный:")
            self.sheet.put(self.row, self.first, "Главный бухгалтер")
            self.sheet.put(self.row, self.first + 2, "(расшифровка подписи)")

    def note(self, count: int) -> None:
        if self.dress.notes and count % 5 == 3:
            self.sheet.put(self.row, self.label, "Примечание: сверено, расхождений нет")
            self.row += 1


def write_rows(report: "Report", dress: Dress, sheet: Sheet) -> None:
    """A line a row."""
    page = _Page(report, dress, sheet)
    page.begin()
    labels = list(_labels(report, dress))
    columns = page.gaps(len(labels))
    _header(page, labels, columns)
    places = {place: column for (place, *_), column in zip(labels, columns, strict=True)}
    blocks = _blocks(report)
    count = 0
    for block, nodes in blocks:
        if block:
            page.text(block)
        for node, level in _printed(nodes):
            _row(page, places, node, level)
            count += 1
            if count == dress.page_break_after:
                _header(page, labels, columns)
            page.note(count)
        if block and dress.total:
            values = [node.values for node in nodes]
            of_block = tuple(sum(column) for column in zip(*values, strict=True))
            _row(page, places, Node("total", f"Итого по {block.lower()}у", of_block), 0)
    if report.total is not None and dress.total:
        _row(page, places, _whole(report), 0)
    page.sign()


def _whole(report: "Report") -> Node:
    """«Итого», with all that its lines have beside their amounts."""
    total = Node("total", "Итого", report.total or EMPTY, measures=report.total_measures)
    for month in report.months:
        own = [c.values for node in report.nodes for c in node.children if c.name == month]
        if own:
            total.children.append(Node("period", month, added(own, expanded=True)))
    for side in (0, 1):
        for node in report.nodes:
            for code, amount in node.parts[side].items():
                total.parts[side][code] = total.parts[side].get(code, 0) + amount
    return total


Label = tuple[tuple[str, object], str | None, str]  # (what it is, heading, side or all of it)


def _labels(report: "Report", dress: Dress) -> Iterator[Label]:
    """The columns of amounts, from left to right."""
    if report.one_sided:
        texts = ("Входящие остатки", "Обороты по дебету", "Обороты по кредиту", "Исходящие остатки")
        for place, text in zip((0, 2, 3, 4), texts, strict=True):
            yield ("six", place), None, text
        return
    for place in range(6):
        if report.months and place == 2:
            yield from _month_labels(report, dress)
        if not report.months or place not in (2, 3):
            yield ("six", place), *_six_label(report, dress, place)
        if place in (2, 3):
            for code in sorted({code for node in report.nodes for code in node.parts[place - 2]}):
                yield ("part", (place - 2, code)), None, code


def _six_label(report: "Report", dress: Dress, place: int) -> tuple[str | None, str]:
    group, side = (report.headings or _GROUPS)[place // 2], place % 2
    if report.family != "account_turnover":
        return group, dress.sides[side]
    if report.label != "Субконто":
        return None, f"{group} {('Дт', 'Кт')[side]}"
    if group == "оборот":
        return None, f"{('Деб.', 'Кред.')[side]} {group}"
    return None, f"{group} {('деб.', 'кред.')[side]}"


def _month_labels(report: "Report", dress: Dress) -> Iterator[Label]:
    for month in report.months:
        for side in (0, 1):
            yield ("month", (month, side)), f"{_GROUPS[1]}|{month}", dress.sides[side]


def _header(page: _Page, labels: list[Label], columns: list[int]) -> None:
    report, sheet = page.report, page.sheet
    depth = 1 if all(heading is None for _, heading, _ in labels) else 2
    depth += bool(report.months)
    last = page.row + depth - 1
    sheet.put(page.row, page.label, report.label)
    for kind, text in report.columns.items():
        sheet.put(page.row, page.beside[kind], text)
        sheet.merge(page.row, page.beside[kind], last, page.beside[kind])
    before: dict[int, str] = {}
    for (what, heading, text), column in zip(labels, columns, strict=True):
        for level, part in enumerate((heading or "").split("|")):
            if part and before.get(level) != part:
                sheet.put(page.row + level, column, part)
            before[level] = part
        place = what[1]
        if what[0] == "part" and isinstance(place, tuple):
            _code(sheet, page.row, column, str(place[1]))
        else:
            sheet.put(last if heading else page.row, column, text)
    page.row = last + 1
    if page.dress.legend:
        for text in report.legend:
            sheet.put(page.row, page.label, text)
            page.row += 1


def _code(sheet: Sheet, row: int, column: int, code: str) -> None:
    """A correspondent account, a number under a format of its own where it can be."""
    head, _, tail = code.partition(".")
    if tail in ("", "Н"):
        sheet.put(row, column, int(head), Look("0" * len(head) + (f'".{tail}"' if tail else "")))
    else:
        sheet.put(row, column, code)


def _blocks(report: "Report") -> list[tuple[str, list[Node]]]:
    if not report.one_sided:
        return [("", report.nodes)]
    half = len(report.nodes) // 2
    return [("Актив", report.nodes[:half]), ("Пассив", report.nodes[half:])]


def _printed(nodes: list[Node], level: int = 0) -> Iterator[tuple[Node, int]]:
    for node in nodes:
        yield node, level
        yield from _printed(node.children, level + 1)


def _row(page: _Page, places: dict[tuple[str, object], int], node: Node, level: int) -> None:
    """One line, with its other measures in the rows under it; months that have columns of their own
    are no rows.
    """
    report = page.report
    if node.kind == "period" and report.months:
        return
    page.name(node.account or node.name, level)
    if node.account and "name" in page.beside and node.name:
        page.sheet.put(page.row, page.beside["name"], node.name)
    if report.main and "indicator" in page.beside:
        page.sheet.put(page.row, page.beside["indicator"], report.main)
    od, oc, td, tc, cd, cc = node.values
    _amounts(page, places, (od or oc, 0, td, tc, cd or cc, 0) if report.one_sided else node.values)
    _columns_beside(page, places, node)
    page.row += 1
    for name, measured in node.measures.items():
        if report.measures_named:
            page.name("Количество", level)
        else:
            page.outline(level)
            page.sheet.put(page.row, page.beside["indicator"], _SHORT.get(name, name))
        _amounts(page, places, measured, three=name == "Кол")
        page.row += 1


def _columns_beside(page: _Page, places: dict[tuple[str, object], int], node: Node) -> None:
    """Turnovers by correspondent account and by month."""
    for side in (0, 1):
        for code, amount in node.parts[side].items():
            page.amount(page.row, places["part", (side, code)], amount)
        for child in node.children if page.report.months else []:
            if child.kind == "period":
                column = places["month", (child.name, side)]
                page.amount(page.row, column, child.values[2 + side])


def _amounts(
    page: _Page, places: dict[tuple[str, object], int], values: Six, *, three: bool = False
) -> None:
    for which, value in enumerate(values):
        column = places.get(("six", which))
        if column is not None:
            page.amount(page.row, column, value, three=three)


def write_analysis(report: "Report", dress: Dress, sheet: Sheet) -> None:
    """Анализ счета: a block for each line, one inside the other."""
    page = _Page(report, dress, sheet)
    page.begin()
    page.first += 1
    columns = page.gaps(2)
    for column, text in zip(
        (page.label, page.label + 1, *columns), ("Счет", "Кор. Счет", *dress.sides), strict=True
    ):
        sheet.put(page.row, column, text)
    page.row += 1
    for node in report.nodes:
        _block(page, columns, node, 0)
    page.sign()


def _block(page: _Page, columns: list[int], node: Node, level: int) -> None:
    def marked(text: str, debit: int, credit: int, deeper: int = 0) -> None:
        page.sheet.put(page.row, page.label + 1, text, PLAIN)
        page.outline(level + deeper)
        for column, amount in zip(columns, (debit, credit), strict=True):
            page.amount(page.row, column, amount)
        page.row += 1

    page.name(node.account or node.name, level)
    marked("Начальное сальдо", *node.values[:2])
    if node.children:
        for child in node.children:
            _block(page, columns, child, level + 1)
    else:
        for code in sorted({*node.parts[0], *node.parts[1]}):
            marked(code, node.parts[0].get(code, 0), node.parts[1].get(code, 0), 1)
    marked("Оборот", *node.values[2:4])
    marked("Конечное сальдо", *node.values[4:])
