"""Envelopes that change nothing (I5, I7, C3, §1)."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from armka.conformance.findings import Contradicted
from armka.conformance.job import Envelope, Job
from armka.conformance.rows import TransitionRefused
from armka.conformance.scenario import scenario
from armka.conformance.scenarios.moments import inbox_held
from armka.conformance.surface import FINAL, Surface
from armka.contract import schema_files

_RUBBISH = (
    b"", b"{", b"null", b"[]", b"7", b"\xff\xfe", b"[" * 100_000, b'{"status": "done"}',
    b'"\xed\xa0\x80"',
)  # fmt: skip
_FAR_TOO_MUCH = 300_000
_EXAMPLES_AT_LEAST = 15


@scenario("I5", "Результат пришёл после таймаута")
async def a_result_for_a_final_job_is_late(surface: Surface) -> None:
    """Whatever is final stays, whatever comes, by whatever id: neither job nor file, objects nor
    facts change, and the message is kept as late.
    """
    for final in FINAL:
        file_id = await surface.file(status="ERROR")
        job = await surface.job(file_id, status=final, result_msg_id="result:other:1")
        before = await surface.traces(job)
        for status in ("done", "needs_check", "error"):
            envelope = job.envelope(status, raw_s3_key=job.raw_key)
            await surface.deliver(envelope, f"result:{job.id}:{status}", "late")
        surface.expect(f"the traces of a {final} job", before, await surface.traces(job))
        surface.expect("what was rejected", ["late"] * 3, await surface.reasons(job))


@scenario("I5")
async def an_unknown_job_is_kept(surface: Surface) -> None:
    """An envelope about a job that does not exist is answered, kept, and changes nothing."""
    stranger = Job(uuid4(), uuid4(), surface.objects.bucket)
    for status, msg_id in (("processing", stranger.ack_id), ("done", stranger.result_id)):
        await surface.deliver(stranger.envelope(status), msg_id, "unknown_job")
        kept = await surface.tables.all("rejected_under", msg_id)
        surface.expect("what was kept", ["unknown_job"], [row["reason"] for row in kept])
        surface.expect_row("it", kept[0], recognition_job_id=stranger.id, received_at=...)
    surface.expect("objects", [], await surface.tables.all("objects_of", str(stranger.id)))


@scenario("I7")
async def rubbish_is_kept_and_harms_nobody(surface: Surface) -> None:
    """What is no envelope at all is rejected and kept; the next envelope is applied."""
    for body in _RUBBISH:
        msg_id = f"rubbish:{uuid4()}"
        await surface.deliver(body, msg_id, "rejected")
        kept = await surface.tables.all("rejected_under", msg_id)
        surface.expect("reasons", ["invalid"], [row["reason"] for row in kept])
        surface.expect_row("what was kept", kept[0], recognition_job_id=None, body_size=len(body))
    job = await surface.published()
    await surface.deliver(job.envelope("processing"), job.ack_id, "applied")


@scenario("I7 C2 C3")
async def every_invalid_example_is_rejected(surface: Surface) -> None:
    """The contract's invalid envelopes, told of a real job: each is kept as invalid, the job stays
    published. Another MAJOR version is one of them.
    """
    job = await surface.published()
    before = await surface.traces(job)
    count = 0
    for name, envelope in _invalid_examples(job):
        msg_id = f"{name}:{job.id}"
        answer = await surface.deliver(envelope, msg_id, "rejected")
        surface.expect(f"a reason for {name}", True, bool(answer.reason))
        kept = await surface.tables.all("rejected_under", msg_id)
        surface.expect(f"reasons for {name}", ["invalid"], [row["reason"] for row in kept])
        count += 1
    surface.expect("examples", True, count >= _EXAMPLES_AT_LEAST)
    surface.expect(f"the traces of {job}", before, await surface.traces(job))


def _invalid_examples(job: Job) -> Iterator[tuple[str, Envelope]]:
    folder = schema_files.root() / "examples" / "invalid"
    for path in sorted(folder.iterdir(), key=lambda item: item.name):
        if path.name.startswith("result-message-"):
            yield path.name, _retold(json.loads(path.read_text(encoding="utf-8")), job)


def _retold(example: Any, job: Job) -> Envelope:
    """The same about this job, where the example names a job and a file at all."""
    ids = {"job_id": str(job.id), "file_id": str(job.file_id)}
    for key, value in ids.items():
        if len(str(example.get(key, ""))) == len(value):
            example[key] = value
    for status in ("done", "needs_check"):
        if example.get("status") == status and (example.get("result_s3") or {}).get("key"):
            example["result_s3"] = job.result_s3
    fields: Envelope = example
    return fields


@scenario("I7")
async def what_was_rejected_is_kept_whole(surface: Surface) -> None:
    """Reason, job if known, subject, headers, the body up to a limit and its true size, when."""
    job = await surface.published()
    broken = job.envelope("done", filler="x" * _FAR_TOO_MUCH)
    del broken["result_s3"]
    answer = await surface.deliver(broken, job.result_id, "rejected")
    surface.expect("the reason names the field", True, "result_s3" in str(answer.reason))
    kept = await surface.tables.all("rejected", job.id)
    surface.expect("reasons", ["invalid"], [row["reason"] for row in kept])
    body = json.dumps(broken).encode()
    subject = surface.wire.subjects.result
    surface.expect_row("it", kept[0], msg_id=job.result_id, subject=subject, body_size=len(body))
    surface.expect("headers", job.result_id, json.loads(kept[0]["headers"])["Nats-Msg-Id"])
    surface.expect("the body's beginning", True, body.startswith(kept[0]["body"] or b"-"))
    surface.expect_row(str(job), await surface.row(job), status="published")


@scenario("I7")
async def an_envelope_about_another_file_is_refused(surface: Surface) -> None:
    """foreign_file, for acks and results."""
    job, other = await surface.published(), await surface.published()
    before = await surface.traces(job)
    for file_id in (other.file_id, uuid4()):
        for status in ("processing", "error"):
            envelope = job.envelope(status, file_id=str(file_id))
            await surface.deliver(envelope, job.result_id, "rejected")
    surface.expect(f"the traces of {job}", before, await surface.traces(job))
    surface.expect("reasons", ["foreign_file"] * 4, await surface.reasons(job))


@scenario("I7 I4")
async def an_envelope_that_points_elsewhere_is_refused(surface: Surface) -> None:
    """foreign_key: another job's result, another bucket, another raw answer."""
    job, other = await surface.published(), await surface.published()
    before = await surface.traces(job)
    key = job.result_key
    wrong: list[dict[str, object]] = [
        {"result_s3": other.result_s3},
        {"result_s3": {"bucket": "elsewhere", "key": key}},
        {"result_s3": {"bucket": job.bucket, "key": key.replace("result.json", "../result.json")}},
        {"raw_s3_key": other.raw_key},
        {"raw_s3_key": f"raw/../{job.raw_key}"},
    ]
    for fields in wrong:
        await surface.deliver(job.envelope("done", **fields), job.result_id, "rejected")
    surface.expect(f"the traces of {job}", before, await surface.traces(job))
    surface.expect("reasons", ["foreign_key"] * len(wrong), await surface.reasons(job))


