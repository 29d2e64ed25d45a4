"""New attempts for all files that match a filter (A1): the list is frozen when it is asked for.

The work is the core's, not the caller's: a loop takes the list a chunk at a time, each chunk in a
transaction of its own, so that a crash repeats nothing and forgets nothing.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import BulkTooLarge, OperationNotFound
from armka.core.files.idempotency import IdempotentRequest
from armka.core.files.listing import FileFilter
from armka.core.identity import audit
from armka.core.identity.principal import Principal

log = structlog.get_logger(__name__)
SQL = load(__package__, "bulk.sql")

FILES_MAX = 100_000
_AT_ONCE = 200
_POLL_SECONDS = 5.0


@dataclass(frozen=True)
class Operation:
    """An operation and how far it is: how many items have come to each outcome."""

    row: Record
    outcomes: dict[str, int]
    pending: int


class BulkAttempts:
    """Freezes operations, carries them out and tells of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._on_begin: Callable[[], None] = lambda: None

    def on_begin(self, wake: Callable[[], None]) -> None:
        """Call this when an operation was frozen."""
        self._on_begin = wake

    async def preview(self, wanted: FileFilter) -> tuple[int, list[UUID]]:
        """How many files would be taken, and a few of them; raises BulkTooLarge."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(
                SQL.matching, *wanted.values(), FILES_MAX + 1, *wanted.period()
            )
        assert row is not None
        return _bounded(row["total"]), row["sample"]

    async def begin(
        self,
        wanted: FileFilter,
        reason: str,
        by: Principal,
        told: str | None = None,
        request: IdempotentRequest | None = None,
    ) -> UUID:
        """Freeze the files that match now; raises BulkTooLarge, KeyReused.

        `told`: for whom a caller without a name of its own says that it acts.
        """
        shown = {name: value for name, value in asdict(wanted).items() if value is not None}
        whose = by.acting(told)
        key = request and request.of(shown, reason, whose)

        async def work(connection: Connection) -> tuple[UUID, int | None]:
            if key is not None and not await key.claim(connection):
                answer = await key.recall(connection)
                assert answer is not None, "a key that was taken has an answer"
                return UUID(answer["operation_id"]), None
            values = (*wanted.values(), FILES_MAX + 1, reason, whose, _plain(shown))
            values += wanted.period()
            row = await connection.fetchrow(SQL.freeze, *values)
            assert row is not None
            if key is not None:
                await key.keep(connection, {"operation_id": str(row["id"])})
            about = {"operation_id": str(row["id"]), "filter": _plain(shown)}
            await audit.record(connection, by, "files.attempts", reason=reason, **about)
            return row["id"], _bounded(row["total"])

        operation_id, total = await self._database.run(work)
        log.info("bulk attempts", operation_id=str(operation_id), files=total)
        self._on_begin()
        return operation_id

    async def run_once(self) -> float:
        """Do one chunk; returns 0 while there may be more, else the seconds to the next look."""
        done = await self._database.run(_chunk)
        return _POLL_SECONDS if done is None else 0.0

    async def get(self, operation_id: UUID) -> Operation:
        """One operation; raises OperationNotFound."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.operation, operation_id)
            if row is None:
                raise OperationNotFound(operation_id)
            counts = await connection.fetch(SQL.outcomes, operation_id)
        outcomes = {count["outcome"]: count["count"] for count in counts}
        return Operation(row, outcomes, outcomes.pop(None, 0))

    async def items(
        self, operation_id: UUID, outcome: str | None, after: int, limit: int
    ) -> list[Record]:
        """What became of each file of an operation, in its order."""
        async with self._database.connection() as connection:
            return await connection.fetch(SQL.operation_items, operation_id, after, outcome, limit)


async def _chunk(connection: Connection) -> int | None:
    """One chunk of the oldest operation; None where nothing is to be done."""
    operation_id = await connection.fetchval(SQL.next_operation)
    if operation_id is None:
        return None
    items = await connection.fetch(SQL.next_items, operation_id, _AT_ONCE)
    if items:
        await connection.fetch(SQL.lock_files, [item["stored_file_id"] for item in items])
        ordinals = [item["ordinal"] for item in items]
        await connection.execute(SQL.begin_attempts, operation_id, ordinals)
    if len(items) < _AT_ONCE:
        await connection.execute(SQL.finish, operation_id)
        log.info("bulk attempts finished", operation_id=str(operation_id))
    return len(items)


def _bounded(total: int) -> int:
    if total > FILES_MAX:
        raise BulkTooLarge(FILES_MAX)
    return total


def _plain(shown: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in shown.items()}
