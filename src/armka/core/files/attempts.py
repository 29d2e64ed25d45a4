"""A new attempt to recognise a file (A1, «Новая попытка обработки файла»)."""

from dataclasses import dataclass
from uuid import UUID

import structlog

from armka.contract.vocabulary import FileType, Pipeline
from armka.core.database.pool import Connection, Database
from armka.core.errors import AttemptUnderWay, FileNotFound
from armka.core.files.uploads import SQL
from armka.core.jobs.states import FileStatus, JobStatus

log = structlog.get_logger(__name__)

_ENDED = frozenset({FileStatus.ERROR, FileStatus.NEEDS_CHECK, FileStatus.DONE})


@dataclass(frozen=True)
class Attempt:
    """The job that was made."""

    job_id: UUID
    attempt: int


class Attempts:
    """Starts attempts. The file's row lock makes two clicks at once one attempt."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, file_id: UUID) -> Attempt:
        """Make a new job for a file whose current attempt has ended.

        Raises FileNotFound, AttemptUnderWay.
        """
        attempt = await self._database.run(lambda connection: _begin(connection, file_id))
        log.info(
            "new attempt",
            file_id=str(file_id),
            job_id=str(attempt.job_id),
            attempt=attempt.attempt,
        )
        return attempt


async def _begin(connection: Connection, file_id: UUID) -> Attempt:
    file = await connection.fetchrow(SQL.lock_file, file_id)
    if file is None:
        raise FileNotFound(file_id)
    # A statement of its own: the one that waited for the lock saw the job as it was before.
    job = await connection.fetchrow(SQL.current_job, file["current_recognition_job_id"])
    under_way = job is not None and not JobStatus(job["status"]).is_final
    if under_way or FileStatus(file["status"]) not in _ENDED:
        raise AttemptUnderWay(file_id, file["status"])
    last = job["pipeline"] if job is not None else Pipeline.TABULAR.value
    row = await connection.fetchrow(
        SQL.begin_attempt, file_id, _pipeline(file["file_type"]) or last
    )
    if row is None:
        raise FileNotFound(file_id)
    return Attempt(row["id"], row["attempt"])


def _pipeline(file_type: str) -> str | None:
    """The file's type decides; where an import brought an unknown one, O2 ends the job."""
    try:
        return FileType(file_type).pipeline.value
    except ValueError:
        return None
