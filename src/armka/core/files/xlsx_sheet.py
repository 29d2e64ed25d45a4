"""Trial balances as a workbook, a sheet for each document, written row by row."""

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import xlsxwriter

from armka.contract.vocabulary import Column
from armka.core.database.pool import Record
from armka.core.files.export import AMOUNTS, Corrected, told, unread, was

_HEADER = (
    "№",
    "Уровень",
    "Счёт",
    "Наименование",
    "Показатель",
    "Валюта",
    *AMOUNTS.values(),
    "Не прочитано",
    "Исправлено",
    "Строка листа",
    "Страница",
)
_WIDTHS = (6, 8, 14, 48, 11, 8, *[18] * len(AMOUNTS), 24, 40, 12, 9)
_HEADER_ROW = 4
# A cell's number is a double: what has more digits is kept whole, as a text.
_EXACT_DIGITS = 15
_LONGEST_TEXT = 32_767
_LONGEST_NOTE = 2000
_LONGEST_SHEET_NAME = 31
_NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\']")


class XlsxSheets:
    """A workbook. Texts are written as texts, so none of them is a formula; amounts are numbers."""

    def __init__(self, path: Path) -> None:
        options = {"constant_memory": True, "tmpdir": str(path.parent)}
        self._book = xlsxwriter.Workbook(str(path), options)
        # The quote makes a text stay one when somebody edits the cell.
        self._text = self._book.add_format({"quote_prefix": True})
        self._amount = self._book.add_format({"num_format": "#,##0.00##"})
        marked = {"bg_color": "#FDF0D8"}
        self._marked_text = self._book.add_format({"quote_prefix": True} | marked)
        self._marked = self._book.add_format({"num_format": "#,##0.00##"} | marked)
        self._bold = self._book.add_format({"bold": True, "text_wrap": True, "quote_prefix": True})
        self._sheet: Any = None
        self._row = 0

    def begin(self, document: Record) -> None:
        """A sheet with a head: whose it is, for when, in what unit."""
        words = str(document["account"] or "ОСВ")
        name = _NOT_IN_SHEET_NAMES.sub(" ", f"{document['ordinal']} {words}")
        self._sheet = self._book.add_worksheet(name[:_LONGEST_SHEET_NAME].rstrip())
        for column, width in enumerate(_WIDTHS):
            self._sheet.set_column(column, column, width)
        unit = f"Единица: {document['unit']} {document['currency'] or ''}".rstrip()
        head = (document["title"], document["organisation_name"], document["period_text"], unit)
        for row, words in enumerate(head):
            self._write_text(row, 0, words, self._bold)
        for column, words in enumerate(_HEADER):
            self._write_text(_HEADER_ROW, column, words, self._bold)
        self._sheet.freeze_panes(_HEADER_ROW + 1, 0)
        self._row = _HEADER_ROW + 1

    def add(self, lines: list[Record], corrected: Corrected) -> None:
        """A row for each line; corrected cells are marked, and say what was read there first."""
        for line in lines:
            self._add_line(line, corrected.get(line["n"], {}))
            self._row += 1

    def close(self) -> None:
        """Put the workbook together."""
        self._book.close()

    def _add_line(self, line: Record, corrected: Mapping[str, Record]) -> None:
        sheet, row = self._sheet, self._row
        sheet.write_number(row, 0, line["n"])
        sheet.write_number(row, 1, line["level"])
        for column, name in enumerate(("account", "name", "indicator", "currency"), start=2):
            style = self._marked_text if name in corrected else self._text
            self._write_text(row, column, line[name], style)
            self._note(row, column, corrected.get(name))
        for column, amount in enumerate(Column, start=6):
            mine = corrected.get(amount.value)
            self._write_amount(row, column, line[amount.value], is_marked=mine is not None)
            self._note(row, column, mine)
        self._write_text(row, 12, unread(line), self._text)
        self._write_text(row, 13, told(corrected), self._text)
        for column, name in enumerate(("sheet_row", "page"), start=14):
            if line[name] is not None:
                sheet.write_number(row, column, line[name])

    def _note(self, row: int, column: int, corrected: Record | None) -> None:
        if corrected is not None:
            note = f"было {was(corrected)}, исправил(а) {corrected['made_by']}"
            self._sheet.write_comment(row, column, note[:_LONGEST_NOTE])

    def _write_text(self, row: int, column: int, words: str | None, style: Any) -> None:
        if words:
            self._sheet.write_string(row, column, words[:_LONGEST_TEXT], style)

    def _write_amount(
        self, row: int, column: int, value: Decimal | None, *, is_marked: bool
    ) -> None:
        style = self._marked if is_marked else self._amount
        if value is None:
            if is_marked:
                self._sheet.write_blank(row, column, None, style)
            return
        if len(value.as_tuple().digits) > _EXACT_DIGITS:
            text = self._marked_text if is_marked else self._text
            self._sheet.write_string(row, column, f"{value:f}", text)
        else:
            self._sheet.write_number(row, column, float(value), style)
