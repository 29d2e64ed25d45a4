"""`python -m chaos.jobs`: the same jobs on each transport, while PostgreSQL, NATS and the core are
killed, frozen and restarted at random; the end states must be equal.
"""

import argparse
import asyncio
import contextlib
import hashlib
import logging
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import structlog

from armka.contract.subjects import Transport
from armka.core.database.migrations import migrate
from armka.core.database.queries import load
from armka.messaging.settings import NatsSettings
from armka.stack import NatsServer, PostgresServer, StackError
from chaos.echo import CODE, echoing
from chaos.invariants import broken
from chaos.processes import (
    NO_STORE,
    TRANSPORTS,
    ArmkaVictim,
    ServerVictim,
    Victim,
    environment,
    free_port,
)
from chaos.schedule import Fault, Harm, plan

SQL = load(__package__, "jobs.sql")

_VICTIMS = ("postgres", "nats", "core")
_LONGEST_SECONDS = 5.0
_WAVES = 50
_LOOK_SECONDS = 0.2
_DRAIN_SECONDS = 300.0
_STARTS = 3
_NO_DATABASE = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)


@dataclass(frozen=True)
class Storm:
    """How many jobs and faults, and by which seed."""

    seed: int
    jobs: int
    faults: int
    seconds: float
    say: Callable[[str], None] = print


@dataclass
class Outcome:
    """What one transport made of it; `end_state` is a digest of how every job ended."""

    transport: Transport
    seconds: float = 0.0
    end_state: str = ""
    statuses: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For a person."""
        counts = ", ".join(f"{name}: {count}" for name, count in self.statuses.items())
        head = f"{self.transport:<10} end state {self.end_state}  {counts}  {self.seconds:.0f} s"
        return "\n".join([head, f"{len(self.violations)} violations", *self.violations[:20]])


async def run(storm: Storm, transport: Transport, folder: Path) -> Outcome:
    """The storm on one transport."""
    outcome, begun = Outcome(transport), time.monotonic()
    async with _running(folder, transport) as (dsn, victims):
        faults = plan(storm.seed, storm.seconds, storm.faults, _LONGEST_SECONDS, _VICTIMS)
        async with asyncio.TaskGroup() as group:
            group.create_task(_load(dsn, storm))
            group.create_task(_harm(victims, faults, storm))
        storm.say("drain")
        await _until_all_ended(dsn, storm.jobs)
        outcome.seconds = time.monotonic() - begun
        await _reckon(dsn, outcome)
        outcome.violations += [end for victim in victims.values() for end in victim.unforeseen]
    return outcome


@contextlib.asynccontextmanager
async def _running(
    folder: Path, transport: Transport
) -> AsyncIterator[tuple[str, dict[str, Victim]]]:
    async with (
        PostgresServer(folder / "postgres") as postgres,
        NatsServer(folder / "nats") as nats,
    ):
        dsn = postgres.env()["DATABASE_URL"]
        await migrate(dsn)
        exchange = {**nats.env(), **TRANSPORTS[transport]}
        # A deadline would end what only waits for its servers.
        patient = {"REPLY_TIMEOUT_SECONDS_TABULAR": "600"}
        env = environment({"DATABASE_URL": dsn, **exchange, **NO_STORE}) | patient
        core = ArmkaVictim("core", ["core", "--port", str(free_port())], env, folder / "core.log")
        try:
            async with echoing(NatsSettings.model_validate(exchange)):
                await core.start()
                yield (
                    dsn,
                    {"postgres": ServerVictim(postgres), "nats": ServerVictim(nats), "core": core},
                )
        finally:
            await core.end()


async def _load(dsn: str, storm: Storm) -> None:
    """Insert the jobs in waves over the storm; a wave that may not have committed is looked for."""
    size = -(-storm.jobs // _WAVES)
    for first in range(0, storm.jobs, size):
        last = min(first + size, storm.jobs)
        while True:
            with contextlib.suppress(*_NO_DATABASE):
                async with _connected(dsn) as db:
                    if await db.fetchval(SQL.is_there, first):
                        break
                    await db.execute(SQL.add_jobs, first, last - 1)
            await asyncio.sleep(_LOOK_SECONDS)
        await asyncio.sleep(storm.seconds / _WAVES)


async def _harm(victims: dict[str, Victim], faults: list[Fault], storm: Storm) -> None:
    """One fault after the other."""
    begun = time.monotonic()
    for fault in faults:
        await asyncio.sleep(max(0.0, begun + fault.at - time.monotonic()))
        storm.say(f"  {fault}")
        victim = victims[fault.victim]
        match fault.harm:
            case Harm.KILL:
                await victim.kill()
                await asyncio.sleep(fault.seconds)
                await _start(victim)
            case Harm.FREEZE:
                victim.freeze()
                await asyncio.sleep(fault.seconds)
                victim.thaw()
            case Harm.RESTART:
                await victim.stop()
                await _start(victim)


async def _start(victim: Victim) -> None:
    """A machine that is busy with much else may need more than one try."""
    for _ in range(_STARTS):
        with contextlib.suppress(StackError):
            return await victim.start()
    return await victim.start()


async def _until_all_ended(dsn: str, jobs: int) -> None:
    async with asyncio.timeout(_DRAIN_SECONDS):
        while True:
            with contextlib.suppress(*_NO_DATABASE):
                async with _connected(dsn) as db:
                    while await db.fetchval(SQL.ended) < jobs:  # noqa: ASYNC110 - others end them
                        await asyncio.sleep(_LOOK_SECONDS)
                    return
            await asyncio.sleep(_LOOK_SECONDS)


async def _reckon(dsn: str, outcome: Outcome) -> None:
    async with _connected(dsn) as db:
        rows = await db.fetch(SQL.end_state)
        text = "\n".join(row["line"] for row in rows)
        outcome.end_state = hashlib.sha256(text.encode()).hexdigest()[:16]
        outcome.statuses = {row["which"]: row["count"] for row in await db.fetch(SQL.statuses)}
        outcome.violations += [row["subject"] for row in await db.fetch(SQL.otherwise, CODE)]
        outcome.violations += [str(one) for one in await broken(db)]


@contextlib.asynccontextmanager
async def _connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    db = await asyncpg.connect(dsn, timeout=5, command_timeout=30)
    try:
        yield db
    finally:
        db.terminate()


async def both(storm: Storm, folder: Path) -> list[Outcome]:
    """The same storm on each transport, one after the other."""
    outcomes = []
    for transport in Transport:
        storm.say(f"{transport} …")
        outcomes.append(await run(storm, transport, folder / transport.value))
        storm.say(outcomes[-1].text())
    return outcomes


def main() -> int:
    """Read the arguments, run, compare."""
    parser = argparse.ArgumentParser(prog="make soak-jobs", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--faults", type=int, default=36)
    parser.add_argument("--seconds", type=float, default=240.0, help="length of the storm")
    arguments = parser.parse_args()
    # The echo in this process would tell of every outage.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    storm = Storm(arguments.seed, arguments.jobs, arguments.faults, arguments.seconds)
    print(f"seed {storm.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="armka-jobs-") as folder:
        outcomes = asyncio.run(both(storm, Path(folder)))
    equal = len({outcome.end_state for outcome in outcomes}) == 1
    print("the end states are equal" if equal else "THE END STATES DIFFER")
    return 0 if equal and not any(outcome.violations for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
