"""From a queued row to a request on the wire (C1, O1, O2, O4, O5)."""

import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

from armka.conformance.findings import Contradicted
from armka.conformance.job import Job
from armka.conformance.rows import shown
from armka.conformance.scenario import scenario
from armka.conformance.scenarios.demands import ELSEWHERE, SELDOM
from armka.conformance.surface import Surface
from armka.conformance.target import Power
from armka.conformance.wire import Heard
from armka.contract import codec
from armka.contract.codec import InvalidMessage

# O1: an inserted queued job is on the wire and published within 10 s, whatever happens.
_AT_MOST_SECONDS = 10.0


@scenario("C1 O1", "Публикация запроса парсеру", "Публикация запроса ядром")
async def a_queued_job_is_published(surface: Surface) -> None:
    """A bare insert is on the wire within 10 s: the request passes its schema and says what the
    rows say, and the row becomes published with its columns, the file PROCESSING.
    """
    file_id = await surface.file()
    async with surface.tables.transaction() as transaction:
        job_id = await transaction.value("insert_bare_job", file_id, "tabular")
        await transaction.run("make_current", file_id, job_id)
    surface.trail.add(f"insert of job {job_id}, two columns given")
    job = Job(job_id, file_id, surface.objects.bucket)
    heard = await surface.request(job, within=_AT_MOST_SECONDS)
    row = await surface.reaches(job, "published", within=_AT_MOST_SECONDS)
    _expect_request(surface, job, heard)
    surface.expect("the headers", {"Nats-Msg-Id": job.request_id}, heard.headers)
    deadline = datetime.fromisoformat(heard.fields["reply_deadline"])
    surface.expect("the zone of reply_deadline", timedelta(0), deadline.utcoffset())
    surface.expect_row(
        str(job),
        row,
        reply_deadline=deadline,
        request_msg_id=job.request_id,
        request_subject=surface.wire.subjects.tabular_request,
        published_at=...,
        last_published_at=row["published_at"],
        publish_count=1,
        started_at=None,
        finished_at=None,
    )
    surface.expect_row("its file", await surface.file_of(job), status="PROCESSING", error_code=None)


def _expect_request(surface: Surface, job: Job, heard: Heard) -> None:
    try:
        request = codec.decode_request(heard.body)
    except InvalidMessage as error:
        expected = "the request passes its schema"
        raise Contradicted(expected, f"{error}: {heard.body!r}", surface.trail.lines) from None
    key = f"uploads/{job.file_id}/source.xlsx"
    surface.expect("schema_version", "1.0", request.schema_version)
    surface.expect("job_id", str(job.id), request.job_id)
    surface.expect("file_id", str(job.file_id), request.file_id)
    surface.expect("pipeline and type", ("tabular", "XLSX"), (request.pipeline, request.file_type))
    surface.expect("original_name", "ОСВ за 2023 год.xlsx", request.original_name)
    surface.expect("s3", (job.bucket, key), (request.s3.bucket, request.s3.key))
    surface.expect("attempt", job.attempt, request.attempt)


@scenario("C1", "Публикация запроса ядром")
async def the_subject_corresponds_to_the_pipeline(surface: Surface) -> None:
    """Sheets go to the tabular subject, scans to the image subject, and to no other."""
    subjects = surface.wire.subjects
    expected = {
        "XLS": ("tabular", subjects.tabular_request),
        "XLSX": ("tabular", subjects.tabular_request),
        "XLSB": ("tabular", subjects.tabular_request),
        "PDF": ("image", subjects.image_request),
        "PNG": ("image", subjects.image_request),
        "JPG": ("image", subjects.image_request),
    }
    for file_type, (pipeline, subject) in expected.items():
        job = await surface.job(await surface.file(file_type=file_type), pipeline=pipeline)
        row = await surface.reaches(job, "published")
        await surface.request(job)
        surface.expect_row(str(job), row, request_subject=subject)
        surface.expect("subjects", [subject], [heard.subject for heard in surface.heard(job)])
        surface.expect("pipeline", pipeline, surface.heard(job)[0].fields["pipeline"])


