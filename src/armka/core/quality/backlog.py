"""What waits, and what has happened since: read from the tables, a bounded piece at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load

SQL = load(__package__)

# More than so many count as so many.
COUNTED_AT_MOST = 100_000
_ROWS_AT_ONCE = 5_000
_CHUNKS_AT_ONCE = 20
_ENDED = frozenset({"done", "needs_check", "error", "timeout", "dlq"})
_NO_ID = UUID(int=0)


@dataclass(frozen=True)
class Waiting:
    """How many wait in a place (at most COUNTED_AT_MOST), the oldest for how many seconds."""

    place: str
    count: int
    seconds: float


class Tally(Protocol):
    """What counts the things that happened."""

    def published(self, pipeline: str, seconds: float) -> None:
        """A job was published for the first time, so long after it was made."""

    def ended(self, pipeline: str, status: str, publications: int) -> None:
        """A job has come to its final status."""

    def failed(self, pipeline: str, kind: str) -> None:
        """A failure fact was written."""

    def rejected(self, reason: str) -> None:
        """A message was kept instead of applied."""

    def mapped(self, pipeline: str, seconds: float) -> None:
        """A result was mapped, so long after its job was made."""


class Backlog:
    """Reads what waits."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> list[Waiting]:
        """Each place, once."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.backlog, COUNTED_AT_MOST)
        return [Waiting(row["place"], row["waiting"], row["seconds"] or 0.0) for row in rows]


class Tail:
    """Follows the tables' ends and tells a tally what was added, each row once.

    Every process follows for itself from its start on, so every replica tells of the whole
    installation. What is younger than the longest transaction waits for the next time: a row may
    still come before it.
    """

    def __init__(self, database: Database, tally: Tally) -> None:
        self._database = database
        self._tally = tally
        self._lock = asyncio.Lock()
        self._ends: dict[str, int] | None = None
        self._mapped: tuple[datetime, UUID] | None = None

    async def advance(self) -> None:
        """Tell what was added since the last time, at most a hundred thousand rows of each."""
        async with self._lock, self._database.connection() as connection:
            if self._ends is None:
                await self._begin(connection)
                return
            await self._follow(connection, "events", self._event)
            await self._follow(connection, "facts", self._fact)
            await self._follow(connection, "rejected", self._rejected)
            await self._follow_mapped(connection)

    async def _begin(self, connection: Connection) -> None:
        row = await connection.fetchrow(SQL.starts)
        assert row is not None
        self._ends = {name: row[name] for name in ("events", "facts", "rejected")}
        self._mapped = (row["mapped_at"], _NO_ID)

    async def _follow(
        self, connection: Connection, name: str, tell: Callable[[Record], None]
    ) -> None:
        assert self._ends is not None
        for _ in range(_CHUNKS_AT_ONCE):
            rows = await connection.fetch(getattr(SQL, name), self._ends[name], _ROWS_AT_ONCE)
            for row in rows:
                if not row["is_settled"]:
                    return
                tell(row)
                self._ends[name] = row["id"]
            if len(rows) < _ROWS_AT_ONCE:
                return

    async def _follow_mapped(self, connection: Connection) -> None:
        assert self._mapped is not None
        for _ in range(_CHUNKS_AT_ONCE):
            rows = await connection.fetch(SQL.mapped, *self._mapped, _ROWS_AT_ONCE)
            for row in rows:
                self._tally.mapped(row["pipeline"], row["seconds"])
                self._mapped = (row["mapped_at"], row["id"])
            if len(rows) < _ROWS_AT_ONCE:
                return

    def _event(self, row: Record) -> None:
        if row["to_status"] == "published" and row["from_status"] == "queued":
            self._tally.published(row["pipeline"], row["seconds"])
        elif row["to_status"] in _ENDED:
            self._tally.ended(row["pipeline"], row["to_status"], row["publish_count"])

    def _fact(self, row: Record) -> None:
        self._tally.failed(row["pipeline"], row["failure_kind"])

    def _rejected(self, row: Record) -> None:
        self._tally.rejected(row["reason"])
