"""Trial balances (ОСВ) printed to PDF, each printed cell known."""

import io
from dataclasses import dataclass, field
from pathlib import Path

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from tests.books.ledger import Ledger

_GROUPS = ("Сальдо на начало периода", "Обороты за период", "Сальдо на конец периода")
_MARGIN = 28.0
_PADDING = 2.5


@dataclass(frozen=True)
class Print:
    """How the paper looks. `rules`: "all" around each cell, "light" ones below rows, or "none"."""

    font: Path
    bold: Path
    size: float = 8.0
    rules: str = "all"
    rule_width: float = 0.5
    is_landscape: bool = False
    combined: bool = False  # one column «Счет, Наименование счета»
    repeats_header: bool = True
    separator: str = "\u00a0"
    leading: float = 1.2
    turned: int = 0  # /Rotate of the pages


@dataclass
class Printed:
    """A PDF and, page by page, the body rows printed on it: the texts of their cells."""

    pdf: bytes
    pages: list[list[list[str]]] = field(default_factory=list)


def print_ledger(ledger: Ledger, style: Print) -> Printed:
    """Print a trial balance."""
    return _Printer(ledger, style).run()


def amount(value: int, separator: str = "\u00a0") -> str:
    """As 1С prints hundredths; an empty cell for nothing."""
    if not value:
        return ""
    whole = f"{abs(value) // 100:,}".replace(",", separator)
    return f"{'-' if value < 0 else ''}{whole},{abs(value) % 100:02d}"


def _registered(path: Path) -> str:
    name = path.stem
    if name not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont(name, str(path)))
    return name


