"""`processing` envelopes, and what happens without them (I1, I4, O3)."""

import asyncio
from datetime import timedelta

from armka.conformance.findings import Contradicted
from armka.conformance.job import Job
from armka.conformance.rows import Row, shown
from armka.conformance.scenario import scenario
from armka.conformance.scenarios.demands import IMPATIENT
from armka.conformance.scenarios.moments import publication_held_open, waits_or_ends
from armka.conformance.surface import FINAL, Surface
from armka.conformance.transports import Trait

_OTHER = {"name": "usurper", "version": "0"}


@scenario("I1", "Сервис жив")
async def an_acknowledged_job_is_processing(surface: Surface) -> None:
    """Published -> processing with started_at, service_name and service_version."""
    job = await surface.job()
    await surface.reaches(job, "published")
    await surface.send((job.envelope("processing"), job.ack_id))
    row = await surface.reaches(job, "processing")
    surface.expect_row(
        str(job), row, started_at=..., service_name="conform-parser", service_version="9.9"
    )
    surface.expect_row("its file", await surface.file_of(job), status="PROCESSING")


@scenario("I1")
async def an_ack_waits_for_the_publishers_commit(surface: Surface) -> None:
    """An ack that arrives while the publisher's transaction is open is not lost."""
    async with publication_held_open(surface) as (job, publisher):
        asked = asyncio.create_task(surface.deliver(job.envelope("processing"), job.ack_id))
        await waits_or_ends(surface, publisher, asked)
    await asked
    row = await surface.reaches(job, "processing")
    surface.expect_row(str(job), row, started_at=..., published_at=...)
    expected = [("queued", "published"), ("published", "processing")]
    surface.expect("its moves", expected, await surface.moves(job))


@scenario("I1")
async def the_first_acks_values_stay(surface: Surface) -> None:
    """An ack for a job in any other status than published changes nothing."""
    job = await surface.published()
    await surface.deliver(job.envelope("processing"), job.ack_id, "applied")
    await _changes_nothing(surface, job)
    for status in FINAL:
        await _changes_nothing(surface, await surface.job(status=status, attempt=2))


async def _changes_nothing(surface: Surface, job: Job) -> None:
    before = await surface.row(job)
    for msg_id in (job.ack_id, None):
        await surface.deliver(job.envelope("processing", service=_OTHER), msg_id)
    after = await surface.row(job)
    changed = {key for key in before if before[key] != after[key]} - {"group_schema", "mapped_at"}
    surface.expect(f"what an ack changes of a job that is {before['status']}", set(), changed)


@scenario("I4")
async def an_ack_brings_nothing_else(surface: Surface) -> None:
    """raw_s3_key on `processing` is ignored: no object, no pointer."""
    job = await surface.published()
    envelope = job.envelope("processing", raw_s3_key=job.raw_key, metrics={"n": 1})
    await surface.deliver(envelope, job.ack_id, "applied")
    row = await surface.row(job)
    surface.expect_row(str(job), row, status="processing", raw_s3_object_id=None)
    surface.expect("its objects", [], await surface.tables.all("objects_of", str(job.id)))


@scenario(
    "O3 Q1", "Сервис недоступен", "Нечитаемый запрос", demands=IMPATIENT, traits=(Trait.GIVES_UP,)
)
async def a_job_that_nobody_takes_is_given_up(surface: Surface) -> None:
    """Published again with the same id and body, OUTBOX_MAX_REPUBLISH times, an ack timeout apart;
    then dlq / NO_ACK with the file and one fact. request_msg_id and published_at never change.
    """
    target = surface.target
    repeats = int(target.seconds("OUTBOX_MAX_REPUBLISH"))
    timeout = target.seconds("ACK_TIMEOUT_SECONDS")
    patience = (repeats + 1) * (timeout + 1) + target.patience_seconds
    job = await surface.job()
    first = await surface.reaches(job, "published")
    row = await surface.reaches(job, "dlq", within=patience)
    row = await surface.failed(job, "dlq", "NO_ACK", "NO_ACK")
    unchanged = ("published_at", "request_msg_id", "request_subject", "attempt", "reply_deadline")
    surface.expect_row(str(job), row, **{key: first[key] for key in unchanged})
    surface.expect_row(str(job), row, publish_count=repeats + 1, error_message=...)
    _expect_same_requests(surface, job, repeats + 1)
    _expect_apart(surface, row, repeats, timeout)


