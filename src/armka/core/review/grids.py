"""The sheet beside the lines: its grid, drawn from what is kept of each value. Pure.

The file itself is not opened here: a document is read in a child process of a service, once.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from armka.core.database.pool import Record
from armka.core.review.documents import split_cell
from armka.core.review.values import AMOUNT_FIELDS
from armka.osv.number_format import understand

_NARROW = "\u00a0"


def grid_of(document: Record, lines: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The rows of the sheet that these lines were read from: what stood in each cell, and which
    value of which line was read there. None where nobody knows where the lines stood.

    Texts are as they were printed where that is kept, else as the cell's format shows its number.
    """
    header = (document["source"] or {}).get("header") or {}
    label, name = header.get("label"), header.get("name")
    rows: dict[int, dict[str, dict[str, Any]]] = {}
    for line in lines:
        if line["row"] is None or line["cells"] is None:
            continue
        own = rows.setdefault(line["row"], {})
        for column, text in _names(line, label, name):
            own.setdefault(column, {"text": text, "line": line["n"], "field": "name"})
        for which, cell in enumerate(line["cells"]):
            if cell is not None:
                column, row = split_cell(cell)
                text = _printed(document, line, which)
                place = {"text": text, "line": line["n"], "field": AMOUNT_FIELDS[which]}
                rows.setdefault(row, {})[column] = place
    if not rows:
        return None
    columns = sorted({column for row in rows.values() for column in row}, key=_order)
    held = dict(zip(document["value_columns"] or [], AMOUNT_FIELDS, strict=False))
    return {
        "sheet": (document["source"] or {}).get("sheet"),
        "columns": [{"letter": it, "field": held.get(it)} for it in columns],
        "rows": [
            {"row": number, "cells": [rows[number].get(column) for column in columns]}
            for number in sorted(rows)
        ],
    }


def _order(column: str) -> tuple[int, str]:
    return len(column), column


def _names(line: dict[str, Any], label: str | None, name: str | None) -> Iterator[tuple[str, str]]:
    """What stood in front of the amounts."""
    account, words = _first(line, "account"), _first(line, "name")
    if label is not None and name is not None and account:
        yield label, account
        yield name, words
    elif label is not None:
        yield label, ", ".join(text for text in (account, words) if text)


def _first(line: dict[str, Any], field: str) -> str:
    """A text as it was read, before any correction."""
    for one in line["corrected"]:
        if one["field"] == field:
            return one["first_value"] or ""
    return line[field] or ""


def _printed(document: Record, line: dict[str, Any], which: int) -> str:
    field = AMOUNT_FIELDS[which]
    raw = (line["raw"] or [None] * 6)[which]
    unknown = next((cell["raw"] for cell in line["unknown"] if cell["column"] == field), None)
    corrected = next((one for one in line["corrected"] if one["field"] == field), None)
    if corrected is not None:
        unknown, value = corrected["first_raw"], corrected["first_value"]
    else:
        value = line["values"][which]
    if raw is not None or unknown is not None:
        return raw if raw is not None else unknown or ""
    own = (line["formats"] or [None] * 6)[which] or (document["formats"] or [None] * 6)[which]
    return shown(value, own)


def shown(value: str | None, number_format: str | None = None) -> str:
    """An amount as a spreadsheet shows it: 1 234,56."""
    if value is None:
        return ""
    decimals = understand(number_format).decimals if number_format else None
    amount = Decimal(value)
    places = max(2 if decimals is None else decimals, -_exponent(amount.normalize()))
    text = f"{abs(amount):,.{places}f}".replace(",", _NARROW).replace(".", ",")
    return f"−{text}" if amount < 0 else text


def _exponent(amount: Decimal) -> int:
    exponent = amount.as_tuple().exponent
    return min(exponent, 0) if isinstance(exponent, int) else 0
