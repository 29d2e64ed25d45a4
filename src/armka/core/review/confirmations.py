"""An analyst's word about a file: confirmed, it is DONE; reopened, it needs a check again."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import (
    AttemptSuperseded,
    NothingRead,
    NotUnderReview,
    ReasonNeeded,
    RevisionMoved,
)
from armka.core.identity import audit
from armka.core.identity.principal import Principal
from armka.core.jobs.states import FileStatus
from armka.core.review.corrections import lock_reviewed

log = structlog.get_logger(__name__)
SQL = load(__package__)

Action = Literal["confirmed", "reopened"]
_MOVES: dict[Action, tuple[FileStatus, FileStatus]] = {
    "confirmed": (FileStatus.NEEDS_CHECK, FileStatus.DONE),
    "reopened": (FileStatus.DONE, FileStatus.NEEDS_CHECK),
}


@dataclass(frozen=True)
class Word:
    """Who says it and why, and what they had seen.

    `job_id`: the attempt; `revisions`: of its documents, in their order. None: whatever they are.
    """

    by: Principal
    reason: str | None = None
    job_id: UUID | None = None
    revisions: list[int] | None = None
    told: str | None = None


class Confirmations:
    """Confirms files and reopens them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def confirm(self, file_id: UUID, word: Word) -> None:
        """NEEDS_CHECK -> DONE, also despite failed checks and unknown values, with a reason.

        Raises FileNotFound, FileWithdrawn, NothingRead, NotUnderReview, AttemptSuperseded,
        RevisionMoved, ReasonNeeded.
        """
        await self._say(file_id, "confirmed", word)

    async def reopen(self, file_id: UUID, word: Word) -> None:
        """DONE -> NEEDS_CHECK; raises as `confirm`, but no reason is asked for."""
        await self._say(file_id, "reopened", word)

    async def _say(self, file_id: UUID, action: Action, word: Word) -> None:
        async def work(connection: Connection) -> None:
            file = await lock_reviewed(connection, file_id)
            documents = await _documents(connection, file, word)
            begins, ends = _MOVES[action]
            if file["status"] != begins:
                raise NotUnderReview(file_id, file["status"])
            failed = sum(row["error_count"] for row in documents)
            unknown = sum(row["unknown_count"] for row in documents)
            if action == "confirmed" and failed + unknown and not word.reason:
                raise ReasonNeeded(failed, unknown)
            await connection.execute(
                SQL.confirm,
                file_id,
                file["current_recognition_job_id"],
                action,
                failed,
                unknown,
                word.reason,
                word.by.acting(word.told),
                word.by.id,
                ends.value,
            )
            facts = {"failed_checks": failed, "unknown": unknown}
            name = f"file.{action}"
            await audit.record(connection, word.by, name, file_id, reason=word.reason, **facts)

        await self._database.run(work)
        log.info("file reviewed", file_id=str(file_id), action=action)


async def _documents(connection: Connection, file: Record, word: Word) -> list[Record]:
    """What the attempt that counts has read, as it was seen."""
    job_id = file["current_recognition_job_id"]
    if word.job_id is not None and word.job_id != job_id:
        raise AttemptSuperseded(file["id"], job_id)
    documents = await connection.fetch(SQL.reviewed, job_id)
    if not documents:
        raise NothingRead(file["id"], file["status"])
    revisions = [row["revision"] for row in documents]
    if word.revisions is not None and word.revisions != revisions:
        raise RevisionMoved(f'"{job_id}"', max(revisions), [])
    return documents