def _expect_same_requests(surface: Surface, job: Job, count: int) -> None:
    heard = surface.heard(job)
    surface.expect("requests on the wire", count, len(heard))
    surface.expect("different requests", 1, len({(one.msg_id, one.body) for one in heard}))
    surface.expect("Nats-Msg-Id", job.request_id, heard[0].msg_id)


def _expect_apart(surface: Surface, row: Row, repeats: int, timeout: float) -> None:
    """By the database's clock: each repeat and the end come an ack timeout after the last."""
    last = (row["last_published_at"] - row["published_at"]).total_seconds()
    whole = (row["finished_at"] - row["published_at"]).total_seconds()
    if last < repeats * timeout or whole < (repeats + 1) * timeout:
        expected = f"an ack timeout of {timeout} s before each repeat and before the end"
        raise Contradicted(expected, shown(row), surface.trail.lines)


@scenario("O3", demands=IMPATIENT, traits=(Trait.GIVES_UP,))
async def an_ack_ends_the_repeats(surface: Surface) -> None:
    """An ack after the first repeat: processing, and nothing is published any more."""
    job = await surface.job()
    timeout = surface.target.seconds("ACK_TIMEOUT_SECONDS")
    await surface.request(job, 2, within=timeout + surface.target.patience_seconds)
    await surface.deliver(job.envelope("processing"), job.ack_id)
    await surface.reaches(job, "processing")
    before = len(surface.heard(job))

    async def look() -> tuple[int, str]:
        return len(surface.heard(job)), (await surface.row(job))["status"]

    await surface.stays(
        "an acknowledged job is left alone",
        look,
        so=lambda seen: seen == (before, "processing"),
        seconds=min(3 * timeout, 45.0),
    )


@scenario("O3 W1", demands=IMPATIENT)
async def nothing_is_repeated_past_the_deadline(surface: Surface) -> None:
    """Unanswered and past its deadline a job is the watchdog's: neither published again nor given
    up as NO_ACK.
    """
    now = await surface.now()
    old, past = now - timedelta(hours=1), now - timedelta(minutes=1)
    limit = int(surface.target.seconds("OUTBOX_MAX_REPUBLISH"))
    jobs = [
        await surface.published(
            published_at=old, last_published_at=old, publish_count=count, reply_deadline=past
        )
        for count in (1, limit + 1)
        for _ in range(3)
    ]
    for job in jobs:
        row = await surface.reaches(
            job, "timeout", within=surface.patience("WATCHDOG_PERIOD_SECONDS")
        )
        surface.expect("requests", [], surface.heard(job))
        surface.expect_row(str(job), row, last_published_at=old)


@scenario("O3 A1", demands=IMPATIENT, traits=(Trait.GIVES_UP,))
async def giving_up_an_old_attempt_leaves_the_file_alone(surface: Surface) -> None:
    """Dlq of an attempt that is not current writes its fact and does not move the file."""
    file_id = await surface.file(status="DONE")
    await surface.job(file_id, status="done", attempt=2)
    old = await surface.job(file_id, current=False)
    repeats = surface.target.seconds("OUTBOX_MAX_REPUBLISH") + 1
    await surface.reaches(old, "dlq", within=surface.patience("ACK_TIMEOUT_SECONDS", repeats))
    surface.expect("its facts", [("NO_ACK", "NO_ACK")], await surface.facts(old))
    surface.expect_row("the file", await surface.file_of(old), status="DONE", error_code=None)