class _Printer:
    def __init__(self, ledger: Ledger, style: Print) -> None:
        self.ledger, self.style = ledger, style
        self.font, self.bold = _registered(style.font), _registered(style.bold)
        self.width, self.height = landscape(A4) if style.is_landscape else A4
        self.buffer = io.BytesIO()
        # A page that will be turned is told its size the other way round.
        size = (self.height, self.width) if style.turned % 180 else (self.width, self.height)
        self.canvas = Canvas(self.buffer, pagesize=size, invariant=True, pageCompression=1)
        self.rows = self._rows()
        self.columns = self._columns()
        self.top = self.height - _MARGIN
        self.pages: list[list[list[str]]] = [[]]

    def run(self) -> Printed:
        self._heading()
        self._header()
        for is_bold, cells in self.rows:
            self._row(cells, self.bold if is_bold else self.font)
        self._signatures()
        self._end_page()
        self.canvas.save()
        return Printed(self.buffer.getvalue(), self.pages)

    def _rows(self) -> list[tuple[bool, list[str]]]:
        rows: list[tuple[bool, list[str]]] = []
        for account in [*self.ledger.accounts, *self.ledger.off_balance]:
            if account.off_balance and (not rows or rows[-1][1][0] != "Итого"):
                continue
            rows.append(
                (account.level == 0, self._cells(account.code, account.name, account.values))
            )
        rows.append((True, self._cells("Итого", "", self.ledger.total)))
        return rows

    def _cells(self, code: str, name: str, values: tuple[int, ...]) -> list[str]:
        amounts = [amount(value, self.style.separator) for value in values]
        if self.style.combined:
            return [f"{code}, {name}" if name else code, *amounts]
        return [code, name, *amounts]

    def _columns(self) -> list[float]:
        """The columns' edges: amounts as wide as their widest, the name takes the rest."""
        amounts = [
            max(self._wide(row[index]) for _, row in self.rows) + 2 * _PADDING + 2
            for index in range(-6, 0)
        ]
        amounts = [max(width, self._wide("Кредит") + 2 * _PADDING) for width in amounts]
        code = [] if self.style.combined else [self._wide("69.09.9_Итого") * 0.8 + 2 * _PADDING]
        rest = self.width - 2 * _MARGIN - sum(amounts) - sum(code)
        edges = [_MARGIN]
        for width in [*code, max(rest, 60.0), *amounts]:
            edges.append(edges[-1] + width)
        return edges

    def _wide(self, text: str) -> float:
        return float(pdfmetrics.stringWidth(text, self.bold, self.style.size))

    def _heading(self) -> None:
        for text in (
            self.ledger.organisation,
            f"Оборотно-сальдовая ведомость {self.ledger.period}",
            "Выводимые данные: БУ (данные бухгалтерского учета)",
        ):
            self._text(_MARGIN, self.top - self.style.size * 1.3, text, self.bold, 1.3)
            self.top -= self.style.size * 2
        self.top -= self.style.size

    def _text(self, x: float, y: float, text: str, font: str, larger: float = 1.0) -> None:
        self.canvas.setFont(font, self.style.size * larger)
        self.canvas.drawString(x, y, text)

    def _header(self) -> None:
        names = (
            ["Счет, Наименование счета"] if self.style.combined else ["Счет", "Наименование счета"]
        )
        height = self.style.size * self.style.leading * 2 + 2 * _PADDING
        middle = self.top - height
        for index, label in enumerate(names):
            self._box(index, index + 1, self.top, middle - height / 2, label)
        first = len(names)
        for index, group in enumerate(_GROUPS):
            left = first + 2 * index
            self._box(left, left + 2, self.top, middle, group)
            self._box(left, left + 1, middle, middle - height / 2, "Дебет")
            self._box(left + 1, left + 2, middle, middle - height / 2, "Кредит")
        self.top = middle - height / 2

    def _box(self, first: int, last: int, top: float, bottom: float, text: str) -> None:
        left, right = self.columns[first], self.columns[last]
        self._frame(left, right, top, bottom)
        lines = self._wrapped(text, self.font, right - left)
        for number, line in enumerate(lines):
            y = top - _PADDING - self.style.size * (0.85 + number * self.style.leading)
            width = pdfmetrics.stringWidth(line, self.font, self.style.size)
            self._text((left + right - width) / 2, y, line, self.font)

    def _wrapped(self, text: str, font: str, width: float) -> list[str]:
        room = width - 2 * _PADDING
        words = (it for word in text.split(" ") for it in self._broken(word, font, room))
        return simpleSplit(" ".join(words), font, self.style.size, room) or [""]

    def _broken(self, word: str, font: str, room: float) -> list[str]:
        """A word wider than its cell, in pieces."""
        parts = [""]
        for letter in word:
            if pdfmetrics.stringWidth(parts[-1] + letter, font, self.style.size) > room:
                parts.append("")
            parts[-1] += letter
        return parts

    def _frame(self, left: float, right: float, top: float, bottom: float) -> None:
        self.canvas.setLineWidth(self.style.rule_width)
        if self.style.rules == "all":
            self.canvas.setStrokeGray(0.0)
            self.canvas.rect(left, bottom, right - left, top - bottom)
        elif self.style.rules == "light":
            self.canvas.setStrokeGray(0.6)
            self.canvas.line(left, bottom, right, bottom)

    def _row(self, cells: list[str], font: str) -> None:
        name = 0 if self.style.combined else 1
        texts = [
            self._wrapped(text, font, self.columns[index + 1] - self.columns[index])
            if index <= name
            else [text]
            for index, text in enumerate(cells)
        ]
        height = max(map(len, texts)) * self.style.size * self.style.leading + 2 * _PADDING
        if self.top - height < _MARGIN + 30:
            self._end_page()
            self.pages.append([])
            self.top = self.height - _MARGIN
            if self.style.repeats_header:
                self._header()
        for index, lines in enumerate(texts):
            self._cell(index, lines, height, font, is_amount=index > name)
        self.pages[-1].append(cells)
        self.top -= height

    def _cell(
        self, index: int, lines: list[str], height: float, font: str, *, is_amount: bool
    ) -> None:
        left, right = self.columns[index], self.columns[index + 1]
        self._frame(left, right, self.top, self.top - height)
        for number, line in enumerate(lines):
            y = self.top - _PADDING - self.style.size * (0.85 + number * self.style.leading)
            width = pdfmetrics.stringWidth(line, font, self.style.size)
            self._text(right - _PADDING - width if is_amount else left + _PADDING, y, line, font)

    def _signatures(self) -> None:
        y = self.top - self.style.size * 2.5
        self._text(_MARGIN, y, "Ответственный: ____________ Главный бухгалтер", self.font)

    def _end_page(self) -> None:
        if self.style.turned:
            self.canvas.setPageRotation(self.style.turned)
        self.canvas.showPage()
