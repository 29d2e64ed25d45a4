"""What the `jetstream` transport owes when servers fail, beyond the scenarios of the kit."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from nats.aio.client import Client

from armka.core.database.migrations import migrate
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer, PostgresServer
from tests.exchange.streams import (
    IMAGE,
    SETTINGS,
    TABULAR,
    api,
    consumer_exists,
    result,
    told,
)
from tests.world import World, until

DURABLE = "CONSUMER.MSG.NEXT.RECOGNITION.arm-core-results"


async def published(world: World) -> UUID:
    """A job that a service could be working on."""
    return await world.job(
        status="published",
        published_at=datetime.now(UTC),
        last_published_at=datetime.now(UTC),
        publish_count=1,
        reply_deadline=datetime.now(UTC) + timedelta(hours=1),
    )


async def core_with_a_consumer(world: World, **settings: Any) -> Client:
    """A core, and a client of the test's own once the consumer is there."""
    await world.core(**SETTINGS, **settings)
    client = await world.client()
    await until(lambda: consumer_exists(client))
    return client


async def test_an_absent_postgresql_costs_no_delivery(
    tmp_path: Path, nats_server: NatsServer, object_store_server: ObjectServer
) -> None:
    """I6: PostgreSQL is away for longer than five ack waits: the result is held in progress, and
    acknowledged on its first delivery.
    """
    async with PostgresServer(tmp_path / "postgres") as postgres:
        dsn = postgres.env()["DATABASE_URL"]
        await migrate(dsn)
        settings = ObjectSettings.model_validate(object_store_server.env())
        world = World(
            dsn, nats_server, object_store_server, tmp_path, await asyncpg.connect(dsn),
            ObjectStore(settings),
        )  # fmt: skip
        try:
            client = await core_with_a_consumer(world, NATS_ACK_WAIT_SECONDS=1)
            job = await published(world)
            envelope = await world.envelope(job, "error")
            async with told(nats_server.url) as core:
                postgres.kill()
                body, headers = json.dumps(envelope).encode(), {"Nats-Msg-Id": f"result:{job}:1"}
                reply = await client.request("recognition.result", body, headers=headers)
                number = int(json.loads(reply.data)["seq"])
                await core.works_on(number, 3 * 6)  # three times in an ack wait
                await postgres.start()
                assert await core.acknowledges(number) == 1
            world.db = await asyncpg.connect(dsn)
            assert await world.facts(job) == [("SERVICE_ERROR", "UNREADABLE")]
        finally:
            await world.close()


async def test_what_the_stream_gave_up_is_tried_once_more(world: World) -> None:
    """I6: five deliveries were spent on cores that died; the advisory brings the message back."""
    client = await core_with_a_consumer(world)
    assert await world.cores[0].stop() == 0
    job = await published(world)
    await result(world, client, job)
    for _ in range(5):
        pull = f"$JS.API.{DURABLE}"
        message = await client.request(pull, b'{"batch":1}', timeout=10, old_style=True)
        await client.publish(message.reply, b"-NAK")
    await client.flush()
    await world.core(**SETTINGS)
    assert (await world.status(job, "error"))["result_msg_id"] == f"result:{job}:1"


async def test_a_full_store_keeps_jobs_queued_and_says_why(world: World) -> None:
    """Nothing is lost: with room again they are published, and only then."""
    client = await world.client()
    small = {
        "name": "RECOGNITION", "subjects": ["recognition.>"], "max_msgs": 1, "discard": "new",
        "duplicate_window": 120 * 10**9,
    }  # fmt: skip
    await api(client, "STREAM.CREATE.RECOGNITION", small)
    core = await world.core(**SETTINGS)
    first, second = await world.job(), await world.job()

    async def one_is_published() -> bool:
        statuses = {(await world.row(job))["status"] for job in (first, second)}
        return statuses == {"queued", "published"}

    await until(one_is_published)
    await until(lambda: _says(core.said, "maximum messages exceeded"))
    await api(client, "STREAM.UPDATE.RECOGNITION", small | {"max_msgs": -1})
    for job in (first, second):
        row = await world.status(job, "published")
        assert row["publish_count"] == 1
    assert "jetstream is set otherwise" in core.said()


async def _says(said: object, words: str) -> bool:
    assert callable(said)
    return words in said()


FORBIDDEN = """
authorization {
  users = [
    { user: admin, password: admin }
    { user: core, password: core, permissions: {
        publish: { deny: ["recognition.image.request", "files.img_uploaded"] } } }
  ]
}
"""


