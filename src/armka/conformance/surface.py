"""What a check sees and does: the contract's surface, with every wait bounded."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from armka.conformance.findings import Contradicted, NotSeen, Trail
from armka.conformance.job import Envelope, Job
from armka.conformance.rows import Row, Tables, shown
from armka.conformance.target import Operator, Target
from armka.conformance.wire import Heard, Wire
from armka.contract import object_keys
from armka.contract.outcome import Outcome
from armka.objects.store import ObjectStore

FINAL = ("done", "needs_check", "error", "timeout", "dlq")

_PAUSE_SECONDS = 0.02

T = TypeVar("T")


class Surface:
    """The tables, the subjects and the objects of the core under test."""

    def __init__(self, target: Target, tables: Tables, wire: Wire) -> None:
        self.target = target
        self.tables = tables
        self.wire = wire
        self.objects = ObjectStore(target.objects)
        self.trail = Trail()

    @property
    def operator(self) -> Operator:
        """Whoever runs the core; only for scenarios that ask for powers."""
        if self.target.operator is None:
            raise AssertionError("a scenario uses powers that it did not ask for")
        return self.target.operator

    # Judging

    def expect(self, what: str, expected: object, seen: object) -> None:
        """Both are equal, or the core contradicts the contract."""
        if expected != seen:
            raise Contradicted(f"{what}: {expected}", str(seen), self.trail.lines)

    def expect_row(self, what: str, row: Row | None, **expected: object) -> None:
        """A row has these values; `...` stands for anything but null."""
        if row is None:
            raise Contradicted(f"{what}: {shown(expected)}", "no row", self.trail.lines)
        seen = {key: row[key] for key in expected}
        for key, value in expected.items():
            good = seen[key] is not None if value is ... else seen[key] == value
            if not good:
                wanted = "anything but null" if value is ... else repr(value)
                raise Contradicted(f"{what}: {key} is {wanted}", shown(row), self.trail.lines)

    async def comes(
        self,
        expected: str,
        look: Callable[[], Awaitable[T]],
        *,
        until: Callable[[T], object] = bool,
        within: float | None = None,
    ) -> T:
        """Look again and again until it is so; NotSeen if it is not within so many seconds."""
        end = time.monotonic() + (self.target.patience_seconds if within is None else within)
        while True:
            seen = await look()
            if until(seen):
                return seen
            if time.monotonic() > end:
                raise NotSeen(expected, _shown(seen), self.trail.lines)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def stays(
        self,
        expected: str,
        look: Callable[[], Awaitable[T]],
        *,
        so: Callable[[T], object],
        seconds: float,
    ) -> None:
        """It is so for all of these seconds, or the core contradicts the contract."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            seen = await look()
            if not so(seen):
                raise Contradicted(expected, _shown(seen), self.trail.lines)
            await asyncio.sleep(_PAUSE_SECONDS)

    # Files and jobs

    async def file(
        self,
        *,
        file_type: str = "XLSX",
        role: str = "uploads",
        name: str = "ОСВ за 2023 год.xlsx",
        status: str = "UPLOADED",
    ) -> UUID:
        """Insert a stored file without a job."""
        file_id = uuid4()
        key = object_keys.upload(file_id, file_type.lower())
        object_id = await self.tables.value("insert_object", self.objects.bucket, key, role)
        await self.tables.all("insert_file", file_id, name, file_type, object_id, status)
        return file_id

    async def job(
        self, file_id: UUID | None = None, *, current: bool = True, **columns: Any
    ) -> Job:
        """Insert a job (of a new XLSX file, where none is given) with these columns."""
        file_id = file_id or await self.file()
        job_id = uuid4()
        row: dict[str, Any] = {
            "id": job_id,
            "stored_file_id": file_id,
            "pipeline": "tabular",
        } | columns
        async with self.tables.transaction() as transaction:
            await transaction.run("insert_job", json.dumps(row, default=_as_json))
            if current:
                await transaction.run("make_current", file_id, job_id)
        self.trail.add(f"insert of a {row.get('status', 'queued')} job {job_id}")
        return Job(job_id, file_id, self.objects.bucket, row.get("attempt", 1))

    async def published(self, file_id: UUID | None = None, **columns: Any) -> Job:
        """Insert a job that a service could be working on, its file in PROCESSING."""
        file_id = file_id or await self.file(status="PROCESSING")
        now = await self.now()
        usual: dict[str, Any] = {
            "status": "published",
            "published_at": now,
            "last_published_at": now,
            "publish_count": 1,
            "reply_deadline": now + timedelta(hours=1),
        }
        return await self.job(file_id, **(usual | columns))

    async def now(self) -> datetime:
        """The database's clock."""
        now: datetime = await self.tables.value("now")
        return now

    async def row(self, job: Job) -> Row:
        """The job as it is."""
        row = await self.tables.one("job", job.id)
        if row is None:
            raise Contradicted(f"{job} exists", "no row", self.trail.lines)
        return row

    async def file_of(self, job: Job) -> Row:
        """The job's file as it is."""
        row = await self.tables.one("file", job.file_id)
        if row is None:
            raise Contradicted(f"file {job.file_id} exists", "no row", self.trail.lines)
        return row

    async def traces(self, job: Job) -> dict[str, object]:
        """All that the database says of a job, but for what was rejected: to see what changes."""
        return {
            "job": await self.row(job),
            "file": await self.file_of(job),
            "objects": await self.tables.all("objects_of", str(job.id)),
            "facts": await self.tables.all("facts", job.id),
            "events": await self.tables.all("events", job.id),
        }

    async def facts(self, job: Job) -> list[tuple[str, str | None]]:
        """The job's failure facts: kind and code."""
        found = await self.tables.all("facts", job.id)
        return [(row["failure_kind"], row["error_code"]) for row in found]

    async def moves(self, job: Job) -> list[tuple[str, str]]:
        """The job's transitions: from, to."""
        found = await self.tables.all("events", job.id)
        return [(row["from_status"], row["to_status"]) for row in found]

    async def reasons(self, job: Job) -> list[str]:
        """Why messages about this job were kept instead of applied."""
        return [row["reason"] for row in await self.tables.all("rejected", job.id)]

    async def reaches(self, job: Job, *wanted: str, within: float | None = None) -> Row:
        """Wait until the job has one of these statuses; another final one will never become it."""

        def ended(row: Row) -> bool:
            return row["status"] in wanted or row["status"] in FINAL

        expected = f"{job} is {' or '.join(wanted)}"
        row = await self.comes(expected, lambda: self.row(job), until=ended, within=within)
        if row["status"] not in wanted:
            raise Contradicted(expected, shown(row), self.trail.lines)
        return row

    async def file_reaches(self, job: Job, *wanted: str, within: float | None = None) -> Row:
        """Wait until the job's file has left PROCESSING for one of these statuses."""

        def moved(row: Row) -> bool:
            return row["status"] not in {"UPLOADED", "PROCESSING"}

        expected = f"file {job.file_id} is {' or '.join(wanted)}"
        row = await self.comes(expected, lambda: self.file_of(job), until=moved, within=within)
        if row["status"] not in wanted:
            raise Contradicted(expected, shown(row), self.trail.lines)
        return row

    async def failed(self, job: Job, status: str, kind: str, code: str) -> Row:
        """Wait for a failure and see it whole: job, file and exactly one fact."""
        row = await self.reaches(job, status, within=self.patience("WATCHDOG_PERIOD_SECONDS"))
        self.expect_row(str(job), row, error_code=code, finished_at=...)
        self.expect_row("its file", await self.file_of(job), status="ERROR", error_code=code)
        self.expect("its facts", [(kind, code)], await self.facts(job))
        return row

    def patience(self, setting: str, times: float = 1) -> float:
        """How long to wait for what happens every so many seconds."""
        return times * self.target.seconds(setting) + self.target.patience_seconds

    # The wire

    def heard(self, job: Job) -> list[Heard]:
        """The requests for a job that were on the wire so far."""
        return [heard for heard in self.wire.requests if str(job.id).encode() in heard.body]

    async def request(self, job: Job, number: int = 1, *, within: float | None = None) -> Heard:
        """Wait for the job's first (second, …) request."""

        async def look() -> list[Heard]:
            return self.heard(job)

        found = await self.comes(
            f"request {number} for {job} is on the wire",
            look,
            until=lambda heard: len(heard) >= number,
            within=within,
        )
        return found[number - 1]

    async def send(self, *envelopes: tuple[Envelope | bytes, str | None]) -> None:
        """Publish as a service does that wants no answer; all in one burst."""
        for envelope, msg_id in envelopes:
            self.trail.add(_described(envelope, msg_id))
        await self.wire.publish(envelopes, replies=[""] * len(envelopes))

    async def ask(self, *envelopes: tuple[Envelope | bytes, str | None]) -> list[str]:
        """Publish with reply subjects, in one burst, and return these (I8)."""
        replies = [self.wire.new_reply() for _ in envelopes]
        for envelope, msg_id in envelopes:
            self.trail.add(f"{_described(envelope, msg_id)}, with a reply subject")
        return list(await self.wire.publish(envelopes, replies=replies))

    def answer_count(self, reply: str) -> int:
        """How often the core told an outcome so far."""
        return sum(answer is not None for answer in self.wire.answers(reply))

    async def answer(self, reply: str, within: float | None = None) -> Outcome:
        """Wait until the core is done with an envelope, and tell its outcome."""

        async def look() -> list[Outcome | None]:
            return self.wire.answers(reply)

        answers = await self.comes("an answer (I8)", look, within=within)
        if answers[0] is None:
            raise Contradicted("an answer (I8)", "nobody listens", self.trail.lines)
        return answers[0]

    async def deliver(
        self, envelope: Envelope | bytes, msg_id: str | None, outcome: str | None = None
    ) -> Outcome:
        """Bring an envelope to the core and return when it was settled; `outcome`: what the core
        must have said of it.
        """
        (reply,) = await self.ask((envelope, msg_id))
        answer = await self.answer(reply)
        if outcome is not None:
            self.expect_outcome(outcome, answer)
        return answer

    def expect_outcome(self, expected: str, answer: Outcome) -> None:
        """The core's answer, or what its tables tell, is this one."""
        self.expect("the answer's outcome", expected, answer.outcome.value)

    # The objects

    async def put_result(self, job: Job, content: bytes) -> None:
        """Write the job's result file, as its service does before its envelope."""
        await self.objects.put(job.result_key, content)
        self.trail.add(f"put {job.result_key}, {len(content)} bytes")


def _shown(seen: object) -> str:
    if isinstance(seen, dict):
        return shown(seen)
    if isinstance(seen, Sequence) and seen and isinstance(seen[0], dict):
        return shown([row for row in seen if isinstance(row, dict)])
    return str(seen)


def _described(envelope: Envelope | bytes, msg_id: str | None) -> str:
    if isinstance(envelope, bytes):
        return f"{len(envelope)} bytes {envelope[:80]!r} as {msg_id}"
    return f"envelope {envelope.get('status')} as {msg_id}: {json.dumps(envelope)[:300]}"


def _as_json(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
