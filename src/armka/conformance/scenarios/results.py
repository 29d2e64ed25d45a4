"""Results that are applied (I2, I3, I4, C3, I8)."""

import asyncio
import json

from armka.conformance.job import SERVICE, Job
from armka.conformance.scenario import scenario
from armka.conformance.scenarios.moments import inbox_held, publication_held_open, waits_or_ends
from armka.conformance.surface import Surface
from armka.contract.vocabulary import ErrorCode

_ERROR_CODES = (
    "UNSUPPORTED_FORMAT", "UNREADABLE", "TIMEOUT", "SCHEMA_MISMATCH", "NOT_IMPLEMENTED",
    "FILE_READ_ERROR", "INVALID_FORMAT", "INVALID_DOCUMENT", "RECOGNITION_FAILED", "UNKNOWN_ERROR",
)  # fmt: skip
_METRICS = {"rows": 12, "слова": ["а", 1.5, None]}


@scenario("I2 I3", "Успешный результат")
async def a_result_is_applied(surface: Surface) -> None:
    """Done and needs_check, acknowledged or not: the job's columns, and one object that is
    pointed to.
    """
    for status in ("done", "needs_check"):
        for acknowledged in (True, False):
            job = await surface.published()
            if acknowledged:
                await surface.deliver(job.envelope("processing"), job.ack_id, "applied")
            envelope = job.envelope(status, metrics=_METRICS)
            await surface.deliver(envelope, job.result_id, "applied")
            await _expect_applied(surface, job, status)


async def _expect_applied(surface: Surface, job: Job, status: str) -> None:
    row = await surface.row(job)
    expected = {"status": status, "result_msg_id": job.result_id, "result_schema_version": "1.0"}
    service = {"service_name": SERVICE["name"], "service_version": SERVICE["version"]}
    nothing = {"error_code": None, "error_message": None, "raw_s3_object_id": None}
    surface.expect_row(str(job), row, finished_at=..., **expected, **service, **nothing)
    surface.expect("its metrics", _METRICS, json.loads(row["metrics"]))
    objects = await surface.tables.all("objects_of", str(job.id))
    surface.expect("its objects", [row["result_s3_object_id"]], [one["id"] for one in objects])
    surface.expect_row(
        "the object",
        objects[0],
        bucket=job.bucket,
        key=job.result_key,
        bucket_role="results",
        created_by=SERVICE["name"],
    )
    failed = "SERVICE_ERROR" in str(await surface.facts(job))
    surface.expect("a fact of the service's failure", False, failed)


@scenario("I2", "Повторная доставка")
async def a_repeated_result_changes_nothing(surface: Surface) -> None:
    """The same message again, twice: duplicate, and neither rows nor objects change."""
    for status in ("done", "error"):
        job = await surface.published()
        envelope = job.envelope(status, raw_s3_key=job.raw_key)
        await surface.deliver(envelope, job.result_id, "applied")
        await surface.file_reaches(job, "ERROR")  # nothing lies under the key, so the mapping fails
        before = await surface.traces(job)
        for _ in range(2):
            await surface.deliver(envelope, job.result_id, "duplicate")
        surface.expect(f"the traces of {job}", before, await surface.traces(job))
        surface.expect("what was rejected", [], await surface.reasons(job))


@scenario("I3 Q1", "Ошибка сервиса", "Факт отказа сервиса", "Ошибка обработки")
async def an_error_fails_job_and_file(surface: Surface) -> None:
    """Each code of the contract: job, file and one fact SERVICE_ERROR say it; no object."""
    surface.expect("the contract's codes", set(_ERROR_CODES), {code.value for code in ErrorCode})
    for code in _ERROR_CODES:
        job = await surface.published()
        error = {"code": code, "message": f"Не вышло: {code}"}
        await surface.deliver(job.envelope("error", error=error), job.result_id, "applied")
        row = await surface.failed(job, "error", "SERVICE_ERROR", code)
        surface.expect_row(
            str(job), row, error_message=error["message"], result_s3_object_id=None,
            result_msg_id=job.result_id, service_name=SERVICE["name"],
        )  # fmt: skip
        file = await surface.file_of(job)
        surface.expect_row("its file", file, error_message=error["message"])
        surface.expect("its objects", [], await surface.tables.all("objects_of", str(job.id)))


