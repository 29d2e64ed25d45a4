"""The sweep: uploaded objects that no file knows, left by a crash before their rows (F1), keys
of requests that nobody repeats any more, sessions that have run out.
"""

from datetime import UTC, datetime, timedelta

import structlog

from armka.core.database.pool import Database
from armka.core.files.idempotency import forget_old_keys
from armka.core.files.uploads import SQL
from armka.core.identity.sessions import forget_expired
from armka.objects.store import ObjectStore

log = structlog.get_logger(__name__)

PERIOD_SECONDS = 6 * 3600.0


class Sweep:
    """Removes orphans older than a grace period.

    The grace is long on purpose: after a restore of the database from a backup, an orphan may be
    somebody's document.
    """

    def __init__(self, database: Database, objects: ObjectStore, grace_seconds: float) -> None:
        self._database = database
        self._objects = objects
        self._grace = timedelta(seconds=grace_seconds)

    async def run_once(self) -> float:
        """Look through all keys and uploads once; returns the seconds until the next time."""
        await forget_expired(self._database)
        forgotten = await forget_old_keys(self._database)
        if forgotten:
            log.info("old idempotency keys removed", count=forgotten)
        before = datetime.now(UTC) - self._grace
        async for keys in self._objects.list_older("uploads/", before):
            if keys:
                await self._collect(keys)
        return PERIOD_SECONDS

    async def _collect(self, keys: list[str]) -> None:
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.known_keys, self._objects.bucket, keys)
        known = {row["key"] for row in rows}
        for key in keys:
            if key not in known:
                await self._objects.delete(key)
                log.warning("orphan object removed", key=key)
