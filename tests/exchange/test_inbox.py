"""The inbox beyond the specification's scenarios: I1-I5, I7, I8."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.exchange.holding import more_than, publication_held_open, waiting
from tests.world import World, until


async def published(world: World, **columns: Any) -> UUID:
    """A job that a service could be working on."""
    later = datetime.now(UTC) + timedelta(hours=1)
    return await world.job(status="published", reply_deadline=later, publish_count=1, **columns)


async def test_an_ack_waits_for_the_publishers_open_transaction(world: World) -> None:
    """I1: the row is locked first and looked at then; the obvious UPDATE would find nothing and
    lose the ack.
    """
    await world.core()
    async with publication_held_open(world) as job:
        await until(lambda: waiting(world))
        asked = asyncio.create_task(
            world.ask(await world.envelope(job, "processing"), f"ack:{job}:1")
        )
        await until(lambda: more_than(world, 1))
    assert (await asked)["outcome"] == "applied"
    assert (await world.row(job))["status"] == "processing"
    assert await world.events(job) == [("queued", "published"), ("published", "processing")]


async def test_the_first_acks_values_stay(world: World) -> None:
    """I1: an ack for a job in any other status changes nothing."""
    await world.core()
    job = await published(world)
    await world.ask(await world.envelope(job, "processing"), f"ack:{job}:1")
    first = await world.row(job)
    other = await world.envelope(job, "processing", service={"name": "usurper", "version": "0"})
    assert (await world.ask(other, f"ack:{job}:1"))["outcome"] == "duplicate"
    assert await world.row(job) == first
    for status in ("done", "timeout"):
        final = await world.job(status=status)
        assert (await world.ask(await world.envelope(final, "processing"), None))[
            "outcome"
        ] == "late"
        assert (await world.row(final))["status"] == status
        assert await world.rejected(final) == []


@pytest.mark.parametrize("status", ["published", "processing"])
@pytest.mark.parametrize("result", ["done", "needs_check", "error"])
async def test_a_result_applies_with_or_without_an_ack(
    world: World, status: str, result: str
) -> None:
    """I2, I3: also where the ack was lost; only an error moves the file."""
    await world.core(MAPPING_POLL_SECONDS=60)
    job = await published(world)
    await world.db.execute("update stored_file set status = 'PROCESSING'")
    if status == "processing":
        await world.ask(await world.envelope(job, "processing"), None)
    assert (await world.ask(await world.envelope(job, result), f"result:{job}:1"))[
        "outcome"
    ] == "applied"
    row, file = await world.row(job), await world.file_of(job)
    assert (row["status"], row["result_msg_id"]) == (result, f"result:{job}:1")
    # The result file does not exist, so the mapping may have come to its own end by now.
    assert file["error_code"] in ({"UNREADABLE"} if result == "error" else {None, "INVALID_RESULT"})


async def test_a_result_whose_publication_was_never_recorded_applies(world: World) -> None:
    """I2: the publisher dies between publish and commit; the service has answered already."""
    await world.core(MAPPING_POLL_SECONDS=60)
    async with publication_held_open(world) as job:
        (publisher,) = await until(lambda: waiting(world))
        asked = asyncio.create_task(world.ask(await world.envelope(job, "done"), f"result:{job}:1"))
        await until(lambda: more_than(world, 1))
        await world.db.execute("select pg_terminate_backend($1)", publisher)
    assert (await asked)["outcome"] == "applied"
    row = await world.row(job)
    assert (row["status"], row["published_at"], row["request_msg_id"], row["publish_count"]) == (
        "done",
        None,
        None,
        0,
    )
    assert await world.events(job) == [("queued", "done")]
    cause = await world.db.fetchval(
        "select cause from recognition_job_event where recognition_job_id = $1", job
    )
    assert cause == "result before the publication was recorded"


async def test_a_result_without_an_id_gets_the_usual_one(world: World) -> None:
    """I2: taken as result:<job_id>:<attempt>; its repeat is a duplicate."""
    await world.core(MAPPING_POLL_SECONDS=60)
    job = await published(world, attempt=3)
    envelope = await world.envelope(job, "needs_check")
    assert (await world.ask(envelope, None))["outcome"] == "applied"
    assert (await world.row(job))["result_msg_id"] == f"result:{job}:3"
    assert (await world.ask(envelope, None))["outcome"] == "duplicate"


async def test_an_object_that_is_known_is_used_again(world: World) -> None:
    """I2: (bucket, key) is unique; the row of before is pointed to and stays what it was."""
    await world.core(MAPPING_POLL_SECONDS=60)
    job = await published(world)
    envelope = await world.envelope(job, "done")
    known = await world.db.fetchval(
        "insert into s3_object (bucket, key, bucket_role, created_by) "
        "values ('arm-ka', $1, 'results', 'hand') returning id",
        envelope["result_s3"]["key"],
    )
    await world.ask(envelope, f"result:{job}:1")
    assert (await world.row(job))["result_s3_object_id"] == known
    assert (
        await world.db.fetchval("select created_by from s3_object where id = $1", known) == "hand"
    )


async def test_a_failed_job_that_is_not_current_leaves_the_file_alone(world: World) -> None:
    """I3: only the current attempt moves the file."""
    await world.core()
    old = await published(world)
    file_id = (await world.row(old))["stored_file_id"]
    await world.job(
        file_id,
        status="processing",
        attempt=2,
        reply_deadline=datetime.now(UTC) + timedelta(hours=1),
    )
    await world.db.execute("update stored_file set status = 'PROCESSING' where id = $1", file_id)
    await world.ask(await world.envelope(old, "error"), f"result:{old}:1")
    assert (await world.row(old))["status"] == "error"
    assert (await world.file_of(old))["status"] == "PROCESSING"
    assert await world.facts(old) == [("SERVICE_ERROR", "UNREADABLE")]


async def test_raw_and_result_of_an_ack_are_ignored(world: World) -> None:
    """I4: `raw_s3_key` on `processing` registers nothing."""
    await world.core()
    job = await published(world)
    await world.ask(
        await world.envelope(job, "processing", raw_s3_key=f"raw/{job}.json"), f"ack:{job}:1"
    )
    assert (await world.row(job))["raw_s3_object_id"] is None
    assert await world.db.fetchval("select count(*) from s3_object where bucket_role = 'raw'") == 0


async def test_an_error_may_bring_its_result_and_raw_answer(world: World) -> None:
    """I2, I4: registered where they are named."""
    await world.core()
    job = await published(world)
    file_id = (await world.row(job))["stored_file_id"]
    key = f"results/{file_id}/{job}/result.json"
    envelope = await world.envelope(
        job, "error", raw_s3_key=f"raw/{job}.json", result_s3={"bucket": "arm-ka", "key": key}
    )
    await world.ask(envelope, f"result:{job}:1")
    row = await world.row(job)
    assert row["result_s3_object_id"] is not None
    assert row["raw_s3_object_id"] is not None


@pytest.mark.parametrize("final", ["done", "needs_check", "error", "timeout", "dlq"])
async def test_a_final_status_is_never_changed(world: World, final: str) -> None:
    """I5: whatever comes, by whatever id; it is kept as late."""
    await world.core()
    job = await world.job(status=final, result_msg_id="result:other:1")
    before = await world.row(job)
    for status in ("done", "needs_check", "error"):
        answer = await world.ask(await world.envelope(job, status), f"result:{job}:{status}")
        assert answer["outcome"] == "late"
    assert await world.row(job) == before
    assert [row["reason"] for row in await world.rejected(job)] == ["late"] * 3
    assert await world.facts(job) == []


async def test_what_was_not_applied_is_kept_whole(world: World) -> None:
    """I7: reason, job if known, subject, headers, the body up to a limit and its true size."""
    await world.core()
    job = await published(world)
    broken = await world.envelope(job, "done")
    del broken["result_s3"]
    broken["filler"] = "x" * 200_000
    answer = await world.ask(broken, f"result:{job}:1")
    assert (answer["outcome"], "result_s3" in answer["reason"]) == ("rejected", True)
    (kept,) = await world.rejected(job)
    body = json.dumps(broken).encode()
    assert (kept["reason"], kept["msg_id"], kept["subject"]) == (
        "invalid",
        f"result:{job}:1",
        "files.tabular_parsed",
    )
    assert json.loads(kept["headers"])["Nats-Msg-Id"] == f"result:{job}:1"
    assert kept["body_size"] == len(body)
    assert body.startswith(kept["body"])
    assert "result_s3" in kept["detail"]
    assert (await world.row(job))["status"] == "published"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"status": "done"}',
        b'"\xed\xa0\x80"',
    ],
)
async def test_rubbish_is_kept_and_harms_nobody(world: World, body: bytes) -> None:
    """I7: no job known; the next envelope is applied."""
    await world.core()
    job = await published(world)
    assert (await world.ask(body, None))["outcome"] == "rejected"
    assert [row["reason"] for row in await world.rejected(None)] == ["invalid"]
    assert (await world.ask(await world.envelope(job, "processing"), None))["outcome"] == "applied"


async def test_an_envelope_about_another_file_is_refused(world: World) -> None:
    """I7: `foreign_file`, for acks and results."""
    await world.core()
    job = await published(world)
    for status in ("processing", "error"):
        envelope = await world.envelope(job, status, file_id=str(uuid4()))
        assert (await world.ask(envelope, None))["outcome"] == "rejected"
    assert [row["reason"] for row in await world.rejected(job)] == ["foreign_file"] * 2
    assert (await world.row(job))["status"] == "published"


async def test_an_envelope_that_points_elsewhere_is_refused(world: World) -> None:
    """I7: `foreign_key`: another job's result, another bucket, another raw answer."""
    await world.core()
    job, other = await published(world), await published(world)
    right = (await world.envelope(job, "done"))["result_s3"]
    wrong: list[dict[str, object]] = [
        {"result_s3": (await world.envelope(other, "done"))["result_s3"]},
        {"result_s3": {**right, "bucket": "elsewhere"}},
        {"result_s3": {**right, "key": right["key"].replace("result.json", "../result.json")}},
        {"raw_s3_key": f"raw/{other}.json"},
    ]
    for fields in wrong:
        assert (await world.ask(await world.envelope(job, "done", **fields), None))[
            "outcome"
        ] == "rejected"
    assert [row["reason"] for row in await world.rejected(job)] == ["foreign_key"] * 4
    assert (await world.row(job))["status"] == "published"
    assert (
        await world.db.fetchval("select count(*) from s3_object where bucket_role <> 'uploads'")
        == 0
    )


