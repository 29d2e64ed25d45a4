"""A file's trial balances as a table: CSV, XLSX or JSON, written to local disk piece by piece.

Values are those that hold now; what somebody corrected says so, with what was read there first.

Neither the whole document is in memory nor does the event loop wait: lines are read a few thousand
at a time, and each piece is written in a thread.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID

from armka.contract.vocabulary import Column
from armka.core.database.pool import Database, Record
from armka.core.errors import FileNotFound, NothingRead
from armka.core.files.uploads import SQL

_LINES_AT_ONCE = 5_000
_EXPORTS_AT_ONCE = 2

AMOUNTS = {
    Column.OPENING_DEBIT: "Сальдо на начало, дебет",
    Column.OPENING_CREDIT: "Сальдо на начало, кредит",
    Column.TURNOVER_DEBIT: "Обороты, дебет",
    Column.TURNOVER_CREDIT: "Обороты, кредит",
    Column.CLOSING_DEBIT: "Сальдо на конец, дебет",
    Column.CLOSING_CREDIT: "Сальдо на конец, кредит",
}


_FIELDS = {column.value: name for column, name in AMOUNTS.items()} | {
    "account": "Счёт",
    "name": "Наименование",
}

# By line: the values that were corrected, by field, each with what was read there first.
Corrected = Mapping[int, Mapping[str, Record]]


class Sheets(Protocol):
    """Something that trial balances are written to."""

    def begin(self, document: Record) -> None:
        """The next document."""

    def add(self, lines: list[Record], corrected: Corrected) -> None:
        """More lines of the document that was begun, and which values of them were corrected."""

    def close(self) -> None:
        """All is there."""


@dataclass(frozen=True)
class Exported:
    """What an export is made of, as it was when it began."""

    original_name: str
    job_id: UUID
    documents: list[Record]


class Exports:
    """Writes exports, a few at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._room = asyncio.Semaphore(_EXPORTS_AT_ONCE)

    async def begin(self, file_id: UUID) -> Exported:
        """What the current attempt of a file has read; raises FileNotFound, NothingRead."""
        async with self._database.connection() as connection:
            file = await connection.fetchrow(SQL.exported, file_id)
            if file is None:
                raise FileNotFound(file_id)
            job_id = file["current_recognition_job_id"]
            documents = await connection.fetch(SQL.documents, job_id)
        if not documents:
            raise NothingRead(file_id, file["status"])
        return Exported(file["original_name"], job_id, documents)

    async def write(self, exported: Exported, sheets: Sheets) -> None:
        """Write all documents with all their lines."""
        async with self._room:
            for document in exported.documents:
                await asyncio.to_thread(sheets.begin, document)
                async for lines, corrected in self._lines(document["id"]):
                    await asyncio.to_thread(sheets.add, lines, corrected)
            await asyncio.to_thread(sheets.close)

    async def _lines(self, document_id: UUID) -> AsyncIterator[tuple[list[Record], Corrected]]:
        after = 0
        while True:
            async with self._database.connection() as connection:
                lines = await connection.fetch(SQL.lines, document_id, after, _LINES_AT_ONCE)
                numbers = [line["n"] for line in lines]
                rows = await connection.fetch(SQL.corrected, document_id, numbers)
            if lines:
                corrected: dict[int, dict[str, Record]] = {}
                for row in rows:
                    corrected.setdefault(row["line"], {})[row["field"]] = row
                yield lines, corrected
            if len(lines) < _LINES_AT_ONCE:
                return
            after = lines[-1]["n"]


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """A folder for one export or download, removed with all in it."""
    return tempfile.TemporaryDirectory(prefix="armka-export-")


def unread(line: Record) -> str:
    """What could not be read of a line, in words: it is no amount, and not nothing either."""
    cells = line["unknown"] or []
    return "; ".join(f"{AMOUNTS[Column(cell['column'])]}: {cell['raw']}" for cell in cells)


def told(corrected: Mapping[str, Record]) -> str:
    """What was corrected of a line, in words: what was read first, and by whom it was changed."""
    return "; ".join(
        f"{_FIELDS[field]}: было {was(row)} ({row['made_by']})" for field, row in corrected.items()
    )


def was(row: Record) -> str:
    """What was read before the first correction."""
    return row["first_raw"] or row["first_value"] or "пусто"


def path_in(folder: str, ending: str) -> Path:
    """Where the export is written."""
    return Path(folder) / f"lines.{ending}"
