"""A recognised document as it is shown: lines with where they stood, failed checks, corrections."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import DocumentNotFound, FileNotFound
from armka.core.review import values
from armka.core.review.corrections import etag_of

SQL = load(__package__)

_SPLIT_CELL = re.compile(r"([A-Z]+)([0-9]+)")


@dataclass(frozen=True)
class LineFilter:
    """Which lines; all that is given must hold.

    `problems`: with unknown values, or those that failed checks are about; `check`: those that this
    failed check names, by its ordinal; `account`: from its line to the next account's, with its
    subaccounts; `text`: part of the account or the name, in any case.
    """

    problems: bool = False
    check: int | None = None
    account: str | None = None
    text: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether it leaves anything out."""
        return self != LineFilter()


@dataclass(frozen=True)
class Opened:
    """A document with its file, its failed checks and the last word about its attempt."""

    row: Record
    checks: list[Record]
    corrections: int
    confirmations: list[Record]

    @property
    def etag(self) -> str:
        """Its tag at this revision."""
        return etag_of(self.row["id"], self.row["revision"])


@dataclass(frozen=True)
class Window:
    """Some lines one after the other: `before` is the first of the window above it, `after` the
    last of it where more follow.
    """

    lines: list[dict[str, Any]]
    before: int | None
    after: int | None


class ReviewedDocuments:
    """Reads documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def one(self, file_id: UUID, ordinal: int) -> Opened:
        """A document; raises FileNotFound, DocumentNotFound."""
        async with self._database.connection() as connection:
            row = await _document(connection, file_id, ordinal)
            job_id = row["current_recognition_job_id"]
            return Opened(
                row,
                await connection.fetch(SQL.checks, row["id"]),
                await connection.fetchval(SQL.correction_count, row["id"]),
                await connection.fetch(SQL.confirmations, file_id, job_id),
            )

    async def lines(self, document: Record, wanted: LineFilter, after: int, limit: int) -> Window:
        """Lines after line `after`, at most `limit` of them."""
        async with self._database.connection() as connection:
            chosen = await _chosen(connection, document["id"], wanted)
            rows = await connection.fetch(SQL.lines, document["id"], after, limit + 1, *chosen)
            above = await connection.fetch(
                SQL.lines_before, document["id"], after + 1, limit, *chosen
            )
            shown = rows[:limit]
            made = await _with_corrections(connection, document, shown)
        before = above[-1]["n"] if above else None
        return Window(made, before, shown[-1]["n"] if len(rows) > limit else None)

    async def named(self, document: Record, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """These lines."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.lines_named, document["id"], list(numbers))
            return await _with_corrections(connection, document, rows)

    async def on_page(self, document: Record, page: int) -> list[dict[str, Any]]:
        """The lines of a scanned page."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.lines_on_page, document["id"], page)
            return await _with_corrections(connection, document, rows)

    async def problems(self, document: Record) -> list[int]:
        """The lines that need somebody's eye, in their order."""
        async with self._database.connection() as connection:
            return [row["n"] for row in await connection.fetch(SQL.problem_lines, document["id"])]

    async def corrections(
        self, file_id: UUID, ordinal: int, before: int | None, limit: int, line: int | None = None
    ) -> tuple[list[Record], int | None]:
        """The log of a document's corrections, latest first, and where to read on.

        Raises FileNotFound, DocumentNotFound.
        """
        async with self._database.connection() as connection:
            document = await _document(connection, file_id, ordinal)
            rows = await connection.fetch(SQL.corrections, document["id"], before, limit, line)
        return rows, rows[-1]["id"] if len(rows) == limit else None


async def _document(connection: Connection, file_id: UUID, ordinal: int) -> Record:
    row = await connection.fetchrow(SQL.document, file_id, ordinal)
    if row is None:
        raise FileNotFound(file_id)
    if row["id"] is None:
        raise DocumentNotFound(file_id, ordinal, row["status"])
    return row


async def _chosen(
    connection: Connection, document_id: UUID, wanted: LineFilter
) -> tuple[list[int] | None, list[int] | None, list[int] | None, str | None]:
    """The parameters $4 to $7 of the statements that read lines."""
    only: set[int] | None = None
    if wanted.problems:
        only = {row["n"] for row in await connection.fetch(SQL.problem_lines, document_id)}
    if wanted.check is not None:
        checks = await connection.fetch(SQL.checks, document_id)
        named: list[int] = next(
            (row["lines"] for row in checks if row["ordinal"] == wanted.check), []
        )
        only = set(named) if only is None else only & set(named)
    first = beyond = None
    if wanted.account is not None:
        spans = await connection.fetch(SQL.spans_of_account, document_id, wanted.account)
        first, beyond = [row["first"] for row in spans], [row["beyond"] for row in spans]
    return None if only is None else sorted(only), first, beyond, wanted.text


async def _with_corrections(
    connection: Connection, document: Record, rows: Sequence[Record]
) -> list[dict[str, Any]]:
    numbers = [row["n"] for row in rows]
    corrected: dict[int, list[dict[str, Any]]] = {}
    for row in await connection.fetch(SQL.corrections_of_lines, document["id"], numbers):
        corrected.setdefault(row["line"], []).append(_corrected(row))
    return [_line(document, row, corrected.get(row["n"], [])) for row in rows]


def _corrected(row: Record) -> dict[str, Any]:
    names = ("field", "first_value", "origin", "made_by", "made_at", "reason", "times")
    unknown = row["first_unknown"]
    return {name: row[name] for name in names} | {"first_raw": unknown and unknown["raw"]}


def _line(document: Record, row: Record, corrected: list[dict[str, Any]]) -> dict[str, Any]:
    names = ("n", "parent", "level", "kind", "account", "name", "indicator", "currency")
    return {
        **{name: row[name] for name in (*names, "off_balance", "page", "boxes", "confidence")},
        "values": [values.text_of(row[field]) for field in values.AMOUNT_FIELDS],
        "unknown": row["unknown"] or [],
        "row": row["sheet_row"],
        "cells": row["cells"] or _cells(document, row),
        "raw": row["raw"],
        "formats": row["formats"],
        "corrected": corrected,
    }


def _cells(document: Record, row: Record) -> list[str | None] | None:
    """Where the six values stood: in the document's columns, in the line's row."""
    if row["sheet_row"] is None or document["value_columns"] is None:
        return None
    return [column and f"{column}{row['sheet_row']}" for column in document["value_columns"]]


def split_cell(cell: str) -> tuple[str, int]:
    """Column and row of an address: B12."""
    match = _SPLIT_CELL.fullmatch(cell)
    assert match is not None, "a cell is named as the contract says"
    return match[1], int(match[2])
