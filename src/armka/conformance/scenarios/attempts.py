"""New attempts (A1, «Новая попытка обработки файла»)."""

import asyncio
from datetime import timedelta
from typing import Any

from armka.conformance.job import Job
from armka.conformance.scenario import scenario
from armka.conformance.surface import Surface
from armka.conformance.target import Power

_CREATED = 201
_CONFLICT = 409


async def _ended(surface: Surface, **columns: Any) -> Job:
    past = await surface.now() - timedelta(seconds=1)
    job = await surface.published(reply_deadline=past, **columns)
    await surface.failed(job, "timeout", "TIMEOUT", "TIMEOUT")
    return job


@scenario("A1", "Новая попытка обработки файла", powers=(Power.RETRY,))
async def a_new_attempt_is_a_new_job(surface: Surface) -> None:
    """After a timeout: a job of its own with the next attempt, current, the file in PROCESSING
    without its error; its request is sent, and the old job's late result changes nothing.
    """
    old = await _ended(surface, attempt=4)
    before = await surface.row(old)
    surface.expect("the HTTP status", _CREATED, await surface.operator.retry(old.file_id))
    file = await surface.file_of(old)
    surface.expect_row("the file", file, status="PROCESSING", error_code=None, error_message=None)
    attempts = await surface.tables.all("attempts", old.file_id)
    surface.expect("attempts", [4, 5], [row["attempt"] for row in attempts])
    new = Job(attempts[1]["id"], old.file_id, old.bucket, 5)
    surface.expect_row("the file", file, current_recognition_job_id=new.id)
    surface.expect("Nats-Msg-Id", new.request_id, (await surface.request(new)).msg_id)
    await surface.deliver(old.envelope("done"), old.result_id, "late")
    surface.expect("the old job", before, await surface.row(old))
    await surface.deliver(new.envelope("error"), new.result_id, "applied")
    surface.expect_row("the file", await surface.file_of(new), status="ERROR")


@scenario("A1", "Новая попытка обработки файла", powers=(Power.RETRY,))
async def an_attempt_under_way_is_not_doubled(surface: Surface) -> None:
    """409 while the current attempt is published or processing."""
    for status in ("published", "processing"):
        job = await surface.published(status=status)
        await _expect_refused(surface, job)


async def _expect_refused(surface: Surface, job: Job) -> None:
    surface.expect("the HTTP status", _CONFLICT, await surface.operator.retry(job.file_id))
    attempts = await surface.tables.all("attempts", job.file_id)
    surface.expect("attempts", [job.id], [row["id"] for row in attempts])


@scenario("A1", "Новая попытка обработки файла", powers=(Power.RETRY,))
async def two_clicks_make_one_attempt(surface: Surface) -> None:
    """Asked for at once, several times over: one new job, and a conflict for the others."""
    old = await _ended(surface)
    clicks = [surface.operator.retry(old.file_id) for _ in range(5)]
    answers = sorted(await asyncio.gather(*clicks))
    surface.expect("HTTP statuses", [_CREATED, *[_CONFLICT] * 4], answers)
    attempts = await surface.tables.all("attempts", old.file_id)
    surface.expect("attempts", [1, 2], [row["attempt"] for row in attempts])
