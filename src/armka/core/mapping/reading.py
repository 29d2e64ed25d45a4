"""Result files, fetched and checked whole before a line of them is mapped (§2b)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from armka.contract.codec import InvalidMessage
from armka.core.database.pool import Record
from armka.core.jobs.states import JobStatus
from armka.core.mapping import decoding, rows
from armka.core.mapping.rows import Mapped
from armka.objects.store import ObjectMissing, ObjectStore, ObjectTooLarge, StoreUnavailable

log = structlog.get_logger(__name__)

READS_AT_ONCE = 8
# Only small files are read side by side: a large one takes a hundred times its size in memory.
SMALL_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Unusable:
    """A result that cannot be mapped, and why, for a person."""

    job_id: UUID
    reason: str


Judged = Mapped | Unusable


@dataclass
class Reading:
    """The result files of the claimed jobs; `away` holds why some could not be read now."""

    objects: ObjectStore
    max_bytes: int
    away: list[StoreUnavailable] = field(default_factory=list)

    async def judged(self, claimed: Sequence[Record]) -> AsyncIterator[list[Judged]]:
        """The results in groups, as they are read: the small ones first, the large one by one."""
        large: list[Record] = []
        for start in range(0, len(claimed), READS_AT_ONCE):
            some = claimed[start : start + READS_AT_ONCE]
            read = await asyncio.gather(*(self._read(row, SMALL_BYTES) for row in some))
            yield [item for item in read if isinstance(item, Judged)]
            large += [row for row, item in zip(some, read, strict=True) if item is None]
            if len(self.away) >= READS_AT_ONCE:  # it is the store, not one object
                return
        for row in large:
            item = await self._read(row, self.max_bytes)
            yield [item] if isinstance(item, Judged) else []

    async def _read(self, row: Record, limit: int) -> Judged | StoreUnavailable | None:
        """One result; None where it is larger than `limit`, and may be."""
        if row["key"] is None:
            return Unusable(row["id"], "The service named no result file")
        if row["bucket"] != self.objects.bucket:
            return Unusable(row["id"], f"The result file is in another bucket, {row['bucket']}")
        try:
            body = await self.objects.get(row["key"], limit=min(limit, self.max_bytes))
        except ObjectTooLarge as error:
            return None if error.size <= self.max_bytes else _cannot_be_taken(row["id"], error)
        except ObjectMissing as error:
            return _cannot_be_taken(row["id"], error)
        except StoreUnavailable as error:
            log.warning("result cannot be read now", job_id=str(row["id"]), error=str(error)[:200])
            self.away.append(error)
            return error
        # In a thread: a hundred thousand lines take a second, and the process must keep answering.
        status = JobStatus(row["status"])
        return await asyncio.to_thread(_judge, body, row["id"], row["stored_file_id"], status)


def _cannot_be_taken(job_id: UUID, error: Exception) -> Unusable:
    return Unusable(job_id, f"The result file cannot be taken: {error}")


def _judge(body: bytes, job_id: UUID, file_id: UUID, status: JobStatus) -> Judged:
    try:
        result = decoding.decode(body)
    except InvalidMessage as error:
        return Unusable(job_id, f"The result file does not pass its schema: {error.reason}")
    if (UUID(result.file_id), UUID(result.job_id)) != (file_id, job_id):
        return Unusable(job_id, "The result file is about another job")
    problem = next(result.problems(), None)
    if problem is not None:
        return Unusable(job_id, f"The result file contradicts itself: {problem}")
    return rows.mapped(result, job_id, file_id, status)
