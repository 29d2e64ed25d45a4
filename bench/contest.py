"""How every contestant is measured: its worker is up and warm, all jobs appear at once, and the
clock stops when none is left.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from armka.core.database.queries import load
from bench.meter import Cost, Meter, resident_mib
from bench.stage import Process, RoundFailed, Stage, until_idle

SQL = load(__package__)
WARM_UP_JOBS = 500

if TYPE_CHECKING:
    # Generic for the type checker alone.
    Driver = asyncpg.Connection[asyncpg.Record]
else:
    Driver = asyncpg.Connection


@dataclass(frozen=True)
class Contestant:
    """`start` begins its processes, the worker first; `enqueue` adds jobs; `is_busy` asks whether
    any is left; `ended_well` counts those that ended as they should.
    """

    name: str
    start: Callable[[Stage, Driver], Awaitable[list[Process]]]
    enqueue: Callable[[Driver, int], Awaitable[None]]
    is_busy: str
    ended_well: str
    jobs: int
    about: str


@dataclass(frozen=True)
class Round:
    """What one contestant did in one round."""

    jobs: int
    enqueue_seconds: float
    seconds: float
    cost: Cost
    resident_mib: float

    @property
    def rate(self) -> float:
        """Jobs a second, from the moment when all of them are there."""
        return self.jobs / self.seconds

    @property
    def whole_rate(self) -> float:
        """Jobs a second, from the first enqueue on."""
        return self.jobs / (self.enqueue_seconds + self.seconds)


async def play(stage: Stage, contestant: Contestant) -> Round:
    """One round."""
    async with stage.round() as connection:
        processes = await contestant.start(stage, connection)
        await contestant.enqueue(connection, WARM_UP_JOBS)
        await until_idle(connection, contestant.is_busy, processes)
        meter = Meter(
            connection,
            worker=[processes[0].pid],
            postgres=[stage.postgres.pid],
            others=[process.pid for process in processes[1:]] + [stage.nats.pid],
        )
        enqueued = time.perf_counter()
        await contestant.enqueue(connection, contestant.jobs)
        enqueue_seconds = time.perf_counter() - enqueued
        await meter.start()
        began = time.perf_counter()
        await until_idle(connection, contestant.is_busy, processes)
        seconds = time.perf_counter() - began
        cost = await meter.stop()
        done = await connection.fetchval(contestant.ended_well)
        if done != contestant.jobs + WARM_UP_JOBS:
            raise RoundFailed(f"{contestant.name}: only {done} of the jobs ended well")
        resident = resident_mib(processes[0].pid)
        return Round(contestant.jobs, enqueue_seconds, seconds, cost, resident)


async def load_jobs(connection: Driver, count: int) -> None:
    """Queued recognition jobs."""
    await connection.execute(SQL.load_jobs, count)
