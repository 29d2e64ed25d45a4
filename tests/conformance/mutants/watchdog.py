"""Faults of the watchdog."""

from armka.core.watchdog.watchdog import SQL
from tests.conformance.mutants.mutant import WITHOUT_GUARD, edit, mutant

_UNFINISHED = "status in ('published', 'processing')"
_LOCK = "for no key update skip locked"


@mutant(
    "a-result-that-commits-first-stays",
    database=WITHOUT_GUARD,
)  # fmt: skip
def ends_what_has_ended_meanwhile() -> None:
    """Looks first and updates by id, whatever the job has become."""
    edit(SQL, "end_overdue", _LOCK, "")
    edit(SQL, "end_overdue", f" and j.{_UNFINISHED}", "")
    edit(
        SQL, "end_overdue", "from ended\n)\nselect", "from ended on conflict do nothing\n)\nselect"
    )


@mutant("the-watchdog-ends-nothing-that-has-ended", database=WITHOUT_GUARD)
def ends_final_jobs() -> None:
    """A past deadline ends a job that has ended."""
    edit(SQL, "end_overdue", _UNFINISHED, "status <> 'queued'")


@mutant("jobs-wait-for-the-broker", database=WITHOUT_GUARD)
def ends_queued_jobs() -> None:
    """A queued job times out."""
    edit(SQL, "end_overdue", _UNFINISHED, "status in ('queued', 'published', 'processing')")


@mutant("a-deadline-is-not-anticipated")
def cannot_wait() -> None:
    """Ends jobs before their deadline."""
    early = "reply_deadline < clock_timestamp() + interval '30 seconds'"
    edit(SQL, "end_overdue", "reply_deadline < clock_timestamp()", early)


@mutant("an-overdue-job-times-out")
def forgets_jobs_in_processing() -> None:
    """Only unacknowledged jobs time out."""
    edit(SQL, "end_overdue", _UNFINISHED, "status = 'published'")


@mutant("an-overdue-job-times-out", "a-past-deadline-is-published-and-times-out")
def writes_no_fact() -> None:
    """A timeout leaves no quality_failure_fact."""
    edit(
        SQL,
        "end_overdue",
        "service_version from ended\n",
        "service_version from ended where false\n",
    )


@mutant("a-job-without-a-deadline-is-overdue-by-the-budget")
def waits_for_ever_without_a_deadline() -> None:
    """A job without a deadline is never overdue."""
    edit(SQL, "end_overdue", "reply_deadline is null", "reply_deadline is null and false")


@mutant("a-timeout-of-an-old-attempt-leaves-the-file-alone")
def times_out_anybodys_file() -> None:
    """An old attempt's timeout fails the file."""
    edit(SQL, "end_overdue", " and e.id = f.current_recognition_job_id", "")