@scenario("C1 A1")
async def a_request_carries_its_attempt(surface: Surface) -> None:
    """The attempt of the row stands in the body and in the Nats-Msg-Id."""
    job = await surface.job(attempt=3)
    heard = await surface.request(job)
    surface.expect("attempt", 3, heard.fields["attempt"])
    surface.expect("Nats-Msg-Id", f"{job.id}:3", heard.msg_id)
    row = await surface.reaches(job, "published")
    surface.expect_row(str(job), row, request_msg_id=f"{job.id}:3", attempt=3)


@scenario("O1")
async def a_published_job_is_published_once(surface: Surface) -> None:
    """Within the ack timeout the outbox's next looks do not publish it again."""
    job = await surface.job()
    await surface.reaches(job, "published")

    async def look() -> int:
        return len(surface.heard(job))

    looks = min(2.5 * surface.target.seconds("OUTBOX_POLL_SECONDS"), 12.0)
    await surface.request(job)
    await surface.stays(f"one request for {job}", look, so=lambda count: count == 1, seconds=looks)
    surface.expect_row(str(job), await surface.row(job), status="published", publish_count=1)


@scenario("O1")
async def a_row_that_becomes_visible_late_is_published(surface: Surface) -> None:
    """A job whose transaction commits after younger ones were published is not skipped."""
    file_id = await surface.file()
    async with surface.tables.transaction() as transaction:
        late = await transaction.value("insert_bare_job", file_id, "tabular")
        for _ in range(3):
            await surface.reaches(await surface.job(), "published")
    await surface.reaches(Job(late, file_id, surface.objects.bucket), "published")


@scenario("O1 O5", powers=(Power.SUPERUSER,))
async def a_locked_row_holds_up_nobody(surface: Surface) -> None:
    """A queued job that somebody else holds is passed over, and published when it is free."""
    async with _queued_and_held(surface) as job:
        for _ in range(3):
            await surface.reaches(await surface.job(), "published")
        surface.expect("requests for the held job", [], surface.heard(job))
    await surface.reaches(job, "published")


@contextlib.asynccontextmanager
async def _queued_and_held(surface: Surface) -> AsyncIterator[Job]:
    """A job that no NOTIFY tells of, locked before the next look of the outbox."""
    file_id = await surface.file()
    job = await _unannounced(surface, file_id)
    async with surface.tables.holding("lock_job", job.id):
        row = await surface.row(job)
        if row["status"] == "queued":
            surface.trail.add(f"lock of job {job.id}")
            yield job
            return
    async with _queued_and_held(surface) as another:
        yield another


async def _unannounced(surface: Surface, file_id: UUID) -> Job:
    async with surface.tables.transaction() as transaction:
        await transaction.run("without_triggers")
        job_id = await transaction.value("insert_bare_job", file_id, "tabular")
    surface.trail.add(f"insert of job {job_id}, its NOTIFY suppressed")
    return Job(job_id, file_id, surface.objects.bucket)


@scenario("O1", demands=SELDOM)
async def an_insert_wakes_the_outbox(surface: Surface) -> None:
    """With a poll of a minute a job is on the wire all the same: the NOTIFY works."""
    for _ in range(3):
        job = await surface.job()
        await surface.request(job, within=_AT_MOST_SECONDS)
        await surface.reaches(job, "published", within=_AT_MOST_SECONDS)


@scenario("O1", powers=(Power.SUPERUSER,))
async def a_lost_notification_costs_a_poll(surface: Surface) -> None:
    """A job that was inserted without any NOTIFY is on the wire within 10 s; three times, since
    something else may have woken the outbox once.
    """
    for _ in range(3):
        job = await _unannounced(surface, await surface.file())
        await surface.request(job, within=_AT_MOST_SECONDS)
        await surface.reaches(job, "published", within=_AT_MOST_SECONDS)


