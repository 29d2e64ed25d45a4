"""One cycle of the mapping."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database, Record, is_bad_value
from armka.core.database.queries import load
from armka.core.mapping import rows
from armka.core.mapping.reading import Reading, Unusable
from armka.core.mapping.rows import Mapped
from armka.core.settings import ExchangeSettings
from armka.objects.store import ObjectStore

log = structlog.get_logger(__name__)
SQL = load(__package__)

BATCH_SIZE = 50
# How far to look past jobs that other replicas hold.
_LOOK_AT = 4 * BATCH_SIZE
# A batch is written as soon as it holds so many lines: transactions stay short, memory bounded.
_LINES_AT_ONCE = 20_000
_SET_ASIDE_AT_ONCE = 500
_WRITE_SECONDS = 60.0
_LONGEST_REASON = 4000


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
        """One whole cycle; returns 0 while there may be more, else the period (M1).

        Raises StoreUnavailable after it mapped what could be read, where something could not.
        """
        reading = Reading(self._objects, self._config.result_max_bytes)
        # Where the cycle breaks off, the pool's reset of the connection releases the locks.
        async with self._database.connection() as connection:
            claimed = await connection.fetch(SQL.claim, BATCH_SIZE, _LOOK_AT)
            await self._map(connection, reading, claimed)
            await connection.execute(SQL.release)
            if not claimed:
                await connection.execute(SQL.set_aside, _SET_ASIDE_AT_ONCE)
        if reading.away:
            raise reading.away[0]
        return 0.0 if len(claimed) == BATCH_SIZE else self._config.poll_seconds

    async def _map(
        self, connection: Connection, reading: Reading, claimed: Sequence[Record]
    ) -> None:
        """Write results as soon as they make a batch."""
        ready: list[Mapped] = []
        async for group in reading.judged(claimed):
            await _fail(connection, [item for item in group if isinstance(item, Unusable)])
            ready += [item for item in group if isinstance(item, Mapped)]
            if sum(len(item.lines) for item in ready) >= _LINES_AT_ONCE:
                await _write(connection, ready)
                ready = []
        await _write(connection, ready)


async def _fail(connection: Connection, unusable: Sequence[Unusable]) -> None:
    if not unusable:
        return
    async with connection.transaction():
        waiting = await _waiting(connection, [item.job_id for item in unusable])
        now = [item for item in unusable if item.job_id in waiting]
        reasons = [rows.text(item.reason[:_LONGEST_REASON]) for item in now]
        await connection.execute(SQL.fail, [item.job_id for item in now], reasons)
    for item in now:
        log.warning("result cannot be mapped", job_id=str(item.job_id), reason=item.reason)


async def _write(connection: Connection, items: Sequence[Mapped]) -> None:
    if not items:
        return
    try:
        await _write_together(connection, items)
    except Exception as error:
        if not is_bad_value(error):
            raise
        if len(items) == 1:
            reason = f"The result cannot be stored: {error}"
            await _fail(connection, [Unusable(items[0].job_id, reason)])
            return
        for item in items:
            await _write(connection, [item])


async def _write_together(connection: Connection, items: Sequence[Mapped]) -> None:
    async with connection.transaction():
        await connection.execute(SQL.take_time, f"{_WRITE_SECONDS:.0f}s")
        waiting = await _waiting(connection, [item.job_id for item in items])
        now = [item for item in items if item.job_id in waiting]
        await connection.execute(SQL.forget_documents, [item.job_id for item in now])
        documents = [row for item in now for row in item.documents]
        await _copy(connection, "osv_document", rows.DOCUMENT_COLUMNS, documents)
        lines = [row for item in now for row in item.lines]
        await _copy(connection, "osv_line", rows.LINE_COLUMNS, lines)
        checks = [row for item in now for row in item.checks]
        await _copy(connection, "osv_check", rows.CHECK_COLUMNS, checks)
        await connection.execute(
            SQL.finish,
            [item.job_id for item in now],
            [item.group_schema for item in now],
            [item.file_status.value for item in now],
        )
    log.info("results mapped", count=len(now), lines=len(lines))


async def _copy(
    connection: Connection,
    table: str,
    columns: Sequence[str],
    records: Sequence[tuple[object, ...]],
) -> None:
    await connection.copy_records_to_table(
        table, records=records, columns=list(columns), timeout=_WRITE_SECONDS
    )


async def _waiting(connection: Connection, job_ids: list[UUID]) -> set[UUID]:
    return {row["id"] for row in await connection.fetch(SQL.lock_waiting, job_ids)}
