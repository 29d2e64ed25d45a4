"""What an envelope means for a job, pure: no clock, no database."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from armka.contract import message_ids, object_keys
from armka.contract.envelope import Envelope, Failed, NeedsCheck, Processing, Result
from armka.contract.outcome import OutcomeKind
from armka.core.jobs.states import JobStatus


@dataclass(slots=True)
class Job:
    """A job as its locked row says; it moves on as the envelopes of a batch are decided in turn."""

    id: UUID
    file_id: UUID
    status: JobStatus
    attempt: int
    result_msg_id: str | None


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """`published -> processing` (I1)."""

    job: UUID
    envelope: Processing


@dataclass(frozen=True, slots=True)
class Apply:
    """A result ends the job (I2); `status` is the one it gets."""

    job: UUID
    file_id: UUID
    status: JobStatus
    envelope: Result
    msg_id: str


@dataclass(frozen=True, slots=True)
class Ignore:
    """Nothing changes, and nobody needs to see it again (I1, I2)."""

    outcome: OutcomeKind
    reason: str


@dataclass(frozen=True, slots=True)
class Reject:
    """Nothing changes; kept in `rejected_message` under `reason` (I5, I7)."""

    reason: str
    detail: str
    job: UUID | None

    @property
    def outcome(self) -> OutcomeKind:
        """What the sender is told."""
        match self.reason:
            case "late":
                return OutcomeKind.LATE
            case "unknown_job":
                return OutcomeKind.UNKNOWN_JOB
            case _:
                return OutcomeKind.REJECTED


Decision = Acknowledge | Apply | Ignore | Reject


def decide(envelope: Envelope, msg_id: str | None, job: Job | None, bucket: str) -> Decision:
    """Decide about one envelope and move `job` on accordingly."""
    if job is None:
        return Reject("unknown_job", f"no job {envelope.job_id}", envelope.job)
    # As text first: in its usual spelling the id need not be parsed.
    if envelope.file_id != str(job.file_id) and envelope.file != job.file_id:
        return Reject(
            "foreign_file", f"names file {envelope.file_id}, the job is about {job.file_id}", job.id
        )
    if isinstance(envelope, Processing):
        return _acknowledge(envelope, job)
    foreign = _foreign_key(envelope, job, bucket)
    if foreign is not None:
        return Reject("foreign_key", foreign, job.id)
    return _apply(envelope, msg_id or message_ids.of_result(job.id, job.attempt), job)


def _acknowledge(envelope: Processing, job: Job) -> Decision:
    if job.status is JobStatus.PUBLISHED:
        job.status = JobStatus.PROCESSING
        return Acknowledge(job.id, envelope)
    outcome = OutcomeKind.LATE if job.status.is_final else OutcomeKind.DUPLICATE
    return Ignore(outcome, f"the job is {job.status}")


def _apply(envelope: Result, msg_id: str, job: Job) -> Decision:
    if job.result_msg_id == msg_id:
        return Ignore(OutcomeKind.DUPLICATE, f"{msg_id} was applied before")
    if job.status.is_final:
        return Reject("late", f"the job is {job.status}", job.id)
    job.status = status_of(envelope)
    job.result_msg_id = msg_id
    return Apply(job.id, job.file_id, job.status, envelope, msg_id)


def status_of(envelope: Result) -> JobStatus:
    """The status that a result gives its job."""
    if isinstance(envelope, Failed):
        return JobStatus.ERROR
    return JobStatus.NEEDS_CHECK if isinstance(envelope, NeedsCheck) else JobStatus.DONE


def _foreign_key(envelope: Result, job: Job, bucket: str) -> str | None:
    expected = object_keys.result(job.file_id, job.id)
    ref = envelope.result_s3
    if ref is not None and (ref.bucket, ref.key) != (bucket, expected):
        return f"result_s3 is {ref.bucket}/{ref.key}, not {bucket}/{expected}"
    raw = envelope.raw_s3_key
    if raw is not None and raw != object_keys.raw(job.id):
        return f"raw_s3_key is {raw}, not {object_keys.raw(job.id)}"
    return None


def header(headers: Mapping[str, str], name: str) -> str | None:
    """A header's value, whatever the case of its name."""
    value = headers.get(name)
    if value is not None:
        return value
    return next((found for key, found in headers.items() if key.lower() == name.lower()), None)
