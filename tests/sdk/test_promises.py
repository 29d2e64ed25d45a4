"""C4.1-C4.7, seen from the core's side, on real servers."""

import asyncio
import json
from typing import Any

import pytest

from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.sdk.service import MissingAttempt
from tests.sdk.stage import QUICK, Core, Running, new_request, running

BAD = {"file_type": "DOCX"}
ID = "3f2c8a54-6a0e-4d0b-9f0e-2b6f4f1d7c11"


def all_slots_taken(tmp_path) -> list[dict[str, object]]:
    return [
        {"do": "wait", "begun": str(tmp_path / f"begun{n}"), "until": str(tmp_path / "go")}
        for n in range(QUICK.concurrency)
    ]


async def test_a_valid_request_is_acknowledged_then_answered(core: Core, service: Running):
    request = await core.order({"do": "read"}, attempt=3)

    assert await core.statuses(request) == ["processing", "done"]
    ack, result = core.of(request)
    assert ack.msg_id == f"ack:{request['job_id']}:3"
    assert result.msg_id == f"result:{request['job_id']}:3"
    assert result.body["service"] == {"name": "trial", "version": "1.2.3"}
    assert result.body["result_s3"] == {
        "bucket": "arm-ka",
        "key": f"results/{request['file_id']}/{request['job_id']}/result.json",
    }
    assert result.body["metrics"].keys() >= {"fetch_seconds", "recognise_seconds", "store_seconds"}


async def test_the_result_file_tells_of_the_job_and_its_source(core: Core, service: Running):
    request = await core.order({"do": "read", "title": "ОСВ\0", "lines": 500})
    await core.result(request)

    file = await core.result_file(request)

    assert (file["job_id"], file["file_id"]) == (request["job_id"], request["file_id"])
    assert file["source"]["file_type"] == "XLSX"
    assert file["source"]["size_bytes"] > 0
    assert file["documents"][0]["title"] == "ОСВ"
    assert len(file["documents"][0]["lines"]) == 500


@pytest.mark.parametrize(
    ("checks", "status"),
    [([], "done"), (["warning"], "done"), (["warning", "error"], "needs_check")],
)
async def test_a_failed_check_of_error_level_needs_an_analyst(
    core: Core, service: Running, checks, status
):
    request = await core.order({"do": "read", "checks": checks})

    assert (await core.result(request)).status == status


async def test_the_result_file_is_there_before_its_envelope(core: Core, service: Running):
    requests = [await core.order({"do": "read"}) for _ in range(20)]

    for request in requests:
        await core.result(request)
        assert await core.result_file(request)


async def test_it_acknowledges_before_a_slot_is_free(core: Core, service: Running, tmp_path):
    taken = [await core.order(order) for order in all_slots_taken(tmp_path)]
    waiting = await core.order({"do": "read"})

    assert await core.statuses(waiting, 1) == ["processing"]
    (tmp_path / "go").touch()
    for request in [*taken, waiting]:
        assert (await core.result(request)).status == "done"


async def test_it_acknowledges_before_it_reads_the_file(core: Core, service: Running):
    request = new_request("arm-ka")
    await core.send(request)

    assert await core.statuses(request) == ["processing", "error"]
    assert core.of(request)[1].code == "FILE_READ_ERROR"


@pytest.mark.parametrize(
    "change",
    [
        {"file_type": "DOCX"},
        {"schema_version": "2.0"},
        {"schema_version": "1"},
        {"pipeline": "image"},
        {"s3": {"bucket": "arm-ka", "key": ""}},
        {"reply_deadline": "tomorrow"},
        {"original_name": None},
    ],
)
async def test_an_invalid_request_is_refused_without_an_ack(core: Core, service: Running, change):
    request = new_request("arm-ka", attempt=2, **change)
    await core.send(request)
    after = await core.order({"do": "read"})
    await core.result(after)

    assert [it.status for it in core.of(request)] == ["error"]
    assert core.of(request)[0].code == "SCHEMA_MISMATCH"
    assert core.of(request)[0].msg_id == f"result:{request['job_id']}:2"