@scenario("Q1", "Факт отказа сервиса")
async def a_fact_says_whose_failure_it_was(surface: Surface) -> None:
    """The fact names job, file, pipeline, service and version, and when it occurred."""
    job = await surface.published(await surface.file(file_type="PDF"), pipeline="image")
    await surface.deliver(job.envelope("error"), job.result_id, "applied")
    facts = await surface.tables.all("facts", job.id)
    surface.expect("facts", 1, len(facts))
    surface.expect_row(
        "the fact", facts[0], stored_file_id=job.file_id, pipeline="image", occurred_at=...,
        service_name=SERVICE["name"], service_version=SERVICE["version"],
    )  # fmt: skip


@scenario("I2 I4", "Сырой ответ зарегистрирован")
async def a_raw_answer_is_registered(surface: Surface) -> None:
    """raw_s3_key on any of the three results; an error may bring its result file too."""
    for status in ("done", "needs_check", "error"):
        job = await surface.published()
        fields = {"raw_s3_key": job.raw_key, "result_s3": job.result_s3}
        await surface.deliver(job.envelope(status, **fields), job.result_id, "applied")
        row = await surface.row(job)
        raw = await surface.tables.one("object", row["raw_s3_object_id"])
        surface.expect_row(
            "the raw answer", raw, bucket=job.bucket, key=job.raw_key, bucket_role="raw",
            created_by=SERVICE["name"],
        )  # fmt: skip
        result = await surface.tables.one("object", row["result_s3_object_id"])
        surface.expect_row("the result", result, key=job.result_key, bucket_role="results")


@scenario("I2")
async def a_result_overtakes_the_publishers_commit(surface: Surface) -> None:
    """The publisher dies between publish and commit and the service has answered: the result
    applies to the queued job, whose publish columns stay null; the event's cause says so.
    """
    async with publication_held_open(surface) as (job, publisher):
        asked = asyncio.create_task(surface.deliver(job.envelope("done"), job.result_id))
        await waits_or_ends(surface, publisher, asked)
        await surface.tables.value("cut", publisher)
        surface.trail.add("the publisher's connection is cut")
    surface.expect_outcome("applied", await asked)
    row = await surface.reaches(job, "done")
    surface.expect_row(
        str(job), row, published_at=None, last_published_at=None, publish_count=0,
        request_msg_id=None, request_subject=None, finished_at=..., result_msg_id=job.result_id,
    )  # fmt: skip
    (event,) = await surface.tables.all("events", job.id)
    surface.expect_row("the event", event, from_status="queued", to_status="done")
    surface.expect("the cause speaks of the publication", True, "publication" in event["cause"])


@scenario("I2 OQ-71")
async def a_result_without_an_id_gets_the_usual_one(surface: Surface) -> None:
    """Taken as result:<job_id>:<attempt>; its repeat, with the id or without, is a duplicate."""
    job = await surface.published(attempt=3)
    await surface.deliver(job.envelope("needs_check"), None, "applied")
    surface.expect_row(str(job), await surface.row(job), result_msg_id=f"result:{job.id}:3")
    await surface.deliver(job.envelope("needs_check"), None, "duplicate")
    await surface.deliver(job.envelope("needs_check"), job.result_id, "duplicate")


@scenario("I2 OQ-71")
async def an_ids_attempt_is_compared_with_nothing(surface: Surface) -> None:
    """result:<job_id>:7 for a first attempt applies, and the id is kept as it came."""
    job = await surface.published()
    await surface.deliver(job.envelope("done"), f"result:{job.id}:7", "applied")
    surface.expect_row(str(job), await surface.row(job), result_msg_id=f"result:{job.id}:7")


@scenario("I2")
async def a_known_object_is_used_again(surface: Surface) -> None:
    """(bucket, key) exists: the job points to that row, which stays what it was."""
    job = await surface.published()
    known = await surface.tables.value("insert_object", job.bucket, job.result_key, "results")
    before = await surface.tables.one("object", known)
    await surface.deliver(job.envelope("done"), job.result_id, "applied")
    surface.expect_row(str(job), await surface.row(job), status="done", result_s3_object_id=known)
    surface.expect("the object", before, await surface.tables.one("object", known))


