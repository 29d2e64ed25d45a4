"""What the exchange should make of everything that happens to it: a model in memory, no I/O."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from armka.core.jobs.states import FINAL, FileStatus, JobStatus
from tests.chaos.transport import Mood

ACK_SECONDS = 30.0
REPLY_SECONDS = 600.0
REPUBLISH = 3

ENDED = {FileStatus.ERROR, FileStatus.NEEDS_CHECK, FileStatus.DONE}


@dataclass(eq=False)
class ModelFile:
    """A document."""

    id: UUID
    status: FileStatus = FileStatus.UPLOADED
    error_code: str | None = None
    jobs: "list[ModelJob]" = field(default_factory=list)

    @property
    def current(self) -> "ModelJob":
        return self.jobs[-1]


@dataclass(eq=False)
class ModelJob:
    """An attempt. `left`: seconds to its deadline; `quiet`: seconds since its last publication;
    `is_odd`: no valid request can be built for it (O2).
    """

    id: UUID
    file: ModelFile = field(repr=False)
    attempt: int
    is_odd: bool = False
    left: float | None = None
    quiet: float = 0.0
    status: JobStatus = JobStatus.QUEUED
    publish_count: int = 0
    result_msg_id: str | None = None
    error_code: str | None = None
    history: list[tuple[str, str]] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)

    def move(self, status: JobStatus) -> None:
        """Take a step."""
        self.history.append((self.status.value, status.value))
        self.status = status

    def fail(self, status: JobStatus, kind: str, code: str) -> None:
        """End without a result, and the file with it where this job counts."""
        self.move(status)
        self.error_code = code
        self.facts.append((kind, code))
        if self.file.current is self:
            self.file.status, self.file.error_code = FileStatus.ERROR, code

    def begin(self) -> None:
        """The file is being processed."""
        if self.file.current is self:
            self.file.status, self.file.error_code = FileStatus.PROCESSING, None


def stranger(job_id: UUID) -> UUID:
    """An id that is no job's."""
    return UUID(int=job_id.int ^ 1)


@dataclass(frozen=True)
class Letter:
    """An envelope on its way. `twist`: what is wrong with it."""

    job: ModelJob
    status: str
    twist: str | None
    body: bytes
    msg_id: str | None


class Model:
    """All files, and what was kept instead of applied, as (reason, job)."""

    def __init__(self) -> None:
        self.files: list[ModelFile] = []
        self.rejected: Counter[tuple[str, UUID | None]] = Counter()

    @property
    def jobs(self) -> list[ModelJob]:
        return [job for file in self.files for job in file.jobs]

    def with_status(self, *statuses: JobStatus) -> list[ModelJob]:
        """The jobs that are there."""
        return [job for job in self.jobs if job.status in statuses]

    def publish(self, mood: Mood, *, heard: bool, dies: bool = False) -> None:
        """A cycle of the outbox; where it dies with a burst on the wire, nothing is kept."""
        queued = self.with_status(JobStatus.QUEUED)
        burst = [job for job in queued if not job.is_odd]
        if burst and dies:
            return
        self._refuse(job for job in queued if job.is_odd)
        if burst and mood is Mood.UNCONFIRMED:
            return
        self._burst(burst, mood)
        if heard:
            self._publish_again(mood, dies=dies)

    def _publish_again(self, mood: Mood, *, dies: bool) -> None:
        silent = [
            job
            for job in self.with_status(JobStatus.PUBLISHED)
            if job.quiet > ACK_SECONDS and job.left is not None and job.left > 0
        ]
        burst = [job for job in silent if job.publish_count <= REPUBLISH]
        if burst and dies:
            return
        for job in silent:
            if job not in burst:
                job.fail(JobStatus.DLQ, "NO_ACK", "NO_ACK")
        if mood is not Mood.UNCONFIRMED:
            self._burst(burst, mood)

    def _burst(self, burst: Sequence[ModelJob], mood: Mood) -> None:
        if mood is Mood.TOO_LARGE:
            self._refuse(burst)
        elif mood is not Mood.FORBIDDEN:
            for job in burst:
                job.publish_count += 1
                job.quiet = 0.0
                if job.status is JobStatus.QUEUED:
                    job.move(JobStatus.PUBLISHED)
                    job.begin()
                    job.left = REPLY_SECONDS if job.left is None else job.left

    def _refuse(self, jobs: Iterable[ModelJob]) -> None:
        for job in jobs:
            job.fail(JobStatus.ERROR, "REQUEST_INVALID", "SCHEMA_MISMATCH")

    def receive(self, letter: Letter) -> str:
        """An envelope reaches the inbox; returns what its sender is told (I8)."""
        job = letter.job
        match letter.twist:
            case "not json":
                self.rejected["invalid", None] += 1
            case "no service":
                self.rejected["invalid", job.id] += 1
            case "other job":
                self.rejected["unknown_job", stranger(job.id)] += 1
                return "unknown_job"
            case "other file":
                self.rejected["foreign_file", job.id] += 1
            case "other key" if letter.status in {"done", "needs_check"}:
                self.rejected["foreign_key", job.id] += 1
            case _:
                known = self._acknowledge if letter.status == "processing" else self._answer
                return known(job, letter)
        return "rejected"

    def _acknowledge(self, job: ModelJob, _: Letter) -> str:
        if job.status is JobStatus.PUBLISHED:
            job.move(JobStatus.PROCESSING)
            return "applied"
        return "late" if job.status in FINAL else "duplicate"

    def _answer(self, job: ModelJob, letter: Letter) -> str:
        msg_id = letter.msg_id or f"result:{job.id}:{job.attempt}"
        if job.result_msg_id == msg_id:
            return "duplicate"
        if job.status in FINAL:
            self.rejected["late", job.id] += 1
            return "late"
        job.result_msg_id = msg_id
        if letter.status == "error":
            job.fail(JobStatus.ERROR, "SERVICE_ERROR", "UNREADABLE")
        else:
            job.move(JobStatus(letter.status))
            job.begin()
        return "applied"

    def watch(self) -> None:
        """A cycle of the watchdog."""
        for job in self.with_status(JobStatus.PUBLISHED, JobStatus.PROCESSING):
            if job.left is not None and job.left <= 0:
                job.fail(JobStatus.TIMEOUT, "TIMEOUT", "TIMEOUT")

    def map(self, contents: dict[UUID, str]) -> None:
        """A cycle of the mapping; `contents` says what the result file of a job holds."""
        for job in self.with_status(JobStatus.DONE, JobStatus.NEEDS_CHECK):
            if job.file.current is not job or job.file.status is not FileStatus.PROCESSING:
                continue
            content = contents.get(job.id)
            if content in {None, "broken"}:
                job.facts.append(("MAPPING_ERROR", "INVALID_RESULT"))
                job.file.status, job.file.error_code = FileStatus.ERROR, "INVALID_RESULT"
            elif content == "unknown" or job.status is JobStatus.NEEDS_CHECK:
                job.file.status = FileStatus.NEEDS_CHECK
            else:
                job.file.status = FileStatus.DONE

    def may_retry(self, file: ModelFile) -> bool:
        """Whether a new attempt is allowed (A1)."""
        return file.status in ENDED and file.current.status in FINAL
