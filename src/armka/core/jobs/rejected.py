"""Messages that were not applied, as they are read (I5, I7)."""

from uuid import UUID

from armka.core.database.paging import LOOK_AT
from armka.core.database.pool import Database, Record
from armka.core.errors import JobNotFound, MessageNotFound
from armka.core.jobs.store import SQL


class RejectedMessages:
    """Reads rejected messages."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, reason: str | None, after: int | None, limit: int
    ) -> tuple[list[Record], int | None]:
        """Messages without their bodies, latest first, and the id to read on after.

        A page may be short, even empty, before the last one.
        """
        look_at = limit if reason is None else max(limit, LOOK_AT)
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.rejected, after, reason, look_at, limit)
        found = [row for row in rows if row["id"] is not None]
        end = found[-1]["id"] if len(found) == limit else rows[0]["last_looked"]
        return found, end

    async def of_job(
        self, job_id: UUID, after: int | None, limit: int
    ) -> tuple[list[Record], int | None]:
        """The messages that named a job; raises JobNotFound where there are neither."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.messages, job_id, after, limit)
            if not rows and after is None and await connection.fetchrow(SQL.job, job_id) is None:
                raise JobNotFound(job_id)
        return rows, rows[-1]["id"] if len(rows) == limit else None

    async def get(self, message_id: int) -> Record:
        """One message with headers and body; raises MessageNotFound."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.message, message_id)
        if row is None:
            raise MessageNotFound(message_id)
        return row
