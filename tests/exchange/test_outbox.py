"""The outbox beyond the specification's scenarios: O1-O5, and what the field has learned the hard
way.
"""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from tests.exchange.holding import publication_held_open
from tests.world import RESULTS, TABULAR, World, until


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


async def test_an_idle_core_publishes_at_once(world: World) -> None:
    """O1: the wake-up works: with a poll of a minute the job is on the wire all the same."""
    heard = await world.listen(TABULAR)
    core = await world.core(OUTBOX_POLL_SECONDS=60)

    async def listening() -> bool:
        return '"listening to the database"' in core.said()

    await until(listening)
    for _ in range(3):
        job = await world.job()
        async with asyncio.timeout(10):
            assert (await heard.get()).headers == {"Nats-Msg-Id": f"{job}:1"}


async def test_a_job_whose_transaction_commits_late_is_published(world: World) -> None:
    """A row that becomes visible after younger ones is not skipped."""
    await world.core()
    late = await asyncpg.connect(world.dsn)
    transaction = late.transaction()
    await transaction.start()
    file_id = await world.file()
    job_id = await late.fetchval(
        "insert into recognition_job (stored_file_id, pipeline) "
        "values ($1, 'tabular') returning id",
        file_id,
    )
    for _ in range(5):
        await world.status(await world.job(), "published")
    await transaction.commit()
    await late.close()
    await world.status(job_id, "published")


@pytest.mark.parametrize(
    ("pipeline", "file_type", "role"),
    [("image", "XLSX", "uploads"), ("tabular", "PDF", "uploads"), ("tabular", "XLSX", "results"),
     ("tabular", "DOCX", "uploads"), ("telepathy", "XLSX", "uploads")],
)  # fmt: skip
async def test_a_job_that_can_have_no_request_ends_without_holding_up_the_others(
    world: World, pipeline: str, file_type: str, role: str
) -> None:
    """O2: it ends as SCHEMA_MISMATCH with its file and a fact; jobs before and after it are
    published.
    """
    before = await world.job()
    broken = await world.job(await world.file(file_type=file_type, role=role), pipeline=pipeline)
    after = await world.job()
    await world.core()
    row = await world.status(broken, "error")
    file = await world.file_of(broken)
    assert (row["error_code"], file["status"], file["error_code"]) == (
        "SCHEMA_MISMATCH",
        "ERROR",
        "SCHEMA_MISMATCH",
    )
    assert row["error_message"]
    assert row["finished_at"] is not None
    assert await world.facts(broken) == [("REQUEST_INVALID", "SCHEMA_MISMATCH")]
    await world.status(before, "published")
    await world.status(after, "published")


async def test_a_request_too_large_for_the_server_ends_alone(world: World) -> None:
    """O2: a name of two megabytes can never be sent; the connection and the neighbours do not
    suffer.
    """
    monster = await world.job(await world.file(name="я" * 1_000_000))
    neighbour = await world.job()
    await world.core()
    row = await world.status(monster, "error")
    assert row["error_code"] == "SCHEMA_MISMATCH"
    assert "max_payload" in row["error_message"]
    await world.status(neighbour, "published")


async def test_a_republish_keeps_the_identity_and_the_first_time(world: World) -> None:
    """O3: same id, same attempt, same published_at; last_published_at and publish_count move."""
    heard = await world.listen(TABULAR)
    await world.core(ACK_TIMEOUT_SECONDS=1)
    job = await world.job()
    first = await world.status(job, "published")

    async def republished() -> bool:
        return bool((await world.row(job))["publish_count"] == 2)

    await until(republished)
    second = await world.row(job)
    assert (second["published_at"], second["request_msg_id"]) == (
        first["published_at"],
        first["request_msg_id"],
    )
    assert second["last_published_at"] > first["last_published_at"]
    bodies = [(await heard.get()) for _ in range(2)]
    assert bodies[0].data == bodies[1].data
    assert bodies[0].headers == bodies[1].headers


async def test_nothing_is_published_again_after_the_deadline(world: World) -> None:
    """O3: past the reply deadline the watchdog owns the job, and it ends as timeout, not as dlq."""
    heard = await world.listen(TABULAR)
    await world.core(ACK_TIMEOUT_SECONDS=0.5, OUTBOX_MAX_REPUBLISH=0, WATCHDOG_PERIOD_SECONDS=3)
    job = await world.job(reply_deadline=datetime.now(UTC) - timedelta(seconds=5))
    row = await world.status(job, "timeout")
    assert row["publish_count"] == 1
    assert heard.qsize() == 1


