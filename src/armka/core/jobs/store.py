"""Jobs as they are read."""

from datetime import datetime
from uuid import UUID

from armka.core.database.pool import Database, Record
from armka.core.database.queries import load
from armka.core.errors import JobNotFound

SQL = load(__package__)


class Jobs:
    """Reads jobs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, job_id: UUID) -> tuple[Record, list[Record]]:
        """One job and its events; raises JobNotFound."""
        async with self._database.connection() as connection:
            job = await connection.fetchrow(SQL.job, job_id)
            if job is None:
                raise JobNotFound(job_id)
            return job, await connection.fetch(SQL.events, job_id)

    async def page(
        self,
        after: tuple[datetime | None, UUID | None],
        status: str | None,
        file_id: UUID | None,
        limit: int,
    ) -> list[Record]:
        """Jobs, newest first, after a keyset."""
        async with self._database.connection() as connection:
            return await connection.fetch(SQL.page, *after, status, file_id, limit)
