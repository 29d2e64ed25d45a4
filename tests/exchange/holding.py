"""Moments of the exchange, held open."""

import contextlib
from collections.abc import AsyncIterator
from uuid import UUID

import asyncpg

from tests.world import TABULAR, World


@contextlib.asynccontextmanager
async def publication_held_open(world: World) -> AsyncIterator[UUID]:
    """A job whose request is on the wire and whose publisher cannot write `published` until the
    block ends.

    The publisher's statement waits for the event table, with the job's row locked; whoever wants
    the job waits for it.
    """
    heard = await world.listen(TABULAR)
    holder = await asyncpg.connect(world.dsn)
    try:
        async with holder.transaction():
            await holder.execute("lock table recognition_job_event in share mode")
            job = await world.job()
            message = await heard.get()
            assert message.headers == {"Nats-Msg-Id": f"{job}:1"}
            yield job
    finally:
        await holder.close()


async def waiting(world: World) -> list[int]:
    """The backends of this database that wait for a lock."""
    rows = await world.db.fetch(
        "select pid from pg_stat_activity "
        "where wait_event_type = 'Lock' and datname = current_database()"
    )
    return [row["pid"] for row in rows]


async def more_than(world: World, count: int) -> bool:
    """Whether more than so many backends wait."""
    return len(await waiting(world)) > count
