"""Jobs as they are read."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from armka.core.database.paging import LOOK_AT, Keyset, page_of
from armka.core.database.pool import Database, Record
from armka.core.database.queries import load
from armka.core.errors import JobNotFound
from armka.core.jobs.states import JobStatus

SQL = load(__package__)


@dataclass(frozen=True)
class JobFilter:
    """Which jobs; all that is given must hold. `created_from` is inclusive, `created_to` is not."""

    status: JobStatus | None = None
    file_id: UUID | None = None
    pipeline: str | None = None
    error_code: str | None = None
    service_name: str | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None

    def values(self) -> tuple[object, ...]:
        """The parameters $3 to $9 of the statements."""
        return (
            self.created_from,
            self.created_to,
            self.status,
            self.file_id,
            self.pipeline,
            self.error_code,
            self.service_name,
        )

    @property
    def is_plain(self) -> bool:
        """Whether every job along the keyset is one of those asked for."""
        others = (self.status, self.pipeline, self.error_code, self.service_name)
        return self.file_id is None and all(value is None for value in others)


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
        self, wanted: JobFilter, after: Keyset, limit: int
    ) -> tuple[list[Record], Keyset | None]:
        """Jobs, newest first, after a keyset, and the keyset to read on from.

        A page may be short, even empty, before the last one: it looks at a bounded number of jobs.
        """
        statement = SQL.look if wanted.file_id is None else SQL.look_of_file
        look_at = limit if wanted.is_plain else max(limit, LOOK_AT)
        async with self._database.connection() as connection:
            rows = await connection.fetch(statement, *after, *wanted.values(), look_at, limit)
            ids, following = page_of(rows, limit)
            return (await connection.fetch(SQL.jobs, ids) if ids else []), following
