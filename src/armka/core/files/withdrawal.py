"""Withdrawing a file: hidden from lists, not deleted, its statuses untouched."""

from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database
from armka.core.files.attempts import lock_ended
from armka.core.files.uploads import SQL

log = structlog.get_logger(__name__)


class Withdrawals:
    """Withdraws files and brings them back. Both may be said again without further effect."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def withdraw(self, file_id: UUID, by: str, reason: str) -> None:
        """Hide a file; raises FileNotFound, AttemptUnderWay while an attempt is under way."""

        async def work(connection: Connection) -> None:
            await lock_ended(connection, file_id)
            await connection.execute(SQL.withdraw, file_id, by, reason)

        await self._database.run(work)
        log.info("file withdrawn", file_id=str(file_id))

    async def restore(self, file_id: UUID) -> None:
        """Show a file again; one that is not withdrawn, or not there, is no error."""
        async with self._database.connection() as connection:
            is_back = await connection.fetchval(SQL.restore, file_id)
        if is_back is not None:
            log.info("file restored", file_id=str(file_id))
