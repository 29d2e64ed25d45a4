"""Waiting for a status to change, for the long polls: one statement for all who wait.

However many wait, one task asks for all their rows at once, a few times a second, so that they take
one connection for a moment. What it reads is a hint: who waited reads again what is there.
"""

import asyncio
import contextlib
from uuid import UUID

import structlog

from armka.core.database.pool import Database, Record, is_unavailable, lost_race

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 0.25


class StatusWatch:
    """Watches rows by id with a statement that returns the id and the status of each."""

    def __init__(self, database: Database, statement: str) -> None:
        self._database = database
        self._statement = statement
        self._waiting: dict[UUID, dict[asyncio.Event, str]] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def wait(self, row_id: UUID, status: str, seconds: float) -> None:
        """Return when the row's status is another than this one, or the time is over."""
        if self._closed or seconds <= 0:
            return
        changed = asyncio.Event()
        self._waiting.setdefault(row_id, {})[changed] = status
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch(), name="status watch")
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), seconds)
        finally:
            self._forget(row_id, changed)

    def close(self) -> None:
        """Let everybody go, and nobody wait any more."""
        self._closed = True
        for events in self._waiting.values():
            for changed in events:
                changed.set()

    def _forget(self, row_id: UUID, changed: asyncio.Event) -> None:
        events = self._waiting[row_id]
        del events[changed]
        if not events:
            del self._waiting[row_id]

    async def _watch(self) -> None:
        while self._waiting:
            await asyncio.sleep(_PERIOD_SECONDS)
            for row in await self._look():
                for changed, known in self._waiting.get(row["id"], {}).items():
                    if row["status"] != known:
                        changed.set()

    async def _look(self) -> list[Record]:
        try:
            async with self._database.connection() as connection:
                return await connection.fetch(self._statement, list(self._waiting))
        except Exception as error:
            if not is_unavailable(error) and not lost_race(error):
                raise
            log.warning("the status watch is waiting for the database", error=type(error).__name__)
            return []