@scenario("O4")
async def a_given_deadline_stays(surface: Surface) -> None:
    """A reply_deadline that the job brings stays, in row and request, to the microsecond."""
    given = datetime(2041, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    job = await surface.job(reply_deadline=given)
    row = await surface.reaches(job, "published")
    surface.expect_row(str(job), row, reply_deadline=given)
    sent = (await surface.request(job)).fields["reply_deadline"]
    surface.expect("reply_deadline on the wire", given, datetime.fromisoformat(sent))


@scenario("O4")
async def a_missing_deadline_is_the_pipelines_budget(surface: Surface) -> None:
    """Computed at the first publish: tabular and image have budgets of their own."""
    for file_type, pipeline in (("XLSX", "tabular"), ("PDF", "image")):
        job = await surface.job(await surface.file(file_type=file_type), pipeline=pipeline)
        row = await surface.reaches(job, "published")
        budget = surface.target.seconds(f"REPLY_TIMEOUT_SECONDS_{pipeline.upper()}")
        given = (row["reply_deadline"] - row["published_at"]).total_seconds()
        good = budget - 10 <= given <= budget + 1
        if not good:
            raise Contradicted(f"a deadline {budget} s ahead", shown(row), surface.trail.lines)


@scenario("O4 O3 W1")
async def a_past_deadline_is_published_and_times_out(surface: Surface) -> None:
    """A job with a past deadline is published, once, as it is; then the watchdog ends it."""
    past = await surface.now() - timedelta(minutes=5)
    job = await surface.job(reply_deadline=past)
    heard = await surface.request(job)
    surface.expect(
        "reply_deadline on the wire", past, datetime.fromisoformat(heard.fields["reply_deadline"])
    )
    row = await surface.failed(job, "timeout", "TIMEOUT", "TIMEOUT")
    surface.expect_row(str(job), row, publish_count=1, reply_deadline=past)
    surface.expect("requests", 1, len(surface.heard(job)))


_UNPUBLISHABLE = (
    ("image", "XLSX", "uploads"),
    ("tabular", "PDF", "uploads"),
    ("tabular", "XLSX", "results"),
    ("tabular", "DOCX", "uploads"),
    ("telepathy", "XLSX", "uploads"),
)


@scenario("O2 Q1")
async def a_job_without_a_valid_request_ends_alone(surface: Surface) -> None:
    """Pipeline and type disagree, the source is no upload, the words are unknown: the job ends
    error / SCHEMA_MISMATCH with its file and a fact, nothing is sent, its neighbours are published.
    """
    neighbours = [await surface.job()]
    broken = []
    for pipeline, file_type, role in _UNPUBLISHABLE:
        file_id = await surface.file(file_type=file_type, role=role)
        broken.append(await surface.job(file_id, pipeline=pipeline))
        neighbours.append(await surface.job())
    for job in broken:
        row = await surface.failed(job, "error", "REQUEST_INVALID", "SCHEMA_MISMATCH")
        surface.expect_row(str(job), row, error_message=..., published_at=None)
        surface.expect("requests for it", [], surface.heard(job))
    for job in neighbours:
        await surface.reaches(job, "published")


@scenario("O2 Q1")
async def a_request_too_large_to_send_ends_alone(surface: Surface) -> None:
    """What the server never takes ends as SCHEMA_MISMATCH; the connection and the neighbours do
    not suffer.
    """
    name = "я" * (surface.wire.max_payload // 2 + 1000)
    monster = await surface.job(await surface.file(name=name))
    neighbour = await surface.job()
    await surface.failed(monster, "error", "REQUEST_INVALID", "SCHEMA_MISMATCH")
    await surface.reaches(neighbour, "published")


@scenario("N1 C1", demands=ELSEWHERE)
async def subjects_can_be_elsewhere(surface: Surface) -> None:
    """Overridden subjects carry the requests, and the results are heard on theirs."""
    tabular = await surface.job()
    image = await surface.job(await surface.file(file_type="PDF"), pipeline="image")
    for job, subject in ((tabular, "bank.sheets"), (image, "bank.scans")):
        surface.expect("subject", subject, (await surface.request(job)).subject)
        row = await surface.reaches(job, "published")
        surface.expect_row(str(job), row, request_subject=subject)
        await surface.deliver(job.envelope("error"), job.result_id, "applied")
        await surface.reaches(job, "error")


@scenario("A1 O1")
async def publishing_an_old_attempt_leaves_the_file_alone(surface: Surface) -> None:
    """Of the attempts only the current one moves the file, also when it is published."""
    file_id = await surface.file(status="NEEDS_CHECK")
    await surface.job(file_id, status="done", attempt=2)
    old = await surface.job(file_id, current=False)
    await surface.reaches(old, "published")
    surface.expect_row("the file", await surface.file_of(old), status="NEEDS_CHECK")
