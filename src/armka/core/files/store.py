"""Files and their trial balances as they are read."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from uuid import UUID

from armka.contract.vocabulary import Column
from armka.core.database.paging import Keyset
from armka.core.database.pool import Connection, Database, Record
from armka.core.errors import AttemptNotFound, FileNotFound
from armka.core.files.listing import FileFilter, look
from armka.core.files.uploads import SQL

_DOCUMENT_FIELDS = (
    "ordinal",
    "kind",
    "group_schema",
    "title",
    "currency",
    "unit",
    "account",
    "source",
)
_LINE_FIELDS = (
    "n",
    "parent",
    "level",
    "kind",
    "account",
    "name",
    "indicator",
    "currency",
    "off_balance",
    "page",
    "boxes",
    "confidence",
)


class FileRow(NamedTuple):
    """A file's row and the summaries of its current attempt's documents."""

    file: Record
    documents: list[Record]


class Files:
    """Reads files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, file_id: UUID) -> FileRow:
        """One file with a summary of what was read; raises FileNotFound."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.file, file_id)
            if row is None:
                raise FileNotFound(file_id)
            return (await _with_summaries(connection, [row]))[0]

    async def page(
        self, wanted: FileFilter, after: Keyset, limit: int
    ) -> tuple[list[FileRow], Keyset | None]:
        """Files with summaries, newest first, after a keyset, and the keyset to read on from.

        A page may be short, even empty, before the last one: it looks at a bounded number of files.
        """
        async with self._database.connection() as connection:
            ids, following = await look(connection, wanted, after, limit)
            rows = await connection.fetch(SQL.files, ids) if ids else []
            return await _with_summaries(connection, rows), following

    async def some(self, ids: list[UUID]) -> list[FileRow]:
        """These files with summaries, newest first, as far as there are such."""
        async with self._database.connection() as connection:
            return await _with_summaries(connection, await connection.fetch(SQL.files, ids))

    async def trial_balance(
        self, file_id: UUID, after: tuple[int, int], limit: int, attempt: int | None = None
    ) -> dict[str, Any]:
        """The documents of a file's current attempt, from the line after (document, line) on; of
        another one where it is named.

        At most `limit` lines; amounts are Decimals in the document's unit, in the order of
        `Column`. Raises FileNotFound, AttemptNotFound.
        """
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.current_attempt, file_id, attempt)
            if row is None:
                raise FileNotFound(file_id)
            job_id = row["job_id"]
            if job_id is None and attempt is not None:
                raise AttemptNotFound(file_id, attempt)
            documents = [item async for item in _documents(connection, job_id, after, limit)]
        return {
            "file_id": file_id,
            "job_id": job_id,
            "documents": documents,
            "next": _next(documents, limit),
        }


async def _with_summaries(connection: Connection, rows: list[Record]) -> list[FileRow]:
    jobs = [row["current_recognition_job_id"] for row in rows]
    summaries: dict[UUID, list[Record]] = {}
    for summary in await connection.fetch(SQL.summaries, jobs):
        summaries.setdefault(summary["recognition_job_id"], []).append(summary)
    return [FileRow(row, summaries.get(row["current_recognition_job_id"], [])) for row in rows]


async def _documents(
    connection: Connection, job_id: UUID | None, after: tuple[int, int], limit: int
) -> AsyncIterator[dict[str, Any]]:
    ordinal, line = after
    for row in await connection.fetch(SQL.documents, job_id):
        if row["ordinal"] < ordinal or limit == 0:
            continue
        beyond = line if row["ordinal"] == ordinal else 0
        lines = await connection.fetch(SQL.lines, row["id"], beyond, limit)
        limit -= len(lines)
        checks = await connection.fetch(SQL.checks, row["id"])
        # In a thread: many lines take a while, and the process must keep answering.
        yield await asyncio.to_thread(_document, row, checks, lines)


def _next(documents: list[dict[str, Any]], limit: int) -> str | None:
    if sum(len(document["lines"]) for document in documents) < limit or not documents[-1]["lines"]:
        return None
    return f"{documents[-1]['ordinal']}:{documents[-1]['lines'][-1]['n']}"


def _document(row: Record, checks: list[Record], lines: list[Record]) -> dict[str, Any]:
    organisation = {"name": row["organisation_name"], "inn": row["organisation_inn"]}
    period = {"from": row["period_from"], "to": row["period_to"], "text": row["period_text"]}
    return {
        **{name: row[name] for name in _DOCUMENT_FIELDS},
        "organisation": organisation if row["organisation_name"] is not None else None,
        "period": period if row["period_text"] is not None else None,
        "columns": row["value_columns"],
        "checks": [dict(check) for check in checks],
        "lines": [_line(line) for line in lines],
    }


def _line(row: Record) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _LINE_FIELDS},
        "values": [row[column.value] for column in Column],
        "unknown": row["unknown"] or [],
        "row": row["sheet_row"],
    }
