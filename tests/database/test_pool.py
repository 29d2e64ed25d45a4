"""What the pool does with connections that end in its user's hands."""

import asyncio

import asyncpg
import pytest
from pydantic import SecretStr

from armka.core.database.pool import Database, is_unavailable
from armka.core.database.settings import DatabaseSettings


async def _killed(dsn: str, pid: int) -> None:
    """That backend is gone, and the client has been told."""
    killer = await asyncpg.connect(dsn)
    try:
        await killer.execute("select pg_terminate_backend($1, 5000)", pid)
    finally:
        await killer.close()


async def test_a_connection_that_died_leaves_the_cause_as_it_was(database: str) -> None:
    """An error on a dead connection is told as it is, and the next one works."""
    async with Database(DatabaseSettings(url=SecretStr(database))) as pool:
        with pytest.raises(asyncpg.PostgresConnectionError) as caught:
            async with pool.connection() as connection:
                await _killed(database, connection.get_server_pid())
                await connection.fetchval("select 1")
        assert is_unavailable(caught.value)
        async with pool.connection() as connection:
            assert await connection.fetchval("select 1") == 1


async def test_a_cancellation_stays_one_although_the_connection_died(database: str) -> None:
    async with Database(DatabaseSettings(url=SecretStr(database))) as pool:
        held = asyncio.Event()

        async def work() -> None:
            async with pool.connection() as connection:
                await _killed(database, connection.get_server_pid())
                while not connection.is_closed():
                    await asyncio.sleep(0)
                held.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.wait_for(held.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