@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["core", "jetstream"])
async def test_a_pipeline_that_cannot_go_out_does_not_starve_the_other(
    database: str, object_store_server: ObjectServer, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Older jobs than a batch holds wait for a permission; the other pipeline's are published, and
    theirs say whose permission is missing.
    """
    async with NatsServer(tmp_path / "guarded", fsync=False, config=FORBIDDEN) as server:
        stored = ObjectStore(ObjectSettings.model_validate(object_store_server.env()))
        world = World(
            database, server, object_store_server, tmp_path, await asyncpg.connect(database), stored
        )
        try:
            scan = await world.file(file_type="PDF")
            scans = [await world.job(scan, pipeline="image", current=False) for _ in range(8)]
            sheets = [await world.job() for _ in range(3)]
            url = server.url.replace("//", "//core:core@")
            core = await world.core(**settings, NATS_URL=url, OUTBOX_BATCH_SIZE=4)
            for job in sheets:
                await world.status(job, "published")
            assert {(await world.row(job))["status"] for job in scans} == {"queued"}
            assert "permissions violation" in core.said().lower()
        finally:
            await world.close()


@pytest.mark.parametrize("back", [False, True], ids=["to-jetstream", "to-core"])
async def test_a_switch_of_the_transport_loses_no_job(world: World, back: bool) -> None:
    """In flight: a queued job, a published one that nobody took, and one in work. After the restart
    the first two are on the wire where services listen now, and the third's result is applied.
    """
    plain: dict[str, Any] = {"ACK_TIMEOUT_SECONDS": "1"}
    before, after = (SETTINGS, plain) if back else (plain, SETTINGS)
    old_subject, new_subject = TABULAR, "files.tabular_uploaded"
    results = "files.tabular_parsed"
    if not back:
        old_subject, new_subject, results = new_subject, old_subject, "recognition.result"
    client = await world.client()
    heard = await world.listen(new_subject)
    await world.core(**{**before, "ACK_TIMEOUT_SECONDS": "60"})
    waiting, in_work = await world.job(), await world.job()
    for job in (waiting, in_work):
        row = await world.status(job, "published")
        assert row["request_subject"] == old_subject
    await world.db.execute(
        "update recognition_job set status = 'processing', started_at = now() where id = $1",
        in_work,
    )
    assert await world.cores[0].stop() == 0
    queued = await world.job()
    await world.core(**after)
    wanted = {str(waiting), str(queued)}
    while wanted:
        wanted.discard(json.loads((await heard.get()).data)["job_id"])
    body = json.dumps(await world.envelope(in_work, "error")).encode()
    await client.request(results, body, timeout=20, headers={"Nats-Msg-Id": f"result:{in_work}:1"})
    await world.status(in_work, "error")
    for job in (waiting, queued):
        assert (await world.row(job))["status"] == "published"


async def test_a_stream_that_lost_its_end_gets_it_again(world: World) -> None:
    """B13: a store whose tail is torn says nothing of it; its requests are on the wire again."""
    await world.core(**SETTINGS)
    jobs = [await world.job() for _ in range(6)]
    for job in jobs:
        await world.status(job, "published")
    await world.nats.stop()
    (block,) = world.nats.home.glob("jetstream/**/streams/RECOGNITION/msgs/*.blk")
    with block.open("r+b") as torn:
        torn.truncate(block.stat().st_size // 2)
    await world.nats.start()
    client = await world.client()

    async def all_are_kept() -> bool:
        stream = await api(client, "STREAM.INFO.RECOGNITION", {"subjects_filter": TABULAR})
        return bool(stream["state"].get("subjects", {}).get(TABULAR) == len(jobs))

    await until(all_are_kept)
    assert {(await world.row(job))["status"] for job in jobs} == {"published"}


async def test_a_stream_that_nobody_manages_is_asked_for_by_name(world: World) -> None:
    """N4: without NATS_MANAGE_STREAM nothing is created; jobs wait, and the log says for what."""
    core = await world.core(NATS_TRANSPORT="jetstream")
    job = await world.job()
    await until(lambda: _says(core.said, "the stream RECOGNITION does not exist"))
    assert (await world.row(job))["status"] == "queued"
    client = await world.client()
    await api(client, "STREAM.CREATE.RECOGNITION", {"name": "RECOGNITION", "subjects": [IMAGE]})
    assert (await world.row(job))["status"] == "queued"
