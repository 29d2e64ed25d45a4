"""Trial balances as CSV that a Russian Excel opens right: UTF-8 with BOM, `;`, decimal comma.

A text that a spreadsheet would take for a formula gets an apostrophe before it; amounts are
numbers and stay what they are.
"""

import csv
from decimal import Decimal
from pathlib import Path

from armka.contract.vocabulary import Column
from armka.core.database.pool import Record
from armka.core.files.export import AMOUNTS, Corrected, told, unread

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

_HEADER = (
    "Документ",
    "Организация",
    "ИНН",
    "Период",
    "Единица",
    "№",
    "Уровень",
    "Вид строки",
    "Счёт",
    "Наименование",
    "Показатель",
    "Валюта",
    "Забалансовый",
    *AMOUNTS.values(),
    "Не прочитано",
    "Исправлено",
    "Строка листа",
    "Страница",
)


class CsvSheet:
    """One table of all documents; the first column counts them."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8-sig", newline="")
        self._table = csv.writer(self._file, delimiter=";", lineterminator="\r\n")
        self._table.writerow(_HEADER)
        self._document: tuple[object, ...] = ()

    def begin(self, document: Record) -> None:
        """The columns that all lines of a document have in common."""
        self._document = (
            document["ordinal"],
            harmless(document["organisation_name"]),
            document["organisation_inn"],
            harmless(document["period_text"]),
            document["unit"],
        )

    def add(self, lines: list[Record], corrected: Corrected) -> None:
        """A row for each line."""
        self._table.writerows(
            (*self._document, *_cells(line, told(corrected.get(line["n"], {})))) for line in lines
        )

    def close(self) -> None:
        """Flush it all."""
        self._file.close()


def _cells(line: Record, corrected: str) -> tuple[object, ...]:
    return (
        line["n"],
        line["level"],
        line["kind"],
        harmless(line["account"]),
        harmless(line["name"]),
        harmless(line["indicator"]),
        harmless(line["currency"]),
        "да" if line["off_balance"] else "",
        *(_amount(line[column.value]) for column in Column),
        harmless(unread(line)),
        harmless(corrected),
        line["sheet_row"],
        line["page"],
    )


def _amount(value: Decimal | None) -> str:
    return "" if value is None else f"{value:f}".replace(".", ",")


def harmless(text: str | None) -> str:
    """A text that no spreadsheet takes for a formula."""
    if not text:
        return ""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
