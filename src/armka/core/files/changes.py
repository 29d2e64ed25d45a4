"""Changes of the files that people look at, for the live pages: one statement for all who look.

However many look, one task asks for all their files at once, twice a second. Every page says which
version of each file it shows, so nothing is kept that another replica would need, and nothing that
happened while a page was between two replicas is missed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

import structlog

from armka.core.database.pool import Database, is_unavailable, lost_race
from armka.core.files.uploads import SQL

log = structlog.get_logger(__name__)

_PERIOD_SECONDS = 0.5


class Look:
    """What one page shows: files in the versions that it has, and the latest file it knows of."""

    def __init__(self, versions: dict[UUID, int], newest: datetime | None) -> None:
        self.versions = versions
        self.is_over = False
        self._newest = newest
        self._changed: set[UUID] = set()
        self._has_newer = False
        self._wake = asyncio.Event()

    async def news(self, seconds: float) -> tuple[list[UUID], bool]:
        """Which files changed, and whether newer ones came; nothing where the time is over."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)
        self._wake.clear()
        changed, newer = list(self._changed), self._has_newer
        self._changed, self._has_newer = set(), False
        return changed, newer

    def compare(self, versions: dict[UUID, int], newest: datetime | None) -> None:
        """Tell what is otherwise now."""
        for file_id, version in self.versions.items():
            now = versions.get(file_id, version)
            if now != version:
                self.versions[file_id] = now
                self._changed.add(file_id)
        if newest is not None and newest != self._newest:
            self._newest, self._has_newer = newest, True
        if self._changed or self._has_newer:
            self._wake.set()

    def end(self) -> None:
        """Nothing more will be told."""
        self.is_over = True
        self._wake.set()


class FileChanges:
    """Tells looks of changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._looks: set[Look] = set()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @contextlib.asynccontextmanager
    async def looking(
        self, versions: dict[UUID, int], newest: datetime | None
    ) -> AsyncIterator[Look]:
        """Look at these files for the time of the block."""
        look = Look(versions, newest)
        look.is_over = self._closed
        self._looks.add(look)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch(), name="file changes")
        try:
            yield look
        finally:
            self._looks.discard(look)

    async def newest(self) -> datetime | None:
        """When the latest file came."""
        async with self._database.connection() as connection:
            moment: datetime | None = await connection.fetchval(SQL.newest)
            return moment

    def close(self) -> None:
        """Let everybody go, and nobody look any more."""
        self._closed = True
        for look in self._looks:
            look.end()

    async def _watch(self) -> None:
        while self._looks and not self._closed:
            try:
                await self._ask()
            except Exception as error:
                if not is_unavailable(error) and not lost_race(error):
                    raise
                log.warning("live pages wait for the database", error=type(error).__name__)
            await asyncio.sleep(_PERIOD_SECONDS)

    async def _ask(self) -> None:
        ids = {file_id for look in self._looks for file_id in look.versions}
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.versions, list(ids))
            newest = await connection.fetchval(SQL.newest)
        versions = {row["id"]: row["version"] for row in rows}
        for look in self._looks:
            look.compare(versions, newest)
