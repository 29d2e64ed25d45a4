"""A ledger as a scanning system would answer for its pages, with the truth known."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.books.ledger import Ledger, Six

WIDTH, HEIGHT = 2480, 3508  # A4 at 300 dpi
EDGES = (100, 260, 980, 1220, 1460, 1700, 1940, 2180, 2420)
ROW_HEIGHT = 50
GROUPS = ("Сальдо на начало периода", "Обороты за период", "Сальдо на конец периода")

Cells = list[dict[str, Any]]


@dataclass(frozen=True)
class Paper:
    """How it is printed and read."""

    rows_a_page: int = 1000
    header_again: bool = True
    source: str = "text"
    dpi: float | None = 300
    confidence: float | None = None
    numbered_columns: bool = False
    # Called with (row's first text, column, cell); what it changes is what is read.
    spoil: Callable[[str, int, dict[str, Any]], None] | None = None
    headline: list[str] = field(default_factory=list)


def answer(ledger: Ledger, paper: Paper | None = None, document: str = "doc-1") -> dict[str, Any]:
    """The answer for the printed ledger."""
    paper = paper or Paper()
    return whole(_pages(ledger, paper), document)


def whole(pages: list[dict[str, Any]], document: str = "doc-1") -> dict[str, Any]:
    """An answer of these pages."""
    return {
        "schema_version": "1.0",
        "document_id": document,
        "engine": {"name": "trial", "version": "7"},
        "pages": pages,
        "warnings": [],
        "more": {"than": "agreed"},
    }


def money(hundredths: int) -> str:
    """1 234,56."""
    sign = "-" if hundredths < 0 else ""
    whole_part = f"{abs(hundredths) // 100:,}".replace(",", " ")
    return f"{sign}{whole_part},{abs(hundredths) % 100:02d}"


def _pages(ledger: Ledger, paper: Paper) -> list[dict[str, Any]]:
    accounts = (*ledger.accounts, *ledger.off_balance)
    body = [(account.code, account.name, account.values) for account in accounts]
    body.insert(len(ledger.accounts), ("Итого", "", ledger.total))
    size = paper.rows_a_page
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    return [_page(ledger, paper, number, chunk) for number, chunk in enumerate(chunks, 1)]


def _page(
    ledger: Ledger, paper: Paper, number: int, rows: list[tuple[str, str, Six]]
) -> dict[str, Any]:
    lines = []
    if number == 1:
        lines = [
            f"{ledger.organisation}{f', ИНН {ledger.inn}' if ledger.inn else ''}",
            f"Оборотно-сальдовая ведомость {ledger.period}",
            *paper.headline,
        ]
    words = [word for at, line in enumerate(lines) for word in line_of_words(line, 100 + 60 * at)]
    top = 100 + 60 * len(lines) + 40
    cells = _header(paper) if number == 1 or paper.header_again else []
    first = cells[-1]["row"] + 1 if cells else 0
    for r, (code, name, values) in enumerate(rows, first):
        texts = [code, name, *(money(value) if value else "" for value in values)]
        for column, text in enumerate(texts):
            cell = {"row": r, "column": column, "text": text, "confidence": _sure(paper, text)}
            if paper.spoil is not None:
                paper.spoil(code, column, cell)
            cells.append(cell)
    count = first + len(rows)
    for cell in cells:
        _box(cell, top)
        words += [word for word in cell_words(cell) if cell["text"]]
    for word in words:
        word.setdefault("confidence", paper.confidence)
    table = {
        "box": [EDGES[0], top, EDGES[-1], top + ROW_HEIGHT * count],
        "rows": count, "columns": 8, "bordered": True, "cells": cells,
    }  # fmt: skip
    bottom = top + ROW_HEIGHT * count + 80
    words += line_of_words("Главный бухгалтер Иванова И. И.", bottom)
    return page(number, words, [table], source=paper.source, dpi=paper.dpi, height=bottom + 200)


def page(number: int, words: list[Any], tables: list[Any], **fields: Any) -> dict[str, Any]:
    """One page."""
    base = {
        "number": number, "width": WIDTH, "height": HEIGHT, "dpi": 300, "rotation": 0,
        "skew": 0.0, "source": "text", "words": words, "tables": tables,
    }  # fmt: skip
    return base | fields


def _sure(paper: Paper, text: str) -> float | None:
    return paper.confidence if text else None


def _header(paper: Paper) -> Cells:
    cells: Cells = [
        {"row": 0, "column": 0, "row_span": 2, "text": "Счет"},
        {"row": 0, "column": 1, "row_span": 2, "text": "Наименование счета"},
    ]
    for index, group in enumerate(GROUPS):
        cells.append({"row": 0, "column": 2 + 2 * index, "column_span": 2, "text": group})
    for column in range(2, 8):
        text = "Кредит" if column % 2 else "Дебет"
        cells.append({"row": 1, "column": column, "text": text})
    if paper.numbered_columns:
        cells += [{"row": 2, "column": c, "text": str(c + 1)} for c in range(8)]
    for cell in cells:
        cell["confidence"] = paper.confidence
    return cells


def _box(cell: dict[str, Any], top: float) -> None:
    last_row = cell["row"] + cell.get("row_span", 1)
    last_column = cell["column"] + cell.get("column_span", 1)
    cell["box"] = [
        EDGES[cell["column"]], top + ROW_HEIGHT * cell["row"],
        EDGES[last_column], top + ROW_HEIGHT * last_row,
    ]  # fmt: skip


def cell_words(cell: dict[str, Any]) -> Cells:
    """The words of a cell, one after the other from its left edge."""
    left, top, _, _ = cell["box"]
    return line_of_words(cell["text"], top + 10, left + 8)


def line_of_words(text: str, top: float, left: float = 100) -> Cells:
    """Words on one line."""
    words: Cells = []
    for word in text.split():
        right = left + 12 * len(word)
        words.append({"text": word, "box": [left, top, right, top + 30]})
        left = right + 10
    return words
