"""What the pool does with connections that end in its user's hands."""

import asyncio

import asyncpg
import pytest
from pydantic import SecretStr

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings


async def test_a_cancellation_stays_one_although_the_connection_has_died(database: str) -> None:
    """Else a loop that is told to end would take it for an outage, and go on."""
    died, own_pid = asyncio.Event(), asyncio.Queue[int]()

    async def work(pool: Database) -> None:
        async with pool.connection() as connection:
            connection.add_termination_listener(lambda _: died.set())
            own_pid.put_nowait(connection.get_server_pid())
            await asyncio.Event().wait()

    killer = await asyncpg.connect(database)
    async with Database(DatabaseSettings(url=SecretStr(database))) as pool:
        task = asyncio.create_task(work(pool))
        await killer.execute("select pg_terminate_backend($1)", await own_pid.get())
        await asyncio.wait_for(died.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with pool.connection() as connection:
            assert await connection.fetchval("select 1") == 1
    await killer.close()
