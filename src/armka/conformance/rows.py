"""The tables, by SQL."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg

from armka.conformance.statements import STATEMENTS

if TYPE_CHECKING:
    # Generic for the type checker alone.
    Pool = asyncpg.Pool[asyncpg.Record]
    Connection = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Pool = asyncpg.Pool
    Connection = asyncpg.pool.PoolConnectionProxy

Row = dict[str, Any]

# How the kit's own connections are told from the core's.
_APPLICATION = "armka conform"
_COMMAND_SECONDS = 30.0


class TransitionRefused(Exception):
    """The database refused an update (§1)."""


class DatabaseUnusable(Exception):
    """The database cannot be reached, or the core's tables are not in it."""


class Tables:
    """The tables of the core under test."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self, name: str, *values: object) -> list[Row]:
        """The rows of a named statement."""
        return [dict(row) for row in await self._pool.fetch(STATEMENTS[name], *values)]

    async def one(self, name: str, *values: object) -> Row | None:
        """The first row of a named statement."""
        row = await self._pool.fetchrow(STATEMENTS[name], *values)
        return None if row is None else dict(row)

    async def value(self, name: str, *values: object) -> Any:
        """The first value of a named statement."""
        return await self._pool.fetchval(STATEMENTS[name], *values)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator["Transaction"]:
        """A transaction: committed at the end of the block, rolled back by an exception."""
        async with self._pool.acquire() as connection, connection.transaction():
            yield Transaction(connection)

    @contextlib.asynccontextmanager
    async def holding(self, lock: str, row_id: UUID) -> AsyncIterator["Transaction"]:
        """Keep a row locked for the time of the block."""
        async with self.transaction() as transaction:
            await transaction.run(lock, row_id)
            yield transaction

    async def update_status(self, job_id: UUID, status: str) -> None:
        """Say UPDATE by hand; raises TransitionRefused."""
        try:
            async with self.transaction() as transaction:
                await transaction.run("set_status", job_id, status)
        except asyncpg.PostgresError as error:
            raise TransitionRefused(str(error)) from None


class Transaction:
    """An open transaction of the kit's own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def run(self, name: str, *values: object) -> None:
        """Execute a named statement."""
        await self._connection.execute(STATEMENTS[name], *values)

    async def value(self, name: str, *values: object) -> Any:
        """The first value of a named statement."""
        return await self._connection.fetchval(STATEMENTS[name], *values)


@contextlib.asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[Tables]:
    """The tables of a database, for the time of the block."""
    async with asyncpg.create_pool(
        database_url,
        min_size=0,
        max_size=6,
        command_timeout=_COMMAND_SECONDS,
        server_settings={"application_name": _APPLICATION},
    ) as pool:
        yield Tables(pool)


def shown(rows: Row | Sequence[Row] | None) -> str:
    """Rows for a finding: what is set in them."""
    if rows is None:
        return "no row"
    if isinstance(rows, dict):
        return ", ".join(f"{key}={value}" for key, value in rows.items() if value is not None)
    return "; ".join(f"({shown(row)})" for row in rows) or "no rows"


async def reached(database_url: str) -> None:
    """See that the database is there, with the core's tables; raises DatabaseUnusable."""
    try:
        async with opened(database_url) as tables:
            await tables.one("job", UUID(int=0))
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DatabaseUnusable(f"the database: {error}") from None
