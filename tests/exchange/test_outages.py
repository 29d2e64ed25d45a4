"""Every loop survives the loss of its servers and goes on by itself; replicas do not get into each
other's way (§8).
"""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import httpx
import pytest

from armka.core.database.migrations import migrate
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer, PostgresServer
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
        async with httpx.AsyncClient(trust_env=False, timeout=1) as http:
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


async def test_a_result_is_answered_after_the_core_was_away(world: World) -> None:
    """I8: nobody listens, the sender repeats the same envelope with the same id, and it is applied
    once.
    """
    core = await world.core(MAPPING_POLL_SECONDS=60)
    job = await world.job()
    await world.status(job, "published")
    envelope = await world.envelope(job, "error")
    await core.stop()
    with pytest.raises(Exception, match="no responders"):
        await world.ask(envelope, f"result:{job}:1")
    await world.core(MAPPING_POLL_SECONDS=60)
    assert (await world.ask(envelope, f"result:{job}:1"))["outcome"] == "applied"
    assert (await world.ask(envelope, f"result:{job}:1"))["outcome"] == "duplicate"


async def test_an_envelope_reaches_one_replica(world: World) -> None:
    """§3: the queue group `arm-core-results`; two cores answer each envelope once."""
    await world.core(), await world.core()
    jobs = [await world.job(status="published", publish_count=1) for _ in range(40)]
    inbox = await world.listen("_INBOX.answers")
    client = await world.client()
    for job in jobs:
        body = json.dumps(await world.envelope(job, "error")).encode()
        await client.publish(
            "files.tabular_parsed",
            body,
            reply="_INBOX.answers",
            headers={"Nats-Msg-Id": f"result:{job}:1"},
        )
    for job in jobs:
        await world.status(job, "error")
    answers = [json.loads((await inbox.get()).data)["outcome"] for _ in jobs]
    assert answers == ["applied"] * len(jobs)
    assert inbox.empty()


async def test_results_and_two_watchdogs_at_the_same_moment(world: World) -> None:
    """W1, I5: each job ends once, by whoever was first; its file, its fact and its event say the
    same; no deadlock.
    """
    cores = [
        await world.core(WATCHDOG_PERIOD_SECONDS=0.2, MAPPING_POLL_SECONDS=60) for _ in range(2)
    ]
    deadline = datetime.now(UTC) + timedelta(seconds=3)
    jobs = [await world.job(status="processing", reply_deadline=deadline) for _ in range(300)]
    await world.db.execute("update stored_file set status = 'PROCESSING'")
    envelopes = {job: await world.envelope(job, "error") for job in jobs}
    await until(lambda: _past(deadline - timedelta(milliseconds=150)), seconds=30, pause=0.005)
    for job, envelope in envelopes.items():
        await world.send(envelope, f"result:{job}:1")

    async def all_ended() -> bool:
        return not await world.db.fetchval(
            "select count(*) from recognition_job where status = 'processing'"
        )

    await until(all_ended, seconds=30)
    for job in jobs:
        await _ended_once(world, job)
    for core in cores:
        assert "DeadlockDetected" not in core.said()


async def _past(moment: datetime) -> bool:
    return datetime.now(UTC) >= moment


async def _ended_once(world: World, job: UUID) -> None:
    row, file = await world.row(job), await world.file_of(job)
    assert row["status"] in {"error", "timeout"}
    assert [after for _, after in await world.events(job)] == [row["status"]]
    kind = "TIMEOUT" if row["status"] == "timeout" else "SERVICE_ERROR"
    assert await world.facts(job) == [(kind, row["error_code"])]
    assert (file["status"], file["error_code"]) == ("ERROR", row["error_code"])


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