@scenario("I7")
async def a_poisonous_envelope_holds_back_nobody(surface: Surface) -> None:
    """In one batch: a number that few can hold, a NUL, and a job whose fact cannot be written,
    since another hand wrote it already. Each is answered, and their neighbours are applied.
    """
    jobs = [await surface.published() for _ in range(15)]
    huge, blocked, nul = jobs[3], jobs[7], jobs[11]
    await surface.tables.all("insert_fact", blocked.id, blocked.file_id, "SERVICE_ERROR")
    surface.trail.add(f"insert of a fact SERVICE_ERROR about {blocked}")
    envelopes: list[tuple[Envelope | bytes, str | None]] = [
        (job.envelope("error", metrics={"n": 1}), job.result_id) for job in jobs
    ]
    text = json.dumps(huge.envelope("error", metrics={"n": "@"})).encode()
    envelopes[3] = (text.replace(b'"@"', b"1e200000"), huge.result_id)
    service = {"name": "nul\x00", "version": "1"}
    envelopes[11] = (
        nul.envelope("error", metrics={"nul": "a\x00b"}, service=service), nul.result_id,
    )  # fmt: skip
    async with inbox_held(surface):
        replies = await surface.ask(*envelopes)
    within = 2 * surface.target.patience_seconds
    answers = {
        job: await surface.answer(reply, within) for job, reply in zip(jobs, replies, strict=True)
    }
    del answers[huge], answers[blocked]
    seen = await _end(surface, huge)
    surface.expect("applied or kept", True, seen in {("error", ()), ("published", ("invalid",))})
    surface.expect(
        "job and reasons", surface.target.manner.unwritable, await _end(surface, blocked)
    )
    for job, answer in answers.items():
        surface.expect_outcome("applied", answer)
        surface.expect_row(str(job), await surface.row(job), status="error")


async def _end(surface: Surface, job: Job) -> tuple[str, tuple[str, ...]]:
    return (await surface.row(job))["status"], tuple(await surface.reasons(job))


@scenario("§1 I5")
async def the_database_refuses_what_is_not_in_the_graph(surface: Surface) -> None:
    """No UPDATE changes a final status or takes an edge that is not there, whoever sends it."""
    refused = {status: {"queued", "published", *FINAL} - {status} for status in FINAL}
    refused |= {"published": {"queued"}, "processing": {"queued", "published"}}
    later = await surface.now()
    for before, others in refused.items():
        job = await surface.job(status=before, reply_deadline=later.replace(year=2100))
        for after in others:
            await _expect_refused(surface, job, before, after)


async def _expect_refused(surface: Surface, job: Job, before: str, after: str) -> None:
    try:
        await surface.tables.update_status(job.id, after)
    except TransitionRefused:
        surface.expect_row(str(job), await surface.row(job), status=before)
        return
    raise Contradicted(f"{before} -> {after} is refused", "it was not", surface.trail.lines)
