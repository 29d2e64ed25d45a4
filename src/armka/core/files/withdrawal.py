"""Withdrawing a file: hidden from lists, not deleted, its statuses untouched."""

from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database
from armka.core.files.attempts import lock_ended
from armka.core.files.uploads import SQL
from armka.core.identity import audit
from armka.core.identity.principal import Principal

log = structlog.get_logger(__name__)


class Withdrawals:
    """Withdraws files and brings them back. Both may be said again without further effect."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def withdraw(self, file_id: UUID, by: Principal, told: str | None, reason: str) -> None:
        """Hide a file; raises FileNotFound, AttemptUnderWay while an attempt is under way.

        `told`: for whom a caller without a name of its own says that it acts.
        """
        whose = by.acting(told)

        async def work(connection: Connection) -> None:
            await lock_ended(connection, file_id)
            await connection.execute(SQL.withdraw, file_id, whose, reason)
            more = {} if whose == by.name else {"told": whose}
            await audit.record(connection, by, "file.withdrawn", file_id, reason=reason, **more)

        await self._database.run(work)
        log.info("file withdrawn", file_id=str(file_id))

    async def restore(self, file_id: UUID, by: Principal) -> None:
        """Show a file again; one that is not withdrawn, or not there, is no error."""

        async def work(connection: Connection) -> None:
            if await connection.fetchval(SQL.restore, file_id) is not None:
                await audit.record(connection, by, "file.restored", file_id)
                log.info("file restored", file_id=str(file_id))

        await self._database.run(work)