async def test_a_poisonous_envelope_does_not_hold_back_its_neighbours(world: World) -> None:
    """I7: what the database cannot take is set aside; the batch around it is applied."""
    core = await world.core(MAPPING_POLL_SECONDS=60)
    jobs = [await published(world) for _ in range(20)]
    await world.db.execute(
        "alter table recognition_job add constraint poison check (service_version <> 'poison')"
    )
    core.signal(19)  # so that all arrive as one batch
    for index, job in enumerate(jobs):
        fields: dict[str, object] = {"metrics": {"n": index}}
        if index == 7:
            fields = {"metrics": {"huge": "@"}}
        if index == 13:
            fields = {"service": {"name": "test-parser", "version": "poison"}}
        if index == 11:
            fields = {"metrics": {"nul": "a\x00b"}, "service": {"name": "nul\x00", "version": "1"}}
        envelope = json.dumps(await world.envelope(job, "done", **fields)).encode()
        await world.send(envelope.replace(b'"@"', b"1e200000"), f"result:{job}:1")
    core.signal(18)
    for index, job in enumerate(jobs):
        if index not in {7, 13}:
            await world.status(job, "done")
    for poisoned in (jobs[7], jobs[13]):
        kept = await until(partial(world.rejected, poisoned))
        assert [row["reason"] for row in kept] == ["invalid"]
        assert (await world.row(poisoned))["status"] == "published"


async def test_a_job_that_somebody_holds_does_not_hold_back_the_others(world: World) -> None:
    """I7: its envelope waits aside and is applied when the lock is gone."""
    await world.core(MAPPING_POLL_SECONDS=60)
    held, free = await published(world), await published(world)
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


async def test_the_whole_life_of_a_job_in_one_batch(world: World) -> None:
    """Ack, its repeat, the result, its repeat and a stranger's result, taken together."""
    core = await world.core(MAPPING_POLL_SECONDS=60)
    job = await published(world)
    core.signal(19)
    await world.send(await world.envelope(job, "processing"), f"ack:{job}:1")
    await world.send(await world.envelope(job, "processing"), f"ack:{job}:1")
    await world.send(await world.envelope(job, "done"), f"result:{job}:1")
    await world.send(await world.envelope(job, "done"), f"result:{job}:1")
    await world.send(await world.envelope(job, "error"), f"result:{job}:2")
    core.signal(18)
    await world.status(job, "done")
    assert await world.events(job) == [("published", "processing"), ("processing", "done")]
    await until(lambda: world.rejected(job))
    assert [row["reason"] for row in await world.rejected(job)] == ["late"]
