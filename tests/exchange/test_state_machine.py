"""Any order of anything: the core's own loops against the real database, beside a model.

Only NATS is played (`tests/chaos/transport.py`). After every step the tables must say what the
model says, and no invariant of `chaos/invariants.sql` may be broken. Processes die in the middle of
a cycle at moments that are held open: with a burst on the wire and its transaction open, with the
envelopes written and not committed, with the commit made and nobody told.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar
from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pydantic import SecretStr

from armka.contract.object_keys import result as result_key
from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.errors import AttemptUnderWay
from armka.core.files.attempts import Attempts
from armka.core.identity.principal import nobody
from armka.core.inbox.receiver import Inbox
from armka.core.jobs.states import FINAL, JobStatus
from armka.core.mapping.mapper import Mapper, MappingConfig
from armka.core.outbox.publisher import Outbox, OutboxConfig
from armka.core.watchdog.watchdog import Watchdog, WatchdogConfig
from armka.messaging.connection import NotConfirmed
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import ObjectServer
from chaos.invariants import broken
from tests.chaos.model import (
    ACK_SECONDS,
    REPLY_SECONDS,
    REPUBLISH,
    Letter,
    Model,
    ModelFile,
    stranger,
)
from tests.chaos.model import ModelJob as Job
from tests.chaos.transport import Mood, Wire
from tests.mapping.results import document, line, result

OUTBOX = OutboxConfig(1, 500, ACK_SECONDS, REPUBLISH, REPLY_SECONDS, REPLY_SECONDS)
MAPPING = MappingConfig(1, 1024 * 1024)
WATCHDOG = WatchdogConfig(30, REPLY_SECONDS, REPLY_SECONDS)
REFUSALS = [Mood.UNCONFIRMED, Mood.FORBIDDEN, Mood.TOO_LARGE]
TWISTS = ["not json", "no service", "other job", "other file", "other key"]
PATIENCE_SECONDS = 30

T = TypeVar("T")


class Ground:
    """The servers under every run, and the event loop that the runs take turns on."""

    def __init__(self, dsn: str, store: ObjectStore) -> None:
        self.dsn = dsn
        self.store = store
        self.runner = asyncio.Runner()
        self.database = Database(DatabaseSettings(url=SecretStr(dsn)))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def open(self) -> None:
        self.db = await asyncpg.connect(self.dsn)
        self.holder = await asyncpg.connect(self.dsn)
        await self.database.__aenter__()

    async def close(self) -> None:
        await self.database.__aexit__()
        await self.holder.close()
        await self.db.close()

    async def empty(self) -> None:
        await self.db.execute(
            "truncate recognition_job, stored_file, s3_object, rejected_message cascade"
        )

    async def until(self, question: str) -> None:
        """Ask the server until it says yes."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await self.db.fetchval(question):  # noqa: ASYNC110 - the server tells
                await asyncio.sleep(0)

    async def until_waiting(self) -> None:
        """Until somebody waits for a lock."""
        await self.until(
            "select exists (select from pg_stat_activity where datname = current_database()"
            " and wait_event_type = 'Lock')"
        )

    async def until_quiet(self) -> None:
        """Until the server has cleaned up behind whoever died."""
        await self.until(
            "select not exists (select from pg_stat_activity where datname = current_database()"
            " and application_name = 'arm-ka' and state <> 'idle')"
        )


@pytest.fixture
def ground(database: str, object_store_server: ObjectServer) -> Iterator[Ground]:
    store = ObjectStore(ObjectSettings.model_validate(object_store_server.env()))
    made = Ground(database, store)
    with made.runner:
        made.run(made.open())
        try:
            yield made
        finally:
            made.run(made.close())


