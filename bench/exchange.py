"""arm-ka end to end: a core process, the echo service, and a driver that only looks."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import asyncpg
import nats

from armka.contract.subjects import DEFAULTS, Transport
from armka.core.database.queries import load
from bench.contest import Contestant, Driver, load_jobs
from bench.echo import REQUESTS
from bench.meter import resident_mib
from bench.stage import Process, Stage, until_idle

SQL = load(__package__)
_MAPPABLE = "armka_job_mappable"
_PAUSE_SECONDS = 0.03
_WARM_UP = 20


async def _start(stage: Stage, _connection: Driver) -> list[Process]:
    echo = await stage.echo()
    return [await stage.core(), echo]


async def _start_on_stream(stage: Stage, _connection: Driver) -> list[Process]:
    echo = await stage.echo(DEFAULTS[Transport.JETSTREAM])
    return [await stage.core(NATS_TRANSPORT="jetstream", NATS_MANAGE_STREAM="true"), echo]


def on_stream(jobs: int) -> Contestant:
    """The same through a stream, which syncs every message to the disk."""
    return Contestant(
        "arm-ka on jetstream", _start_on_stream, load_jobs, SQL.under_way, SQL.done, jobs,
        "the same through a stream: each message confirmed, kept, acknowledged after its commit",
    )  # fmt: skip


def contestant(jobs: int) -> Contestant:
    """Outbox, broker, service, inbox: from `queued` to `done`, with an answer to the service."""
    return Contestant(
        "arm-ka", _start, load_jobs, SQL.under_way, SQL.done, jobs,
        "one core process, all promises on: request, acknowledgement, result, answer",
    )  # fmt: skip


async def memory(stage: Stage, jobs: int, step: int) -> list[float]:
    """The core's resident MiB after each `step` jobs, on the way to `jobs`."""
    async with stage.round() as connection:
        processes = await _start(stage, connection)
        readings = []
        for _ in range(0, jobs, step):
            await load_jobs(connection, step)
            await until_idle(connection, SQL.under_way, processes)
            readings.append(resident_mib(processes[0].pid))
        return readings


@dataclass(frozen=True)
class Latency:
    """Milliseconds from before the insert, one job at a time, in a core that has nothing else."""

    to_wire: list[float]
    to_done: list[float]


async def latency(stage: Stage, jobs: int) -> Latency:
    """To the wire: the driver hears the request too. To done: the commit's own notification."""
    async with stage.round() as connection:
        await _start(stage, connection)
        wire: asyncio.Queue[float] = asyncio.Queue()
        done: asyncio.Queue[float] = asyncio.Queue()
        client = await nats.connect(stage.nats.url)

        async def heard(_message: Any) -> None:
            wire.put_nowait(time.perf_counter())

        await client.subscribe(REQUESTS.decode(), cb=heard)
        await client.flush()
        ears = await asyncpg.connect(stage.dsn)
        await ears.add_listener(_MAPPABLE, lambda *_: done.put_nowait(time.perf_counter()))
        try:
            return await _trickle(connection, jobs, wire, done)
        finally:
            await ears.close()
            await client.close()


async def _trickle(
    connection: Driver, jobs: int, wire: "asyncio.Queue[float]", done: "asyncio.Queue[float]"
) -> Latency:
    found = Latency([], [])
    for number in range(jobs + _WARM_UP):
        began = time.perf_counter()
        await load_jobs(connection, 1)
        async with asyncio.timeout(10):
            to_wire, to_done = await wire.get() - began, await done.get() - began
        if number >= _WARM_UP:
            found.to_wire.append(to_wire * 1000)
            found.to_done.append(to_done * 1000)
        await asyncio.sleep(_PAUSE_SECONDS)
    return found
