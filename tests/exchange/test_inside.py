"""What the scenarios of `armka.conformance` cannot see: the log, a connection by its name, the
patience of one lock.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import asyncpg

from tests.world import World, until


async def test_a_lost_listener_costs_at_most_a_poll(world: World) -> None:
    """O1: NOTIFY is a hint; with the LISTEN connection gone the poll publishes, and the connection
    is made again.
    """
    core = await world.core(OUTBOX_POLL_SECONDS=1)

    async def listening() -> bool:
        return core.said().count("listening to the database") >= 1

    await until(listening)
    ended = await world.db.fetch(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where application_name = 'arm-ka listener' and datname = current_database()"
    )
    assert len(ended) == 1
    await world.status(await world.job(), "published", seconds=10)

    async def again() -> bool:
        return '"listening to the database"' in core.said().split("not listening")[-1]

    await until(again)


async def test_a_job_that_somebody_holds_does_not_hold_back_the_others(world: World) -> None:
    """I7: its envelope waits aside and is applied when the lock is gone."""
    await world.core(MAPPING_POLL_SECONDS=60)
    held, free = await _published(world), await _published(world)
    holder = await asyncpg.connect(world.dsn)
    holding = holder.transaction()
    await holding.start()
    await holder.execute("select from recognition_job where id = $1 for update", held)
    await world.send(await world.envelope(held, "done"), f"result:{held}:1")
    await world.send(await world.envelope(free, "done"), f"result:{free}:1")
    await world.status(free, "done", seconds=30)
    assert (await world.row(held))["status"] == "published"
    await holding.rollback()
    await holder.close()
    await world.status(held, "done", seconds=30)


async def _published(world: World) -> UUID:
    """A job that a service could be working on."""
    later = datetime.now(UTC) + timedelta(hours=1)
    return await world.job(status="published", reply_deadline=later, publish_count=1)


async def test_an_absent_broker_is_told_in_the_log(world: World) -> None:
    """«NATS недоступен»: ошибка залогирована."""
    core = await world.core()
    await world.nats.stop()
    await world.job()

    async def told() -> bool:
        return "waiting for a server" in core.said()

    await until(told)


async def test_what_is_not_applied_is_told_in_the_log(world: World) -> None:
    """«Результат пришёл после таймаута»: событие залогировано; an unknown job too."""
    core = await world.core()
    late, stranger = await world.job(status="timeout"), uuid4()
    await world.ask(await world.envelope(late, "done"), f"result:{late}:1")
    unknown = await world.envelope(late, "error") | {"job_id": str(stranger)}
    await world.ask(unknown, f"result:{stranger}:1")
    for job in (late, stranger):

        async def told(job_id: str = str(job)) -> bool:
            return any(
                job_id in line and "envelope not applied" in line
                for line in core.said().splitlines()
            )

        await until(told)


async def test_without_nats_the_core_neither_connects_nor_loops(world: World) -> None:
    """«NATS выключен»: it starts while NATS is away, and stops in order."""
    await world.nats.stop()
    core = await world.core(NATS_ENABLED="false")
    assert await core.stop() == 0
    assert "nats" not in core.said().replace("nats is disabled", "")
