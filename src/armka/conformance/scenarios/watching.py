"""Deadlines (W1, O4)."""

from datetime import timedelta
from typing import Any

from armka.conformance.findings import Contradicted
from armka.conformance.job import Job
from armka.conformance.rows import shown
from armka.conformance.scenario import scenario
from armka.conformance.surface import FINAL, Surface

_TITLES = ("Сервис взял, но не ответил", "Сервис не ответил", "Факт таймаута")


@scenario("W1 Q1", *_TITLES)
async def an_overdue_job_times_out(surface: Surface) -> None:
    """Published and processing jobs past their deadline: timeout / TIMEOUT, finished_at, the file
    ERROR, one fact each.
    """
    past = await surface.now() - timedelta(seconds=1)
    for status in ("published", "processing"):
        job = await surface.published(status=status, reply_deadline=past)
        await surface.failed(job, "timeout", "TIMEOUT", "TIMEOUT")
        surface.expect("its moves", [(status, "timeout")], await surface.moves(job))


@scenario("W1")
async def a_deadline_is_not_anticipated(surface: Surface) -> None:
    """A job times out after its deadline, by the database's clock; one whose deadline lies ahead
    stays.
    """
    soon = await surface.now() + timedelta(seconds=1)
    ahead = await surface.published()
    job = await surface.published(reply_deadline=soon)
    row = await surface.reaches(job, "timeout", within=surface.patience("WATCHDOG_PERIOD_SECONDS"))
    if row["finished_at"] < soon:
        raise Contradicted(f"finished_at after {soon}", shown(row), surface.trail.lines)
    surface.expect_row(str(ahead), await surface.row(ahead), status="published")


@scenario("W1 §1")
async def the_watchdog_ends_nothing_that_has_ended(surface: Surface) -> None:
    """Final jobs with a past deadline stay, with their files, and no fact is written."""
    past = await surface.now() - timedelta(hours=1)
    finals = [await surface.job(status=status, reply_deadline=past) for status in FINAL]
    before = [await surface.traces(job) for job in finals]
    await _the_watchdog_has_looked(surface)
    surface.expect("the traces", before, [await surface.traces(job) for job in finals])


async def _the_watchdog_has_looked(surface: Surface) -> None:
    """Two overdue jobs, one after the other, were ended: what is older was seen before."""
    for _ in range(2):
        past = await surface.now() - timedelta(seconds=1)
        job = await surface.published(reply_deadline=past)
        await surface.reaches(job, "timeout", within=surface.patience("WATCHDOG_PERIOD_SECONDS"))


@scenario("O4 W1")
async def a_job_without_a_deadline_is_overdue_by_the_budget(surface: Surface) -> None:
    """coalesce(published_at, created_at) plus the pipeline's budget decides."""
    tabular = surface.target.seconds("REPLY_TIMEOUT_SECONDS_TABULAR")
    image = surface.target.seconds("REPLY_TIMEOUT_SECONDS_IMAGE")
    now = await surface.now()
    past_tabular = now - timedelta(seconds=tabular + 60)
    past_both = now - timedelta(seconds=max(tabular, image) + 60)
    overdue = [
        await _undated(surface, "tabular", published_at=past_tabular),
        await _undated(surface, "image", published_at=past_both),
        await _undated(surface, "tabular", published_at=None, created_at=past_tabular),
    ]
    in_time = [await _undated(surface, "tabular", created_at=past_tabular)]
    if image > tabular + 120:
        in_time.append(await _undated(surface, "image", published_at=past_tabular))
    for job in overdue:
        await surface.failed(job, "timeout", "TIMEOUT", "TIMEOUT")
    for job in in_time:
        surface.expect_row(str(job), await surface.row(job), status="processing")


async def _undated(surface: Surface, pipeline: str, **columns: Any) -> Job:
    file_type = "PDF" if pipeline == "image" else "XLSX"
    file_id = await surface.file(file_type=file_type, status="PROCESSING")
    usual: dict[str, Any] = {"status": "processing", "pipeline": pipeline, "reply_deadline": None}
    return await surface.published(file_id, **(usual | columns))


@scenario("W1 A1")
async def a_timeout_of_an_old_attempt_leaves_the_file_alone(surface: Surface) -> None:
    """An attempt that is not current times out with its fact and does not move the file."""
    file_id = await surface.file(status="DONE")
    await surface.job(file_id, status="done", attempt=2)
    past = await surface.now() - timedelta(seconds=1)
    old = await surface.job(file_id, current=False, status="processing", reply_deadline=past)
    await surface.reaches(old, "timeout", within=surface.patience("WATCHDOG_PERIOD_SECONDS"))
    surface.expect("its facts", [("TIMEOUT", "TIMEOUT")], await surface.facts(old))
    surface.expect_row("the file", await surface.file_of(old), status="DONE", error_code=None)


@scenario("W1 §1")
async def a_result_that_commits_first_stays(surface: Surface) -> None:
    """While a result is being written to overdue jobs the watchdog looks at them: after the
    commit they stay as they are, without a fact of a timeout.
    """
    async with surface.tables.transaction() as writing:
        past = await surface.now() - timedelta(seconds=1)
        # Locked before the deadline, so that only the watchdog's own look can find them overdue.
        ahead = past + timedelta(seconds=2)
        jobs = [await surface.published(reply_deadline=ahead) for _ in range(3)]
        await writing.run("finish_jobs", [job.id for job in jobs], "error")
        surface.trail.add("update of these jobs to error, not committed yet")
        await surface.comes("the deadline passes", surface.now, until=lambda now: now > ahead)
        await _the_watchdog_has_looked(surface)
    for job in jobs:
        surface.expect_row(str(job), await surface.row(job), status="error", error_code=None)
    await _the_watchdog_has_looked(surface)
    for job in jobs:
        surface.expect_row(str(job), await surface.row(job), status="error", error_code=None)
        surface.expect("its moves", [("published", "error")], await surface.moves(job))
        surface.expect("its facts", [], await surface.facts(job))