@pytest.mark.parametrize(
    ("missing_attempt", "msg_id", "attempt"),
    [
        (MissingAttempt.FROM_MESSAGE_ID, "{job}:7", 7),
        (MissingAttempt.FROM_MESSAGE_ID, "nonsense", None),
        (MissingAttempt.ONE, "{job}:7", 1),
        (MissingAttempt.ONE, "nonsense", 1),
    ],
)
async def test_without_an_attempt_in_the_body_the_variants_differ(
    core: Core, nats_settings, object_settings, missing_attempt, msg_id, attempt
):
    """OQ-71: tabular-parser takes it from the request's id or stays silent, scan-gateway says 1."""
    requests = [new_request("arm-ka", attempt=bad) for bad in (0, "1", True, 1.5, None)]
    async with running(nats_settings, object_settings, missing_attempt=missing_attempt):
        for request in requests:
            await core.send(request, msg_id.format(job=request["job_id"]))
        after = await core.order({"do": "read"})
        await core.result(after)

    for request in requests:
        expected = [] if attempt is None else [f"result:{request['job_id']}:{attempt}"]
        assert [it.msg_id for it in core.of(request)] == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"{}",
        json.dumps({"job_id": ID}).encode(),
        json.dumps({"job_id": "x", "file_id": ID, "attempt": 1}).encode(),
        json.dumps({"job_id": 5, "file_id": ID, "attempt": 1}).encode(),
        json.dumps({"job_id": ID.replace("-", ""), "file_id": ID, "attempt": 1}).encode(),
    ],
)
async def test_what_cannot_be_answered_is_dropped(core: Core, service: Running, body):
    await core.send(body, f"{ID}:1")
    after = await core.order({"do": "read"})
    await core.result(after)

    assert {it.job for it in core.heard} == {after["job_id"]}


async def test_a_repeat_of_a_job_in_work_is_acknowledged_only(
    core: Core, service: Running, tmp_path
):
    order = all_slots_taken(tmp_path)[0]
    request = await core.order(order)
    await core.statuses(request, 1)

    await core.send(request)
    assert await core.statuses(request, 2) == ["processing"] * 2

    (tmp_path / "go").touch()
    assert await core.statuses(request, 3) == ["processing", "processing", "done"]


async def test_a_repeat_of_a_finished_job_is_acknowledged_only(core: Core, service: Running):
    request = await core.order({"do": "read"})
    await core.result(request)

    await core.send(request)
    await core.send(request)
    after = await core.order({"do": "read"})
    await core.result(after)

    assert await core.statuses(request, 4) == ["processing", "done", "processing", "processing"]
    assert {it.msg_id for it in core.of(request)} == {
        f"ack:{request['job_id']}:1",
        f"result:{request['job_id']}:1",
    }


async def test_an_invalid_repeat_of_a_known_job_is_dropped(core: Core, service: Running, tmp_path):
    working = await core.order(all_slots_taken(tmp_path)[0])
    finished = await core.order({"do": "read"})
    await core.result(finished)
    await core.statuses(working, 1)

    await core.send(working | BAD)
    await core.send(finished | BAD)
    (tmp_path / "go").touch()
    await core.result(working)
    after = await core.order({"do": "read"})
    await core.result(after)

    assert [it.status for it in core.of(working)] == ["processing", "done"]
    assert [it.status for it in core.of(finished)] == ["processing", "done"]


async def test_a_job_refused_for_its_schema_can_be_sent_again(core: Core, service: Running):
    request = await core.upload({"do": "read"})
    await core.send(request | BAD)
    await core.statuses(request, 1)
    await core.send(request | BAD)
    assert await core.statuses(request, 2) == ["error", "error"]

    await core.send(request)

    assert await core.statuses(request, 4) == ["error", "error", "processing", "done"]
    assert len({it.msg_id for it in core.of(request) if it.status != "processing"}) == 1


async def test_a_refusal_is_repeated_no_more_once_the_job_is_served(
    core: Core, service: Running, tmp_path
):
    """Its id is the real result's: sent again, it could end the job."""
    core.answer = None
    request = await core.upload(all_slots_taken(tmp_path)[0])
    await core.send(request | BAD)
    await core.statuses(request, 2)
    await core.send(request)
    await core.wait(lambda: "processing" in [it.status for it in core.of(request)])
    served_from = len(core.of(request))

    (tmp_path / "go").touch()
    await core.statuses(request, served_from + 3)

    assert {it.status for it in core.of(request)[served_from:]} == {"done"}


async def test_a_past_deadline_is_a_timeout_before_work_starts(core: Core, service: Running):
    request = new_request("arm-ka", seconds=-5)
    await core.send(request)

    assert await core.statuses(request) == ["processing", "error"]
    assert core.of(request)[1].code == "TIMEOUT"

    await core.send(request)
    assert await core.statuses(request, 3) == ["processing", "error", "processing"]


