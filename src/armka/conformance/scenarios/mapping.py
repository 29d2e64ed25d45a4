"""From a result file to lines and the file's status (M1)."""

import json
from typing import Any
from uuid import uuid4

from armka.conformance.job import Job
from armka.conformance.scenario import scenario
from armka.conformance.surface import Surface
from armka.conformance.target import Power
from armka.contract import schema_files

_CHECK = {
    "rule": "R1", "severity": "error", "lines": [1], "column": "opening_debit", "expected": "1",
    "actual": "2", "message": "Не сходится",
}  # fmt: skip


def _example(job: Job) -> dict[str, Any]:
    """The contract's example of a trial balance, told of this job, without a flaw."""
    path = schema_files.root() / "examples" / "result-file-accounts.json"
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    result |= {"job_id": str(job.id), "file_id": str(job.file_id)}
    for document in result["documents"]:
        document["checks"] = []
    return result


async def _answered(surface: Surface, status: str, result: object = None) -> Job:
    """A job whose result file and envelope came; the file is the example where none is given."""
    job = await surface.published()
    content = result if result is not None else _example(job)
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    await surface.put_result(job, body)
    await surface.deliver(job.envelope(status), job.result_id, "applied")
    return job


@scenario("M1 I3", "Успешный результат")
async def a_flawless_result_makes_the_file_done(surface: Surface) -> None:
    """group_schema comes from the result file, each of its lines is there once, the file is DONE;
    a repeat of the envelope adds nothing.
    """
    job = await _answered(surface, "done")
    await surface.file_reaches(job, "DONE", within=surface.patience("MAPPING_POLL_SECONDS"))
    example = _example(job)
    surface.expect_row(
        str(job), await surface.row(job), status="done", group_schema=example["group_schema"]
    )
    lines = sum(len(document["lines"]) for document in example["documents"])
    surface.expect("lines", lines, await surface.tables.value("line_count", job.id))
    before = await surface.traces(job)
    await surface.deliver(job.envelope("done"), job.result_id, "duplicate")
    surface.expect("the traces", before, await surface.traces(job))
    surface.expect("its facts", [], await surface.facts(job))


@scenario("M1")
async def a_doubtful_result_makes_the_file_need_a_check(surface: Surface) -> None:
    """NEEDS_CHECK where the service says so, an error-level check failed, or a value is unknown."""
    jobs = [await _answered(surface, "needs_check")]
    for flaw in (_with_failed_check, _with_unknown_value):
        job = await surface.published()
        await surface.put_result(job, json.dumps(flaw(_example(job))).encode())
        await surface.deliver(job.envelope("done"), job.result_id, "applied")
        jobs.append(job)
    within = surface.patience("MAPPING_POLL_SECONDS")
    for job in jobs:
        await surface.file_reaches(job, "NEEDS_CHECK", within=within)
        surface.expect("its facts", [], await surface.facts(job))


def _with_failed_check(result: dict[str, Any]) -> dict[str, Any]:
    result["documents"][0]["checks"] = [_CHECK]
    return result


def _with_unknown_value(result: dict[str, Any]) -> dict[str, Any]:
    line = result["documents"][0]["lines"][0]
    line["values"][0] = None
    line["unknown"] = [{"column": "opening_debit", "raw": "1O0"}]
    return result


@scenario("M1 Q1")
async def a_result_that_cannot_be_used_fails_the_file(surface: Surface) -> None:
    """Missing, foreign, no JSON, not by its schema: file ERROR / INVALID_RESULT and one fact
    MAPPING_ERROR; the job keeps its status.
    """
    missing = await surface.published()
    await surface.deliver(missing.envelope("done"), missing.result_id, "applied")
    stranger = Job(uuid4(), uuid4(), surface.objects.bucket)
    jobs = [missing, *[
        await _answered(surface, "done", content)
        for content in (_example(stranger), b"{", {**_example(stranger), "documents": "none"})
    ]]  # fmt: skip
    within = surface.patience("MAPPING_POLL_SECONDS")
    for job in jobs:
        file = await surface.file_reaches(job, "ERROR", within=within)
        surface.expect_row("the file", file, error_code="INVALID_RESULT", error_message=...)
        surface.expect("its facts", [("MAPPING_ERROR", "INVALID_RESULT")], await surface.facts(job))
        surface.expect_row(str(job), await surface.row(job), status="done", group_schema=None)


@scenario("I3 M1", "Успешный результат", powers=(Power.STOP_OBJECTS,))
async def the_inbox_does_not_read_the_result(surface: Surface) -> None:
    """With S3 away a result is applied all the same and its file stays PROCESSING; when S3 is back
    the file is mapped.
    """
    job = await surface.published()
    await surface.put_result(job, json.dumps(_example(job)).encode())
    await surface.operator.stop_objects()
    surface.trail.add("S3 stopped")
    await surface.deliver(job.envelope("done"), job.result_id, "applied")
    await surface.stays(
        "the file waits for S3",
        lambda: surface.file_of(job),
        so=lambda file: file["status"] == "PROCESSING",
        seconds=2.0,
    )
    await surface.operator.start_objects()
    await surface.file_reaches(job, "DONE", within=surface.patience("MAPPING_POLL_SECONDS", 2) + 20)
