"""The source beside the lines, drawn from what is kept: the sheet's grid, or a page with its words.

The file itself is not opened here: a document is read in a child process of a service, once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import structlog

from armka.contract.vocabulary import Column
from armka.core.database.pool import Database, Record
from armka.core.database.queries import load
from armka.core.errors import PageNotKept
from armka.core.review.documents import split_cell
from armka.core.review.values import AMOUNT_FIELDS
from armka.objects.store import ObjectMissing, ObjectStore, ObjectTooLarge
from armka.osv.number_format import understand

log = structlog.get_logger(__name__)
SQL = load(__package__)

_ANSWERS_AT_HAND = 3
_NARROW = "\u00a0"
_A4 = (2100, 2970)


# ── The sheet ────────────────────────────────────────────────────────────────────────────────────


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


# ── The page ─────────────────────────────────────────────────────────────────────────────────────


class _Word(msgspec.Struct, frozen=True, gc=False):
    text: str
    box: tuple[float, float, float, float]
    confidence: float | None = None


class _Page(msgspec.Struct, frozen=True):
    number: int
    width: int
    height: int
    words: list[_Word] = []
    preview: msgspec.Raw = msgspec.Raw(b"null")  # judged by itself: a bad one spoils no words


class _Picture(msgspec.Struct, frozen=True):
    media_type: str
    data: bytes


class _Answer(msgspec.Struct, frozen=True):
    pages: list[_Page]


_PICTURES = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n"}
_answers = msgspec.json.Decoder(_Answer)
_pictures = msgspec.json.Decoder(_Picture | None)


class PageSources:
    """Draws pages from the raw answers of the scanning system; the last few are at hand."""

    def __init__(self, database: Database, objects: ObjectStore, max_bytes: int) -> None:
        self._database = database
        self._objects = objects
        self._max_bytes = max_bytes
        self._at_hand: OrderedDict[UUID, dict[int, _Page]] = OrderedDict()

    async def page(
        self, document: Record, number: int, lines: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        """A page: its size, its words and whether there is a picture of it. Boxes are left, top,
        right, bottom in shares of the page.

        Where the answer is gone, or of another kind than ours, the values of `lines` are its words.
        Raises PageNotKept where there are none either, StoreUnavailable.
        """
        found = (await self._pages(document["current_recognition_job_id"])).get(number)
        if found is not None:
            words = [_in_shares(word, found) for word in found.words if word.text.strip()]
            size, has_picture = (found.width, found.height), _picture(found) is not None
        else:
            words = list(_values_on(number, lines))
            size, has_picture = _A4, False
        if not words:
            raise PageNotKept(document["stored_file_id"], number)
        return {
            "page": number,
            "width": size[0],
            "height": size[1],
            "words": words,
            "has_picture": has_picture,
        }

    async def picture(self, document: Record, number: int) -> tuple[str, bytes]:
        """The picture of a page, its media type first; raises PageNotKept, StoreUnavailable."""
        page = (await self._pages(document["current_recognition_job_id"])).get(number)
        found = _picture(page) if page is not None else None
        if found is None:
            raise PageNotKept(document["stored_file_id"], number)
        return found.media_type, found.data

    async def _pages(self, job_id: UUID) -> dict[int, _Page]:
        if job_id not in self._at_hand:
            self._at_hand[job_id] = await self._read(job_id)
            while len(self._at_hand) > _ANSWERS_AT_HAND:
                self._at_hand.popitem(last=False)
        self._at_hand.move_to_end(job_id)
        return self._at_hand[job_id]

    async def _read(self, job_id: UUID) -> dict[int, _Page]:
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.raw_answer, job_id)
        if row is None or row["bucket"] != self._objects.bucket:
            return {}
        try:
            body = await self._objects.get(row["key"], limit=self._max_bytes)
            answer = await asyncio.to_thread(_answers.decode, body)
        except (ObjectMissing, ObjectTooLarge, msgspec.DecodeError) as error:
            log.info("no page can be drawn of the raw answer", job_id=str(job_id), why=str(error))
            return {}
        return {page.number: page for page in answer.pages if page.width > 0 and page.height > 0}


def _picture(page: _Page) -> _Picture | None:
    """The picture that came with a page, where it is one that browsers may be given."""
    try:
        found = _pictures.decode(page.preview)
    except msgspec.DecodeError:
        return None
    begins = _PICTURES.get(found.media_type) if found else None
    return found if found and begins and found.data.startswith(begins) else None


def _in_shares(word: _Word, page: _Page) -> dict[str, Any]:
    left, top, right, bottom = word.box
    box = (left / page.width, top / page.height, right / page.width, bottom / page.height)
    return {
        "text": word.text,
        "box": [round(min(max(share, 0.0), 1.0), 5) for share in box],
        "confidence": word.confidence,
    }


def _values_on(number: int, lines: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The values that were read on a page, as its words."""
    for line in lines:
        if line["page"] != number:
            continue
        for which, box in enumerate(line["boxes"] or []):
            text = shown(line["values"][which])
            if box is not None and text:
                confidence = (line["confidence"] or [None] * len(Column))[which]
                yield {"text": text, "box": box, "confidence": confidence}