@scenario("I3 A1")
async def an_old_attempts_result_leaves_the_file_alone(surface: Surface) -> None:
    """Attempts that are not current end by their results, with facts, and do not move the file."""
    file_id = await surface.file(status="PROCESSING")
    current = await surface.published(file_id, attempt=4)
    for attempt, status in enumerate(("error", "done", "needs_check"), start=1):
        old = await surface.job(file_id, current=False, status="published", attempt=attempt)
        await surface.deliver(old.envelope(status), old.result_id, "applied")
        await surface.reaches(old, status)
    period = min(2 * surface.target.seconds("MAPPING_POLL_SECONDS"), 10.0)
    await surface.stays(
        "the file waits for its current attempt",
        lambda: surface.file_of(current),
        so=lambda file: (file["status"], file["error_code"]) == ("PROCESSING", None),
        seconds=period,
    )


@scenario("C3")
async def minor_versions_and_unknown_fields_are_taken(surface: Surface) -> None:
    """Any 1.x, fields nobody knows, a stray group_schema: applied; the job's group_schema is not
    taken from the envelope.
    """
    job = await surface.published()
    extra: dict[str, object] = {
        "schema_version": "1.7",
        "novelty": {"a": []},
        "group_schema": "stray",
    }
    await surface.deliver(job.envelope("processing", **extra), job.ack_id, "applied")
    await surface.deliver(job.envelope("done", **extra), job.result_id, "applied")
    row = await surface.row(job)
    surface.expect_row(str(job), row, status="done")
    surface.expect("group_schema from the envelope", False, row["group_schema"] == "stray")


@scenario("I8")
async def an_answer_comes_after_the_commit(surface: Surface) -> None:
    """While the result cannot be written nobody answers; with the answer the rows are there."""
    job = await surface.published()
    async with surface.tables.holding("lock_job", job.id):
        (reply,) = await surface.ask((job.envelope("error"), job.result_id))

        async def look() -> int:
            return surface.answer_count(reply)

        await surface.stays("no answer yet", look, so=lambda count: count == 0, seconds=0.5)
    surface.expect_outcome("applied", await surface.answer(reply))
    surface.expect_row(str(job), await surface.row(job), status="error")
    surface.expect_row("its file", await surface.file_of(job), status="ERROR")
    surface.expect("its facts", 1, len(await surface.facts(job)))


@scenario("I8")
async def a_service_that_just_publishes_loses_nothing(surface: Surface) -> None:
    """Without a reply subject envelopes are applied too."""
    job = await surface.published()
    await surface.send((job.envelope("processing"), job.ack_id))
    await surface.send((job.envelope("error"), job.result_id))
    await surface.failed(job, "error", "SERVICE_ERROR", "UNREADABLE")


@scenario("I1 I2 I5")
async def a_whole_life_in_one_batch(surface: Surface) -> None:
    """An ack, its repeat, the result, its repeat and another result, read together, are decided
    one after another.
    """
    job = await surface.published()
    async with inbox_held(surface):
        replies = await surface.ask(
            (job.envelope("processing"), job.ack_id),
            (job.envelope("processing"), job.ack_id),
            (job.envelope("done"), job.result_id),
            (job.envelope("done"), job.result_id),
            (job.envelope("error"), f"result:{job.id}:2"),
        )
    answers = [await surface.answer(reply) for reply in replies]
    for answer, outcome in zip(
        [answers[0], *answers[2:]], ("applied", "applied", "duplicate", "late"), strict=True
    ):
        surface.expect_outcome(outcome, answer)
    expected = [("published", "processing"), ("processing", "done")]
    surface.expect("its moves", expected, await surface.moves(job))
    surface.expect("what was rejected", ["late"], await surface.reasons(job))
    failed = "SERVICE_ERROR" in str(await surface.facts(job))
    surface.expect("a fact of the service's failure", False, failed)


@scenario("§8")
async def every_transition_can_be_seen_afterwards(surface: Surface) -> None:
    """Each move of a job's life is an event with its time and cause."""
    job = await surface.job()
    await surface.reaches(job, "published")
    await surface.deliver(job.envelope("processing"), job.ack_id, "applied")
    await surface.deliver(job.envelope("error"), job.result_id, "applied")
    events = await surface.tables.all("events", job.id)
    moves = [(event["from_status"], event["to_status"]) for event in events]
    expected = [("queued", "published"), ("published", "processing"), ("processing", "error")]
    surface.expect("its moves", expected, moves)
    surface.expect("causes", True, all(event["cause"].strip() for event in events))
    times = [event["at"] for event in events]
    surface.expect("times in order", sorted(times), times)