class Exchange(RuleBasedStateMachine):
    """Files, requests, envelopes, deaths and time, in any order."""

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        self.ground = ground
        self.model = Model()
        self.letters: list[Letter] = []
        self.contents: dict[UUID, str] = {}
        self.is_sound = True
        self.run(ground.empty())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do a step; what was found broken once is not looked at again at the end."""
        try:
            return self.ground.run(work)
        except BaseException:
            self.is_sound = False
            raise

    def job(self, data: st.DataObject) -> Job:
        """One of the jobs, rather one that is under way."""
        jobs = self.model.jobs
        live = [job for job in jobs if job.status not in FINAL]
        return data.draw(st.sampled_from(live + jobs if live else jobs), "job")

    # Files and time

    @precondition(lambda self: len(self.model.files) < 4)
    @rule(is_odd=st.sampled_from([False] * 5 + [True]), left=st.sampled_from([None, None, 60, -1]))
    def a_file_comes(self, is_odd: bool, left: float | None) -> None:
        self.run(self._add(is_odd, left))

    async def _add(self, is_odd: bool, left: float | None) -> None:
        file = ModelFile(uuid4())
        job = Job(uuid4(), file, 1, is_odd, left)
        file.jobs.append(job)
        await self.ground.db.execute(
            """with o as (
                insert into s3_object (bucket, key, bucket_role) values ('arm-ka', $3, 'uploads')
                returning id
            ), f as (
                insert into stored_file
                    (id, original_name, file_type, s3_object_id, current_recognition_job_id)
                select $1, 'ОСВ.xlsx', $4, o.id, $2 from o returning id
            )
            insert into recognition_job (id, stored_file_id, pipeline, reply_deadline)
            select $2, f.id, 'tabular', now() + make_interval(secs => $5::float8) from f""",
            file.id, job.id, f"uploads/{file.id}/source.xlsx", "PDF" if is_odd else "XLSX", left,
        )  # fmt: skip
        self.model.files.append(file)

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data())
    def a_person_retries(self, data: st.DataObject) -> None:
        """A1: a new attempt, or a clear refusal. Its pipeline is the file type's own, whatever the
        last one was.
        """
        file = data.draw(st.sampled_from(self.model.files), "file")
        attempts = Attempts(self.ground.database)
        if not self.model.may_retry(file):
            with pytest.raises(AttemptUnderWay):
                self.ground.run(attempts.begin(file.id, nobody()))
            return
        attempt = self.run(attempts.begin(file.id, nobody()))
        job = Job(attempt.job_id, file, file.current.attempt + 1)
        assert attempt.attempt == job.attempt
        file.jobs.append(job)
        job.begin()

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data(), seconds=st.sampled_from([10, 31, 31, 31, 601]))
    def time_passes_for_a_job(self, data: st.DataObject, seconds: int) -> None:
        self.run(self._pass(self.job(data), seconds))

    async def _pass(self, job: Job, seconds: int) -> None:
        if job.status in FINAL:
            return
        await self.ground.db.execute(
            """update recognition_job
            set created_at = created_at - d, published_at = published_at - d,
                last_published_at = last_published_at - d, reply_deadline = reply_deadline - d
            from make_interval(secs => $2) d where id = $1""",
            job.id, seconds,
        )  # fmt: skip
        job.quiet += seconds
        job.left = None if job.left is None else job.left - seconds

    @precondition(lambda self: self.model.with_status(JobStatus.PUBLISHED))
    @rule(data=st.data(), heard=st.lists(st.sampled_from([True] * 4 + [False]), max_size=5))
    def nobody_answers(self, data: st.DataObject, heard: list[bool]) -> None:
        """O3: published again and again, in the end given up; only by who has listened."""
        published = self.model.with_status(JobStatus.PUBLISHED)
        self.run(self._stay_silent(data.draw(st.sampled_from(published), "job"), heard))

    async def _stay_silent(self, job: Job, heard: list[bool]) -> None:
        for one in heard:
            await self._pass(job, 31)
            await self._publish(Mood.CONFIRMED, heard=one)

    # The outbox

    @rule(
        mood=st.sampled_from([Mood.CONFIRMED] * 3 + REFUSALS),
        heard=st.sampled_from([True, True, True, False]),
    )
    def the_outbox_runs(self, mood: Mood, heard: bool) -> None:
        self.run(self._publish(mood, heard))

    async def _publish(self, mood: Mood, heard: bool) -> None:
        wire = self._wire(mood, heard)
        with contextlib.suppress(NotConfirmed):
            await self._outbox(wire).run_once()
        self.model.publish(mood, heard=heard)

    @rule()
    def the_outbox_dies_with_a_burst_on_the_wire(self) -> None:
        self.run(self._publish_and_die())

    async def _publish_and_die(self) -> None:
        wire = self._wire(Mood.HELD)
        cycle = asyncio.create_task(self._outbox(wire).run_once())
        await self._either(cycle, wire.held)
        await self._end(cycle)
        self.model.publish(Mood.CONFIRMED, heard=True, dies=True)

    @precondition(lambda self: self._publishable())
    @rule(data=st.data(), status=st.sampled_from(["processing", "done", "error"]))
    def a_service_is_faster_than_the_commit(self, data: st.DataObject, status: str) -> None:
        """I1: the envelope arrives while the publisher's transaction is open."""
        job = data.draw(st.sampled_from(self._publishable()), "job")
        self.run(self._overtake(job, status))

    async def _overtake(self, job: Job, status: str) -> None:
        letter = await self._write(job, status, None, "good", "its own")
        wire, receiving = self._wire(Mood.HELD), self._wire()
        publishing = asyncio.create_task(self._outbox(wire).run_once())
        await self._either(publishing, wire.held)
        receiving.arrive(letter.body, letter.msg_id)
        inbox = asyncio.create_task(self._inbox(receiving).run_once())
        await self.ground.until_waiting()
        wire.mood = Mood.CONFIRMED
        wire.released.set()
        await asyncio.gather(publishing, inbox)
        self.model.publish(Mood.CONFIRMED, heard=True)
        self.model.receive(letter)

    def _publishable(self) -> list[Job]:
        return [job for job in self.model.with_status(JobStatus.QUEUED) if not job.is_odd]

    # The services and the inbox

    @precondition(lambda self: self.model.jobs)
    @rule(
        data=st.data(),
        status=st.sampled_from(["processing", "processing", "done", "needs_check", "error"]),
        twist=st.sampled_from([None] * 7 + TWISTS),
        content=st.sampled_from(["good", "good", "unknown", "broken", None]),
        msg_id=st.sampled_from(["its own", "its own", "none", "other"]),
    )
    def a_service_writes(
        self, data: st.DataObject, status: str, twist: str | None, content: str, msg_id: str
    ) -> None:
        letter = self.run(self._write(self.job(data), status, twist, content, msg_id))
        self.letters.append(letter)

    async def _write(
        self, job: Job, status: str, twist: str | None, content: str | None, msg_id: str
    ) -> Letter:
        kind = "ack" if status == "processing" else "result"
        ids = {"its own": f"{kind}:{job.id}:{job.attempt}", "other": f"{kind}:{job.id}:9"}
        if status in {"done", "needs_check"} and content and job.id not in self.contents:
            await self.ground.store.put(result_key(job.file.id, job.id), _result(job, content))
            self.contents[job.id] = content
        body = b"{" if twist == "not json" else _envelope(job, status, twist)
        return Letter(job, status, twist, body, ids.get(msg_id))

    @precondition(lambda self: self.letters)
    @rule(data=st.data(), end=st.sampled_from(["told", "told", "told", "written", "committed"]))
    def letters_arrive(self, data: st.DataObject, end: str) -> None:
        """Some, in any order, some of them again later; the inbox may die before or after the
        commit.
        """
        batch = data.draw(st.lists(st.sampled_from(self.letters), min_size=1, max_size=4), "batch")
        again = data.draw(st.booleans(), "again")
        if not again and end != "written":
            self.letters = [letter for letter in self.letters if letter not in batch]
        self.run(self._receive(batch, end))

    async def _receive(self, batch: list[Letter], end: str) -> None:
        wire = self._wire()
        wire.holds_settling = end == "committed"
        for letter in batch:
            wire.arrive(letter.body, letter.msg_id)
        if end == "written" and not await self._die_before_the_commit(wire):
            return
        if end != "written":
            cycle = asyncio.create_task(self._inbox(wire).run_once())
            await self._either(cycle, wire.held)
            await self._end(cycle)
        expected = Counter((letter.body, self.model.receive(letter)) for letter in batch)
        if end == "told":
            told = (
                (incoming.body, outcome.outcome.value if outcome else None)
                for incoming, outcome in wire.settled
            )
            assert Counter(told) == expected

    async def _die_before_the_commit(self, wire: Wire) -> bool:
        """The cycle stops where it would write an event, or a rejected message; False: it died."""
        holder = self.ground.holder
        async with holder.transaction():
            await holder.execute("lock recognition_job_event, rejected_message in share mode")
            cycle = asyncio.create_task(self._inbox(wire).run_once())
            waits = asyncio.create_task(self.ground.until_waiting())
            await asyncio.wait((cycle, waits), return_when=asyncio.FIRST_COMPLETED)
            survived = cycle.done()
            waits.cancel()
            await asyncio.gather(waits, return_exceptions=True)
            cycle.cancel()
            await asyncio.gather(cycle, return_exceptions=True)
        await self.ground.until_quiet()
        return survived

    # The other loops

    @rule()
    def the_watchdog_runs(self) -> None:
        self.run(Watchdog(WATCHDOG, self.ground.database).run_once())
        self.model.watch()

    @rule()
    def the_mapping_runs(self) -> None:
        self.run(Mapper(MAPPING, self.ground.database, self.ground.store).run_once())
        self.model.map(self.contents)

    # What must hold

    @invariant()
    def the_tables_say_what_the_model_says(self) -> None:
        self.run(self._compare())

    async def _compare(self) -> None:
        db, model = self.ground.db, self.model
        assert await broken(db) == []
        rows = await db.fetch(
            """select j.id, j.attempt, j.status, j.publish_count, j.result_msg_id, j.error_code,
                array(select array[from_status, to_status] from recognition_job_event e
                    where e.recognition_job_id = j.id order by e.id) as history,
                array(select array[failure_kind, error_code] from quality_failure_fact q
                    where q.recognition_job_id = j.id order by q.id) as facts,
                f.status as file_status, f.error_code as file_error
            from recognition_job j join stored_file f on f.id = j.stored_file_id"""
        )
        found = {row["id"]: tuple(_plain(value) for value in row.values()) for row in rows}
        assert found.keys() == {job.id for job in model.jobs}
        for job in model.jobs:
            assert found[job.id] == _expected(job)
        kept = await db.fetch("select reason, recognition_job_id as job from rejected_message")
        assert Counter((row["reason"], row["job"]) for row in kept) == model.rejected

    def teardown(self) -> None:
        """Nothing is lost: left alone with sound servers, everything comes to an end."""
        if self.is_sound:
            self.run(self._finish())

    async def _finish(self) -> None:
        await self._publish(Mood.CONFIRMED, heard=True)
        for job in self.model.jobs:
            await self._pass(job, 601)
        await Watchdog(WATCHDOG, self.ground.database).run_once()
        self.model.watch()
        await Mapper(MAPPING, self.ground.database, self.ground.store).run_once()
        self.model.map(self.contents)
        await self._compare()
        assert {job.status for job in self.model.jobs} <= FINAL
        assert all(self.model.may_retry(file) for file in self.model.files)

    # The processes

    def _wire(self, mood: Mood = Mood.CONFIRMED, heard: bool = True) -> Wire:
        wire = Wire()
        wire.mood, wire.is_heard = mood, heard
        return wire

    def _outbox(self, wire: Wire) -> Outbox:
        subjects = NatsSettings(url="nats://nowhere").subjects
        return Outbox(OUTBOX, self.ground.database, wire, wire, subjects, lambda: True)

    def _inbox(self, wire: Wire) -> Inbox:
        return Inbox(self.ground.database, wire, self.ground.store.bucket)

    async def _either(self, cycle: "asyncio.Task[float]", moment: asyncio.Event) -> None:
        """Until the cycle ends or reaches the moment that is held open."""
        reached = asyncio.create_task(moment.wait())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.wait((cycle, reached), return_when=asyncio.FIRST_COMPLETED)
        reached.cancel()

    async def _end(self, cycle: "asyncio.Task[float]") -> None:
        """Kill the process where it is; one that has come to its end must have ended well."""
        if cycle.done():
            cycle.result()
            return
        cycle.cancel()
        await asyncio.gather(cycle, return_exceptions=True)
        await self.ground.until_quiet()