async def test_who_does_not_listen_does_not_judge(world: World) -> None:
    """O3: a core whose connection just came back first listens for the whole ack time."""
    await world.core(ACK_TIMEOUT_SECONDS=4, OUTBOX_MAX_REPUBLISH=0)
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    soon = datetime.now(UTC) + timedelta(hours=1)
    job = await world.job(
        status="published",
        published_at=long_ago,
        last_published_at=long_ago,
        publish_count=1,
        reply_deadline=soon,
    )
    assert (await world.ask(await world.envelope(job, "processing"), f"ack:{job}:1"))[
        "outcome"
    ] == "applied"
    assert (await world.row(job))["status"] == "processing"


async def test_a_deadline_that_is_given_stays_and_one_that_is_not_is_computed_at_the_first_publish(
    world: World,
) -> None:
    """O4: both in the message and in the row; a broker outage does not eat the service's time."""
    heard = await world.listen(TABULAR)
    given = datetime(2031, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    await world.nats.stop()
    with_deadline, without = await world.job(reply_deadline=given), await world.job()
    await world.core(wait=False, REPLY_TIMEOUT_SECONDS_TABULAR=1000)
    await world.nats.start()
    heard = await world.listen(TABULAR)
    rows = [await world.status(job, "published") for job in (with_deadline, without)]
    assert rows[0]["reply_deadline"] == given
    assert rows[1]["reply_deadline"] - rows[1]["published_at"] > timedelta(seconds=990)
    await until(lambda: asyncio.sleep(0, heard.qsize() >= 2))
    sent = {
        json.loads(message.data)["job_id"]: json.loads(message.data)
        for message in (heard.get_nowait(), heard.get_nowait())
    }
    for job, row in zip((with_deadline, without), rows, strict=True):
        assert datetime.fromisoformat(sent[str(job)]["reply_deadline"]) == row["reply_deadline"]


async def test_a_published_row_without_a_deadline_is_overdue_by_the_budget(world: World) -> None:
    """O4, W1: imports may have none."""
    await world.core(
        WATCHDOG_PERIOD_SECONDS=0.5,
        REPLY_TIMEOUT_SECONDS_TABULAR=600,
        REPLY_TIMEOUT_SECONDS_IMAGE=10_000,
    )
    old = datetime.now(UTC) - timedelta(seconds=700)
    tabular = await world.job(status="published", published_at=old)
    image = await world.job(
        await world.file(file_type="PDF"), status="processing", pipeline="image", published_at=old
    )
    await world.status(tabular, "timeout")
    assert (await world.row(image))["status"] == "processing"


async def test_replicas_publish_each_job_once(world: World) -> None:
    """O5: three publishers, three hundred jobs, three hundred messages."""
    heard = await world.listen(TABULAR)
    jobs = {str(await world.job()) for _ in range(300)}
    for _ in range(3):
        await world.core(wait=False, OUTBOX_BATCH_SIZE=20)

    async def all_published() -> bool:
        waiting = await world.db.fetchval(
            "select count(*) from recognition_job where status <> 'published'"
        )
        return bool(waiting == 0)

    await until(all_published, seconds=40)
    sent = Counter(json.loads(heard.get_nowait().data)["job_id"] for _ in range(heard.qsize()))
    assert sent == Counter(jobs)


async def test_a_frozen_broker_confirms_nothing(world: World) -> None:
    """A publish into a frozen server reports success; the row must not."""
    await world.core()
    await world.status(await world.job(), "published")
    world.nats.pause()
    job = await world.job()
    core = world.cores[0]

    async def noticed() -> bool:
        return "waiting for a server" in core.said()

    await until(noticed, seconds=30)
    assert (await world.row(job))["status"] == "queued"
    world.nats.resume()
    await world.status(job, "published", seconds=40)


async def test_a_publisher_killed_before_its_commit_leaves_the_job_queued_for_the_next(
    world: World,
) -> None:
    """The message may be out twice; the job is published once, with one identity."""
    core = await world.core()
    async with publication_held_open(world) as job:
        core.kill()
        await core.process.wait()
    assert (await world.row(job))["status"] == "queued"
    heard = await world.listen(TABULAR)
    await world.core()
    row = await world.status(job, "published")
    assert row["publish_count"] == 1
    assert (await heard.get()).headers == {"Nats-Msg-Id": f"{job}:1"}
    assert await world.events(job) == [("queued", "published")]


async def test_sigterm_ends_in_order(world: World) -> None:
    """§8: exit code 0, nothing half done."""
    core = await world.core()
    jobs = [await world.job() for _ in range(50)]
    assert await core.stop() == 0
    rows = [await world.row(job) for job in jobs]
    assert all((row["status"] == "published") == (row["published_at"] is not None) for row in rows)
    assert RESULTS not in core.said()