@pytest.mark.parametrize(
    ("deadline", "status"),
    [("0001-01-01T00:00:00+03:00", "error"), ("9999-12-31T23:59:59.999999-03:00", "done")],
)
async def test_a_deadline_at_the_end_of_time_is_one(core: Core, service: Running, deadline, status):
    request = await core.order({"do": "read"}, reply_deadline=deadline)

    assert await core.statuses(request) == ["processing", status]


async def test_a_deadline_that_passes_in_the_queue_is_a_timeout(
    core: Core, service: Running, tmp_path
):
    taken = [await core.order(order) for order in all_slots_taken(tmp_path)]
    waiting = await core.order({"do": "read"}, seconds=1)

    result = await core.result(waiting)

    assert result.code == "TIMEOUT"
    assert core.of(waiting)[0].status == "processing"
    assert [it.status for request in taken for it in core.of(request)] == ["processing"] * 2
    (tmp_path / "go").touch()


async def test_instances_share_the_work(
    core: Core, nats_settings: NatsSettings, object_settings: ObjectSettings, service: Running
):
    """Each request goes to one of them, and neither is left out."""
    requests: list[dict[str, Any]] = []
    pids: set[int] = set()
    async with running(nats_settings, object_settings), asyncio.timeout(20):
        while len(pids) <= QUICK.concurrency:
            requests.append(await core.order({"do": "describe"}))
            pids.add((await core.result(requests[-1])).body["metrics"]["pid"])

    assert all([it.status for it in core.of(r)] == ["processing", "done"] for r in requests)


async def test_200_requests_at_once(core: Core, nats_settings, object_settings):
    requests = [await core.upload({"do": "read", "lines": 50}) for _ in range(200)]
    # The core of the test is slow to answer so many, and a result is said again until it is.
    patient = QUICK.model_copy(update={"repeat_seconds": 60})

    async with running(nats_settings, object_settings, patient):
        await asyncio.gather(*(core.send(request) for request in requests))

        for request in requests:
            assert await core.statuses(request) == ["processing", "done"]


async def test_beyond_the_backlog_requests_wait_untaken(
    core: Core, nats_settings, object_settings, tmp_path
):
    settings = QUICK.model_copy(update={"backlog": 3})
    async with running(nats_settings, object_settings, settings):
        taken = [await core.order(order) for order in all_slots_taken(tmp_path)]
        requests = taken + [await core.order({"do": "read"}) for _ in range(4)]
        await core.wait(lambda: sum(it.status == "processing" for it in core.heard) == 3)
        await core.client.flush()
        assert [it.status for it in core.heard if it.job in jobs_of(requests)] == ["processing"] * 3

        (tmp_path / "go").touch()
        for request in requests:
            assert (await core.result(request)).status == "done"


def jobs_of(requests) -> set[str]:
    return {request["job_id"] for request in requests}


async def test_a_newer_minor_version_and_unknown_fields_are_accepted(core: Core, service: Running):
    request = await core.order({"do": "read"}, schema_version="1.9", priority={"level": 3})

    assert (await core.result(request)).status == "done"


async def test_a_file_of_another_pipeline_is_acknowledged_and_refused(core: Core, service: Running):
    request = await core.order({"do": "read"}, file_type="PDF")

    assert await core.statuses(request) == ["processing", "error"]
    assert core.of(request)[1].code == "UNSUPPORTED_FORMAT"


async def test_ids_in_capitals_are_the_same_job(core: Core, service: Running):
    request = await core.upload({"do": "read"})
    capitals = request | {key: request[key].upper() for key in ("job_id", "file_id")}
    await core.send(capitals)
    await core.result(request)
    await core.send(request)

    assert await core.statuses(request, 3) == ["processing", "done", "processing"]


@pytest.mark.parametrize(
    "key", ["../../etc/passwd", "/", "a//b", "%00", "\0", "a" * 2000, "uploads/\n/x", "."]
)
async def test_a_strange_key_is_a_file_that_cannot_be_read(core: Core, service: Running, key):
    request = new_request("arm-ka", s3={"bucket": "arm-ka", "key": key}, seconds=3)
    await core.send(request)

    assert (await core.result(request)).code == "FILE_READ_ERROR"


@pytest.mark.parametrize("bucket", ["../x", "NO", "no-such-bucket"])
async def test_a_strange_bucket_is_a_file_that_cannot_be_read(core: Core, service: Running, bucket):
    request = new_request(bucket, seconds=3)
    await core.send(request)

    assert (await core.result(request)).code == "FILE_READ_ERROR"
