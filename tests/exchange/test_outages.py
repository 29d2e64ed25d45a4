"""Every loop survives the loss of its servers and goes on by itself; replicas do not get into each
other's way (§8).
"""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from armka.core.database.migrations import migrate
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer, PostgresServer
from tests import web
from tests.world import TABULAR, World, until


@pytest.fixture
async def fragile(
    tmp_path: Path, nats_server: NatsServer, object_store_server: ObjectServer
) -> AsyncIterator[tuple[World, PostgresServer]]:
    """A world whose PostgreSQL may be harmed."""
    async with PostgresServer(tmp_path / "postgres") as postgres:
        dsn = postgres.env()["DATABASE_URL"]
        await migrate(dsn)
        settings = ObjectSettings.model_validate(object_store_server.env())
        world = World(
            dsn,
            nats_server,
            object_store_server,
            tmp_path,
            await asyncpg.connect(dsn),
            ObjectStore(settings),
        )
        try:
            yield world, postgres
        finally:
            await world.close()


async def test_the_core_goes_on_when_postgresql_comes_back(
    fragile: tuple[World, PostgresServer],
) -> None:
    """Killed under load: what was committed stands, what was not is done afterwards, and nothing is
    stuck.
    """
    world, postgres = fragile
    await world.core()
    before = [await world.job() for _ in range(20)]
    for job in before:
        await world.status(job, "published")
    envelopes = {job: await world.envelope(job, "error") for job in before}
    postgres.kill()
    for job in before[:10]:
        await world.send(envelopes[job], f"result:{job}:1")
    asked = asyncio.create_task(world.ask(envelopes[before[10]], f"result:{before[10]}:1", 40))
    await postgres.start()
    world.db = await asyncpg.connect(world.dsn)
    for job in before[:10]:
        await world.status(job, "error", seconds=30)
    assert (await asked)["outcome"] == "applied"
    await world.status(await world.job(), "published", seconds=30)


async def test_a_frozen_postgresql_does_not_freeze_the_process(
    fragile: tuple[World, PostgresServer],
) -> None:
    """Health is answered meanwhile; all goes on after it thaws."""
    world, postgres = fragile
    core = await world.core()
    await world.status(await world.job(), "published")
    job = await world.job(status="published", reply_deadline=datetime.now(UTC) + timedelta(hours=1))
    envelope = await world.envelope(job, "error")
    postgres.pause()
    try:
        asked = asyncio.create_task(world.ask(envelope, f"result:{job}:1", 60))
        async with web.client(timeout=1) as http:
            for _ in range(10):
                assert (await http.get(f"{core.url}/healthcheck")).status_code == 200
    finally:
        postgres.resume()
    assert (await asked)["outcome"] == "applied"
    await world.status(await world.job(), "published", seconds=30)


async def test_a_core_started_before_its_servers_waits_for_them(
    fragile: tuple[World, PostgresServer],
) -> None:
    """It needs no order of starting."""
    world, postgres = fragile
    job = await world.job()
    await world.nats.stop()
    await postgres.stop()
    core = await world.core(wait=False)

    async def waits() -> bool:
        return "waiting for a server" in core.said()

    await until(waits)
    await postgres.start()
    await world.nats.start()
    world.db = await asyncpg.connect(world.dsn)
    await world.status(job, "published", seconds=30)


async def test_two_of_everything_on_the_same_rows(world: World) -> None:
    """A service that answers everything twice, two cores: every job is done once."""
    service = await world.client()
    sent: list[str] = []

    async def answer(message: object) -> None:
        request = json.loads(message.data)  # type: ignore[attr-defined]
        sent.append(request["job_id"])
        base = {
            "schema_version": "1.0", "job_id": request["job_id"], "file_id": request["file_id"],
            "service": {"name": "twice", "version": "1"},
        }  # fmt: skip
        error = {"code": "INVALID_DOCUMENT", "message": "no"}
        for _ in range(2):
            for status, word in (("processing", "ack"), ("error", "result")):
                body = {**base, "status": status} | ({"error": error} if status == "error" else {})
                msg_id = f"{word}:{request['job_id']}:{request['attempt']}"
                await service.publish(
                    "files.tabular_parsed",
                    json.dumps(body).encode(),
                    headers={"Nats-Msg-Id": msg_id},
                )

    await service.subscribe(TABULAR, cb=answer)
    await service.flush()
    cores = [await world.core(OUTBOX_BATCH_SIZE=50) for _ in range(2)]
    jobs = [await world.job() for _ in range(300)]

    async def all_ended() -> bool:
        return not await world.db.fetchval(
            "select count(*) from recognition_job where status <> 'error'"
        )

    await until(all_ended, seconds=40)
    facts = await world.db.fetchval("select count(*) from quality_failure_fact")
    assert (sorted(sent), facts) == (sorted(map(str, jobs)), len(jobs))
    for core in cores:
        assert "DeadlockDetected" not in core.said()
        assert await core.stop() == 0