def _plain(value: object) -> object:
    return [tuple(item) for item in value] if isinstance(value, list) else value


def _expected(job: Job) -> tuple[object, ...]:
    return (
        job.id, job.attempt, job.status.value, job.publish_count, job.result_msg_id, job.error_code,
        job.history, job.facts, job.file.status.value, job.file.error_code,
    )  # fmt: skip


def _envelope(job: Job, status: str, twist: str | None) -> bytes:
    file_id = uuid4() if twist == "other file" else job.file.id
    body: dict[str, object] = {
        "schema_version": "1.0",
        "job_id": str(stranger(job.id) if twist == "other job" else job.id),
        "file_id": str(file_id),
        "status": status,
    }
    if twist != "no service":
        body["service"] = {"name": "test-parser", "version": "9.9"}
    if status in {"done", "needs_check"}:
        key = "results/elsewhere.json" if twist == "other key" else result_key(file_id, job.id)
        body |= {"result_s3": {"bucket": "arm-ka", "key": key}, "result_schema_version": "1.0"}
    if status == "error":
        body["error"] = {"code": "UNREADABLE", "message": "The file is damaged"}
    return json.dumps(body).encode()


def _result(job: Job, content: str) -> bytes:
    if content == "broken":
        return b'{"schema_version": "1.0"}'
    lines = [line(1)]
    if content == "unknown":
        values = [None, *line(1)["values"][1:]]
        lines = [line(1, values=values, unknown=[{"column": "opening_debit", "raw": "l2З"}])]
    return json.dumps(result(job.id, job.file.id, {"documents": [document(lines=lines)]})).encode()


def test_any_order_of_anything(ground: Ground) -> None:
    """On failure hypothesis prints the shortest story it found, and what to put above `machine`."""

    def machine() -> Exchange:
        return Exchange(ground)

    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]  # whatever makes one will do
        settings=settings(
            max_examples=40,
            stateful_step_count=40,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
