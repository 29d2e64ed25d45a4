"""A new attempt to recognise a file (A1, «Новая попытка обработки файла»)."""

from dataclasses import dataclass
from uuid import UUID

import structlog

from armka.contract.vocabulary import FileType, Pipeline
from armka.core.database.pool import Connection, Database, Record
from armka.core.errors import AttemptUnderWay, FileNotFound, FileWithdrawn
from armka.core.files.idempotency import IdempotentRequest
from armka.core.files.uploads import SQL
from armka.core.identity import audit
from armka.core.identity.principal import Principal
from armka.core.jobs.states import FileStatus, JobStatus

log = structlog.get_logger(__name__)

_ENDED = frozenset({FileStatus.ERROR, FileStatus.NEEDS_CHECK, FileStatus.DONE})


@dataclass(frozen=True)
class Attempt:
    """The job that was made; `is_repeated`: by an earlier request with the same key."""

    job_id: UUID
    attempt: int
    is_repeated: bool = False


class Attempts:
    """Starts attempts. The file's row lock makes two clicks at once one attempt."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self, file_id: UUID, by: Principal, request: IdempotentRequest | None = None
    ) -> Attempt:
        """Make a new job for a file whose current attempt has ended.

        Raises FileNotFound, AttemptUnderWay, FileWithdrawn, KeyReused.
        """
        key = request and request.of(file_id)

        async def work(connection: Connection) -> Attempt:
            if key is None:
                return await _begin(connection, file_id, by)
            return await _begin_once(connection, file_id, by, key)

        attempt = await self._database.run(work)
        log.info(
            "new attempt",
            file_id=str(file_id),
            job_id=str(attempt.job_id),
            attempt=attempt.attempt,
            repeated=attempt.is_repeated,
        )
        return attempt


async def _begin_once(
    connection: Connection, file_id: UUID, by: Principal, key: IdempotentRequest
) -> Attempt:
    if await key.claim(connection):
        attempt = await _begin(connection, file_id, by)
        await key.keep(connection, {"job_id": str(attempt.job_id), "attempt": attempt.attempt})
        return attempt
    answer = await key.recall(connection)
    assert answer is not None, "a key that was taken has an answer"
    return Attempt(UUID(answer["job_id"]), answer["attempt"], is_repeated=True)


async def _begin(connection: Connection, file_id: UUID, by: Principal) -> Attempt:
    file, job = await lock_ended(connection, file_id)
    if file["withdrawn_at"] is not None:
        raise FileWithdrawn(file_id)
    if FileStatus(file["status"]) not in _ENDED:
        raise AttemptUnderWay(file_id, file["status"])
    last = job["pipeline"] if job is not None else Pipeline.TABULAR.value
    row = await connection.fetchrow(
        SQL.begin_attempt, file_id, _pipeline(file["file_type"]) or last
    )
    if row is None:
        raise FileNotFound(file_id)
    await audit.record(connection, by, "file.attempt", file_id, job_id=str(row["id"]))
    return Attempt(row["id"], row["attempt"])


async def lock_ended(connection: Connection, file_id: UUID) -> tuple[Record, Record | None]:
    """Lock a file of which no attempt is under way, with its current job.

    Raises FileNotFound; AttemptUnderWay also where the result is not mapped yet.
    """
    file = await connection.fetchrow(SQL.lock_file, file_id)
    if file is None:
        raise FileNotFound(file_id)
    # A statement of its own: the one that waited for the lock saw the job as it was before.
    job = await connection.fetchrow(SQL.current_job, file["current_recognition_job_id"])
    is_under_way = job is not None and not JobStatus(job["status"]).is_final
    if is_under_way or (job is not None and FileStatus(file["status"]) not in _ENDED):
        raise AttemptUnderWay(file_id, file["status"])
    return file, job


def _pipeline(file_type: str) -> str | None:
    """The file's type decides; where an import brought an unknown one, O2 ends the job."""
    try:
        return FileType(file_type).pipeline.value
    except ValueError:
        return None
