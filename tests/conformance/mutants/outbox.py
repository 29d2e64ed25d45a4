"""Faults of the outbox."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from armka.contract import message_ids
from armka.contract.subjects import Subjects
from armka.core.outbox import publisher
from armka.core.outbox.publisher import SQL, Outbox, OutboxConfig
from armka.messaging import plain
from armka.messaging.messages import Published
from armka.messaging.plain import PlainPublisher
from tests.conformance.mutants.mutant import edit, mutant


@mutant(
    "a-queued-job-is-published",
    "a-request-carries-its-attempt",
    "a-publisher-killed-before-its-commit",
)
def publishes_nothing() -> None:
    """Marks jobs as published and sends nothing."""

    async def publish(self: PlainPublisher, burst: list[Any]) -> Published:
        return Published()

    PlainPublisher.publish = publish


@mutant("a-frozen-broker-confirms-nothing")
def marks_before_the_confirmation() -> None:
    """Takes a write into the socket for a publication."""

    async def confirm(client: object, seconds: float = 0) -> None:
        return None

    plain.confirm = confirm


@mutant("a-publisher-killed-before-its-commit", "a-result-overtakes-the-publishers-commit")
def commits_before_it_publishes() -> None:
    """Marks the jobs as published in a transaction of its own, and only then sends."""
    original = Outbox._publish

    async def publish_queued(self: Outbox) -> bool:
        config = self._config
        async with self._database.transaction() as connection:
            rows = await connection.fetch(
                SQL.claim_queued, config.batch_size, config.reply_seconds_tabular,
                config.reply_seconds_image, [],
            )  # fmt: skip
            requests, _ = publisher._build_all(rows, self._subjects)
            await publisher._mark_published(connection, requests)
        async with self._database.transaction() as connection:
            await original(self, connection, requests)
        return False

    Outbox._publish_queued = publish_queued


@mutant("a-queued-job-is-published", "a-job-that-nobody-takes-is-given-up")
def publishes_with_a_new_id() -> None:
    """A fresh Nats-Msg-Id for every publication."""
    message_ids.of_request = lambda job_id, attempt: f"{job_id}:{attempt}:{uuid4()}"


@mutant("a-request-carries-its-attempt")
def forgets_the_attempt() -> None:
    """Every request is a first attempt."""
    edit(SQL, "claim_queued", "c.pipeline, c.attempt", "c.pipeline, 1 as attempt")


@mutant(
    "a-published-job-is-published-once", "a-service-that-says-everything-twice",
    "replicas-publish-each-job-once",
)  # fmt: skip
def publishes_twice() -> None:
    """Every burst goes out two times over."""
    original = plain._write_all

    async def write_all(client: Any, burst: list[Any], end: float) -> dict[int, str]:
        await original(client, burst, end)
        return await original(client, burst, end)

    plain._write_all = write_all


@mutant("a-job-that-nobody-takes-is-given-up")
def counts_a_repeat_as_an_attempt() -> None:
    """A republish bumps the attempt."""
    edit(SQL, "mark_republished", "publish_count =", "attempt = j.attempt + 1, publish_count =")


@mutant("a-job-that-nobody-takes-is-given-up")
def resets_published_at() -> None:
    """A republish moves published_at."""
    edit(
        SQL, "mark_republished", "last_published_at =", "published_at = at.now, last_published_at ="
    )


@mutant("a-job-that-nobody-takes-is-given-up", "giving-up-an-old-attempt-leaves-the-file-alone")
def never_gives_up() -> None:
    """Publishes again for ever."""
    original = OutboxConfig.of
    OutboxConfig.of = lambda settings: replace(original(settings), max_republish=10**6)


@mutant("a-job-that-nobody-takes-is-given-up")
def gives_up_without_a_fact() -> None:
    """Giving up leaves no quality_failure_fact."""
    edit(
        SQL, "give_up", "service_version from ended\n)", "service_version from ended where false\n)"
    )


@mutant("giving-up-an-old-attempt-leaves-the-file-alone")
def gives_up_anybodys_file() -> None:
    """Dlq of an old attempt fails the file."""
    edit(SQL, "give_up", " and e.id = f.current_recognition_job_id", "")


@mutant("nothing-is-repeated-past-the-deadline")
def repeats_past_the_deadline() -> None:
    """An unanswered request goes out again, or is given up, whatever its deadline."""
    edit(SQL, "claim_unanswered", ") > clock_timestamp()", ") > '-infinity'")


@mutant("an-ack-ends-the-repeats")
def repeats_what_was_acknowledged() -> None:
    """`processing` jobs are published again."""
    edit(SQL, "claim_unanswered", "status = 'published'", "status in ('published', 'processing')")


@mutant("who-does-not-listen-does-not-judge")
def judges_without_listening() -> None:
    """Gives a job up before its own inbox could hear the answer."""
    Outbox._patience_seconds = lambda self: self._config.ack_timeout_seconds


@mutant("a-locked-row-holds-up-nobody")
def claims_without_a_lock() -> None:
    """Reads queued jobs without locking them."""
    edit(SQL, "claim_queued", "for update skip locked", "")


@mutant("a-locked-row-holds-up-nobody")
def waits_for_locked_rows() -> None:
    """One locked job stops the loop."""
    edit(SQL, "claim_queued", "for update skip locked", "for update")


@mutant("a-row-that-becomes-visible-late-is-published")
def remembers_a_high_water_mark() -> None:
    """Looks only at jobs that are younger than what was published."""
    young = "created_at >= (select coalesce(max(created_at), '-infinity') from recognition_job"
    condition = f"status = 'queued' and {young} where status = 'published')"
    edit(SQL, "claim_queued", "status = 'queued'", condition)


@mutant("a-lost-notification-costs-a-poll")
def never_polls() -> None:
    """Waits for NOTIFY alone."""
    original = Outbox.run_once

    async def run_once(self: Outbox) -> float:
        pause = await original(self)
        return pause if pause == 0 else 3600.0

    Outbox.run_once = run_once


@mutant("a-given-deadline-stays", "a-past-deadline-is-published-and-times-out")
def computes_every_deadline() -> None:
    """The deadline that the job brings is overwritten."""
    edit(
        SQL, "claim_queued", "coalesce(c.reply_deadline, clock", "coalesce(null::timestamptz, clock"
    )


@mutant("a-missing-deadline-is-the-pipelines-budget")
def has_one_budget_for_all() -> None:
    """Scans get the time of sheets."""
    edit(SQL, "claim_queued", "then $3::float8", "then $2::float8 + 0 * $3::float8")


@mutant("jobs-wait-for-the-broker")
def counts_time_from_the_insert() -> None:
    """A broker outage eats the service's time."""
    edit(
        SQL, "claim_queued", "c.reply_deadline, clock_timestamp()", "c.reply_deadline, c.created_at"
    )


@mutant("a-past-deadline-is-published-and-times-out")
def skips_past_deadlines() -> None:
    """A queued job with a past deadline is never published."""
    condition = "status = 'queued' and coalesce(reply_deadline > now(), true)"
    edit(SQL, "claim_queued", "status = 'queued'", condition)


@mutant("a-job-without-a-valid-request-ends-alone")
def stumbles_over_a_broken_row() -> None:
    """What cannot be built stops the whole cycle."""
    publisher.RequestInvalid = ZeroDivisionError
    publisher.InvalidMessage = ZeroDivisionError


@mutant("a-request-too-large-to-send-ends-alone")
def does_not_measure() -> None:
    """Writes whatever it has to the server, which hangs up."""
    plain.wire_size = lambda message: 0


@mutant("the-subject-corresponds-to-the-pipeline", "subjects-can-be-elsewhere")
def has_one_subject_for_all() -> None:
    """Scans are asked for where sheets are."""
    Subjects.request = lambda self, pipeline: self.tabular_request


@mutant("publishing-an-old-attempt-leaves-the-file-alone")
def begins_anybodys_file() -> None:
    """Publishing an old attempt makes the file PROCESSING."""
    edit(SQL, "mark_published", " and f.current_recognition_job_id = m.id", "")
