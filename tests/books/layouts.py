"""A ledger laid out on a sheet the way 1С prints it, with the traits that make such sheets hard to
read.
"""

from dataclasses import dataclass, field

from tests.books.ledger import Account, Ledger, Six
from tests.books.sheets import PLAIN, CellValue, Look, Sheet

MONEY = "#,##0.00;[Red]-#,##0.00"
_GROUPS = ("Сальдо на начало периода", "Обороты за период", "Сальдо на конец периода")
_SIDES = ("Дебет", "Кредит")


@dataclass(frozen=True)
class Layout:
    """How the sheet looks."""

    combined: bool = False  # one column «Счет, Наименование счета»
    first_column: int = 0
    above: int = 0  # empty rows above everything
    decorative: tuple[int, ...] = ()  # empty columns after each of the amounts, as many as given
    groups: tuple[str, str, str] = _GROUPS
    sides: tuple[str, str] = _SIDES
    unit_line: str | None = None
    currency_line: str | None = None
    numeric_codes: bool = True  # 01 is the number 1 under the format 00, as 1С writes it
    text_amounts: str | None = None  # None, or the separator of thousands of amounts that are texts
    money: str = MONEY
    outline: bool = True
    outline_indent: bool = True
    title: str = "Оборотно-сальдовая ведомость"
    organisation_line: bool = True
    total: bool = True
    signatures: bool = True
    numbered_columns: bool = False
    collapsed: bool = False  # subaccounts hidden under a closed outline
    page_break_after: int | None = None  # the header is printed again after so many lines
    noise: float = 0.0  # what binary arithmetic adds to stored amounts
    extra: dict[str, str] = field(default_factory=dict)


def lay_out(ledger: Ledger, layout: Layout, name: str = "TDSheet") -> Sheet:
    """Write the ledger onto a sheet."""
    return _Writer(ledger, layout, Sheet(name)).write()


class _Writer:
    def __init__(self, ledger: Ledger, layout: Layout, sheet: Sheet) -> None:
        self.ledger, self.layout, self.sheet = ledger, layout, sheet
        self.row = layout.above
        names = 1 if layout.combined else 2
        column = layout.first_column + names
        self.columns = []
        for index in range(6):
            self.columns.append(column)
            column += 1 + (layout.decorative[index] if index < len(layout.decorative) else 0)

    def write(self) -> Sheet:
        self._above()
        self._header()
        if self.layout.numbered_columns:
            for index, column in enumerate([*self._name_columns(), *self.columns], 1):
                self.sheet.put(self.row, column, index)
            self.row += 1
        for count, account in enumerate(self.ledger.accounts, 1):
            self._account(account)
            if count == self.layout.page_break_after:
                self._header()
        if self.layout.total:
            self._line("Итого", "", self.ledger.total, Look(bold=True))
        for account in self.ledger.off_balance:
            self._account(account)
        if self.layout.signatures:
            self._signatures()
        return self.sheet

    def _name_columns(self) -> list[int]:
        first = self.layout.first_column
        return [first] if self.layout.combined else [first, first + 1]

    def _text(self, text: str, look: Look = PLAIN) -> None:
        self.sheet.put(self.row, self.layout.first_column, text, look)
        self.row += 1

    def _above(self) -> None:
        layout, ledger = self.layout, self.ledger
        if layout.organisation_line:
            inn = f", ИНН {ledger.inn}" if ledger.inn else ""
            self._text(f"{ledger.organisation}{inn}", Look(bold=True))
        self._text(f"{layout.title} {ledger.period}", Look(bold=True))
        self.sheet.put(self.row, layout.first_column, "Выводимые данные:")
        self.sheet.put(self.row, layout.first_column + 2, "БУ (данные бухгалтерского учета)")
        self.row += 1
        for line in (layout.unit_line, layout.currency_line):
            if line:
                self._text(line)
        self.row += 1

    def _header(self) -> None:
        labels = (
            ["Счет, Наименование счета"] if self.layout.combined else ["Счет", "Наименование счета"]
        )
        for column, label in zip(self._name_columns(), labels, strict=True):
            self.sheet.put(self.row, column, label)
            self.sheet.merge(self.row, column, self.row + 1, column)
        for index, group in enumerate(self.layout.groups):
            first, last = self.columns[2 * index], self.columns[2 * index + 1]
            self.sheet.put(self.row, first, group)
            self.sheet.merge(self.row, first, self.row, last)
        for index, column in enumerate(self.columns):
            self.sheet.put(self.row + 1, column, self.layout.sides[index % 2])
        self.row += 2

    def _account(self, account: Account) -> None:
        layout = self.layout
        if layout.outline:
            self.sheet.levels[self.row] = account.level
            if layout.collapsed and account.level:
                self.sheet.hidden_rows.add(self.row)
        look = Look(indent=account.level if layout.outline_indent else 0)
        if layout.combined:
            self._line(f"{account.code}, {account.name}", "", account.values, look)
        else:
            label = self._code(account.code, look)
            self._line(label, account.name, account.values)

    def _code(self, code: str, look: Look) -> str:
        """The code's cell is put here where it is a number under a format of its own; else the line
        puts its text.
        """
        head, _, tail = code.partition(".")
        if self.layout.numeric_codes and head.isdigit() and tail in ("", "Н"):
            number_format = "0" * len(head) if head[0] == "0" else "0"
            number_format += f'".{tail}"' if tail else ""
            self.sheet.put(
                self.row,
                self.layout.first_column,
                int(head),
                Look(number_format, indent=look.indent),
            )
            return ""
        return code

    def _line(self, label: CellValue, name: str, values: Six, look: Look = PLAIN) -> None:
        names = self._name_columns()
        if label != "":
            self.sheet.put(self.row, names[0], label, look)
        if name and len(names) == 2:
            self.sheet.put(self.row, names[1], name)
        for column, value in zip(self.columns, values, strict=True):
            if value:
                self.sheet.put(
                    self.row, column, self._amount(value), Look(self.layout.money, bold=look.bold)
                )
        self.row += 1

    def _amount(self, value: int) -> CellValue:
        if self.layout.text_amounts is None:
            return value / 100 * (1 + self.layout.noise)
        sign, whole = "\u2212" if value < 0 else "", f"{abs(value) // 100:,}"
        return f"{sign}{whole.replace(',', self.layout.text_amounts)},{abs(value) % 100:02d}"

    def _signatures(self) -> None:
        self.row += 2
        first = self.layout.first_column
        self.sheet.put(self.row, first, "Ответственный:")
        self.sheet.put(self.row, self.columns[0], "Главный бухгалтер")
        self.sheet.put(self.row + 1, self.columns[0], "(должность)")
        self.sheet.put(self.row + 1, self.columns[2], "(подпись)")
        self.sheet.put(self.row + 1, self.columns[4], "(расшифровка подписи)")
        self.row += 2
