"""The graph of a job's life (§1), pure. The database guards the same edges; a test compares."""

from enum import StrEnum


class JobStatus(StrEnum):
    """Where a job is, and who moves it on."""

    QUEUED = "queued"  # the outbox publishes it
    PUBLISHED = "published"  # a service acknowledges it, or the outbox gives up on it
    PROCESSING = "processing"  # a service answers, or the watchdog ends it
    DONE = "done"
    NEEDS_CHECK = "needs_check"
    ERROR = "error"
    TIMEOUT = "timeout"
    DLQ = "dlq"

    @property
    def is_final(self) -> bool:
        """Whether the status never changes again."""
        return self in FINAL


class FileStatus(StrEnum):
    """Where a file is; only its current job moves it."""

    UPLOADED = "UPLOADED"
    PROCESSING = "PROCESSING"
    DONE = "DONE"
    NEEDS_CHECK = "NEEDS_CHECK"
    ERROR = "ERROR"


FINAL = frozenset(
    {JobStatus.DONE, JobStatus.NEEDS_CHECK, JobStatus.ERROR, JobStatus.TIMEOUT, JobStatus.DLQ}
)

_ANSWERED = frozenset({JobStatus.DONE, JobStatus.NEEDS_CHECK, JobStatus.ERROR})

MOVES: dict[JobStatus, frozenset[JobStatus]] = {
    JobStatus.QUEUED: _ANSWERED | {JobStatus.PUBLISHED, JobStatus.DLQ},
    JobStatus.PUBLISHED: _ANSWERED | {JobStatus.PROCESSING, JobStatus.TIMEOUT, JobStatus.DLQ},
    JobStatus.PROCESSING: _ANSWERED | {JobStatus.TIMEOUT, JobStatus.DLQ},
} | {status: frozenset() for status in FINAL}


def may_move(before: JobStatus, after: JobStatus) -> bool:
    """Whether the graph has this edge."""
    return after in MOVES[before]
