"""One cycle of the mapping."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from armka.contract import codec, object_keys
from armka.contract.codec import InvalidMessage
from armka.core.database.pool import Connection, Database, Record, is_unavailable, lost_race
from armka.core.database.queries import load
from armka.core.jobs.states import JobStatus
from armka.core.mapping import rows
from armka.core.mapping.rows import Mapped
from armka.core.settings import ExchangeSettings
from armka.objects.store import ObjectMissing, ObjectStore, ObjectTooLarge

log = structlog.get_logger(__name__)
SQL = load(__package__)

BATCH_SIZE = 50
# How far to look past jobs that other replicas hold.
_LOOK_AT = 4 * BATCH_SIZE
# A batch is written as soon as it holds so many lines, so that one transaction stays short and memory bounded.
_LINES_AT_ONCE = 20_000
_READS_AT_ONCE = 8
_SET_ASIDE_AT_ONCE = 500
_COPY_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Unusable:
    """A result that cannot be mapped, and why, for a person."""

    job_id: UUID
    reason: str


@dataclass(frozen=True)
class MappingConfig:
    """The period in seconds, and the largest result file in bytes."""

    poll_seconds: float
    result_max_bytes: int

    @classmethod
    def of(cls, settings: ExchangeSettings) -> "MappingConfig":
        """Take the loop's part of the settings."""
        return cls(settings.mapping_poll_seconds, settings.result_max_bytes)


class Mapper:
    """Maps the results of this database."""

    def __init__(self, config: MappingConfig, database: Database, objects: ObjectStore) -> None:
        self._config = config
        self._database = database
        self._objects = objects

    async def run_once(self) -> float:
        """One whole cycle; returns 0 while there may be more, else the period (M1)."""
        async with self._database.connection() as connection:
            claimed = await connection.fetch(SQL.claim, BATCH_SIZE, _LOOK_AT)
            try:
                await self._map(connection, claimed)
            finally:
                if not connection.is_closed():
                    await connection.execute(SQL.release)
            if len(claimed) == BATCH_SIZE:
                return 0.0
            if not claimed:
                await connection.execute(SQL.set_aside, _SET_ASIDE_AT_ONCE)
        return self._config.poll_seconds

    async def _map(self, connection: Connection, claimed: Sequence[Record]) -> None:
        """Read results a few at a time and write them as soon as they make a batch."""
        ready: list[Mapped] = []
        for start in range(0, len(claimed), _READS_AT_ONCE):
            read = await asyncio.gather(*(self._read(row) for row in claimed[start : start + _READS_AT_ONCE]))
            await self._fail(connection, [item for item in read if isinstance(item, Unusable)])
            ready += [item for item in read if isinstance(item, Mapped)]
            if sum(len(item.lines) for item in ready) >= _LINES_AT_ONCE:
                await self._write(connection, ready)
                ready = []
        await self._write(connection, ready)

    async def _read(self, row: Record) -> Mapped | Unusable:
        """Fetch and check one result file; raises StoreUnavailable."""
        if row["key"] is None:
            return Unusable(row["id"], "The service named no result file")
        try:
            body = await self._objects.get(row["key"], limit=self._config.result_max_bytes)
        except (ObjectMissing, ObjectTooLarge) as error:
            return Unusable(row["id"], f"The result file cannot be taken: {error}")
        # In a thread: a hundred thousand lines take a second, and the process must keep answering.
        return await asyncio.to_thread(_check, body, row["id"], row["stored_file_id"], JobStatus(row["status"]))

    async def _fail(self, connection: Connection, unusable: Sequence[Unusable]) -> None:
        if not unusable:
            return
        async with connection.transaction():
            waiting = await _waiting(connection, [item.job_id for item in unusable])
            now = [item for item in unusable if item.job_id in waiting]
            await connection.execute(SQL.fail, [item.job_id for item in now], [item.reason[:4000] for item in now])
        for item in now:
            log.warning("result cannot be mapped", job_id=str(item.job_id), reason=item.reason)

    async def _write(self, connection: Connection, items: Sequence[Mapped]) -> None:
        if not items:
            return
        try:
            await _write_together(connection, items)
        except Exception as error:
            if is_unavailable(error) or lost_race(error):
                raise
            if len(items) == 1:
                log.exception("result cannot be written", job_id=str(items[0].job_id))
                await self._fail(connection, [Unusable(items[0].job_id, f"The result cannot be stored: {error}")])
                return
            for item in items:
                await self._write(connection, [item])


def _check(body: bytes, job_id: UUID, file_id: UUID, status: JobStatus) -> Mapped | Unusable:
    """Check a result file whole, before a line of it is mapped (§2b)."""
    try:
        result = codec.decode_result(body)
    except InvalidMessage as error:
        return Unusable(job_id, f"The result file does not pass its schema: {error.reason}")
    if object_keys.result(result.file_id.lower(), result.job_id.lower()) != object_keys.result(file_id, job_id):
        return Unusable(job_id, "The result file is about another job")
    problem = next(result.problems(), None)
    if problem is not None:
        return Unusable(job_id, f"The result file contradicts itself: {problem}")
    return rows.mapped(result, job_id, file_id, status)


async def _write_together(connection: Connection, items: Sequence[Mapped]) -> None:
    async with connection.transaction():
        waiting = await _waiting(connection, [item.job_id for item in items])
        now = [item for item in items if item.job_id in waiting]
        await connection.execute(SQL.forget_documents, [item.job_id for item in now])
        await connection.executemany(SQL.write_documents, [row for item in now for row in item.documents])
        await connection.copy_records_to_table(
            "osv_line",
            records=[row for item in now for row in item.lines],
            columns=rows.LINE_COLUMNS,
            timeout=_COPY_TIMEOUT_SECONDS,
        )
        await connection.executemany(SQL.write_checks, [row for item in now for row in item.checks])
        await connection.execute(
            SQL.finish,
            [item.job_id for item in now],
            [item.group_schema for item in now],
            [item.file_status.value for item in now],
        )
    for item in now:
        log.debug("result mapped", job_id=str(item.job_id), file_id=str(item.file_id), status=item.file_status.value)
    log.info("results mapped", count=len(now))


async def _waiting(connection: Connection, job_ids: list[UUID]) -> set[UUID]:
    return {row["id"] for row in await connection.fetch(SQL.lock_waiting, job_ids)}
