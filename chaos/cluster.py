"""`python -m chaos.cluster`: jobs pass through three NATS nodes while the leader of their stream is
killed, frozen, and all nodes are restarted in turn; how long the exchange stood still each time.
"""

import argparse
import asyncio
import contextlib
import itertools
import logging
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import structlog

from armka.contract.subjects import Transport
from armka.core.database.migrations import migrate
from armka.core.database.queries import load
from armka.messaging.connection import NotConnected
from armka.messaging.settings import NatsSettings
from armka.messaging.stream import Stream, StreamUnavailable
from armka.stack import NatsCluster, NatsServer, PostgresServer
from chaos.echo import CODE, echoing
from chaos.invariants import broken
from chaos.processes import NO_STORE, TRANSPORTS, ArmkaVictim, environment, free_port

SQL = load(__package__, "jobs.sql")

_BETWEEN_JOBS_SECONDS = 0.25
_LOOK_SECONDS = 0.1
_PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Blow:
    """One fault as it was: `recovered`: seconds until a job that came after its beginning had
    ended; `stood_still`: the longest time without any job's end from then on.
    """

    what: str
    recovered: float
    stood_still: float


@dataclass
class Account:
    """What came of it."""

    jobs: int = 0
    blows: list[Blow] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For a person."""
        lines = [f"{self.jobs} jobs, {len(self.violations)} violations", *self.violations[:20]]
        lines += [
            f"{blow.what:<28} recovered after {blow.recovered:5.1f} s, "
            f"longest standstill {blow.stood_still:5.1f} s"
            for blow in self.blows
        ]
        return "\n".join(lines)


@dataclass
class Course:
    """The servers, and what watches them."""

    cluster: NatsCluster
    db: asyncpg.Connection
    stream: Stream
    account: Account
    say: Callable[[str], None]

    async def leader(self) -> NatsServer:
        """The node that leads the stream, once all copies are complete."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                with contextlib.suppress(NotConnected, StreamUnavailable):
                    copies = await self.stream.copies()
                    if copies.leader and not copies.behind:
                        return self.cluster.node(copies.leader)
                await asyncio.sleep(_LOOK_SECONDS)

    async def suffer(self, what: str, blow: Callable[[], Awaitable[None]]) -> None:
        """Inflict a blow, and note how long it was felt."""
        await self.leader()
        self.say(what)
        begun = time.time()
        await blow()
        recovered = await self.passes(begun)
        await self.leader()
        moments = [row["at"] for row in await self.db.fetch(SQL.ends)]
        gaps = [b - a for a, b in itertools.pairwise(moments) if b > begun]
        self.account.blows.append(Blow(what, recovered - begun, max(gaps)))

    async def passes(self, begun: float) -> float:
        """Wait for the end of a job that was created after that moment; when it ended."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while (  # noqa: ASYNC110 - other processes end them
                moment := await self.db.fetchval(SQL.first_end, begun)
            ) is None:
                await asyncio.sleep(_LOOK_SECONDS)
        return float(moment)


async def run(folder: Path, frozen_seconds: float, say: Callable[[str], None] = print) -> Account:
    """All three blows; the leader stays frozen for so long, and at least until a job passed."""
    async with _running(folder, say) as course:
        cluster = course.cluster

        async def kill() -> None:
            leader = await course.leader()
            leader.kill()
            await course.passes(time.time())
            await leader.start()

        async def freeze() -> None:
            leader, begun = await course.leader(), time.time()
            leader.pause()
            try:
                await course.passes(begun)
                await asyncio.sleep(max(0.0, begun + frozen_seconds - time.time()))
            finally:
                leader.resume()

        async def restart_in_turn() -> None:
            for node in cluster.nodes:
                await course.leader()
                await node.stop()
                await node.start()

        await course.suffer("leader killed", kill)
        await course.suffer(f"leader frozen {frozen_seconds:.0f} s", freeze)
        await course.suffer("nodes restarted in turn", restart_in_turn)
    return course.account


@contextlib.asynccontextmanager
async def _running(folder: Path, say: Callable[[str], None]) -> AsyncIterator[Course]:
    """The servers, a core, a service that answers at once, and a trickle of jobs."""
    async with (
        PostgresServer(folder / "postgres", fsync=False) as postgres,
        NatsCluster(folder / "nats", fsync=False) as cluster,
    ):
        dsn = postgres.env()["DATABASE_URL"]
        await migrate(dsn)
        exchange = {**cluster.env(), **TRANSPORTS[Transport.JETSTREAM]}
        env = environment({"DATABASE_URL": dsn, **exchange, **NO_STORE})
        arguments = ["core", "--port", str(free_port())]
        core = ArmkaVictim("core", arguments, env, folder / "core.log")
        db = await asyncpg.connect(dsn)
        settings = NatsSettings.model_validate(exchange)
        try:
            async with echoing(settings) as both, asyncio.TaskGroup() as group:
                assert both.stream is not None
                await core.start()
                course = Course(cluster, db, both.stream, Account(), say)
                trickle = group.create_task(_trickle(dsn))
                await course.passes(0.0)
                yield course
                trickle.cancel()
                await _reckon(course)
        finally:
            await core.end()
            await db.close()


async def _trickle(dsn: str) -> None:
    db = await asyncpg.connect(dsn)
    try:
        for number in itertools.count():
            await db.execute(SQL.add_jobs, number, number)
            await asyncio.sleep(_BETWEEN_JOBS_SECONDS)
    finally:
        db.terminate()


async def _reckon(course: Course) -> None:
    db, account = course.db, course.account
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while await db.fetchval(SQL.open_jobs):  # noqa: ASYNC110 - other processes end them
            await asyncio.sleep(_LOOK_SECONDS)
    account.jobs = len(await db.fetch(SQL.ends))
    account.violations = [row["subject"] for row in await db.fetch(SQL.otherwise, CODE)]
    account.violations += [str(one) for one in await broken(db)]


def main() -> int:
    """Read the arguments, run, report."""
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("--frozen", type=float, default=45.0, help="seconds the leader is frozen")
    arguments = parser.parse_args()
    # The echo in this process would tell of every outage.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="armka-cluster-") as folder:
        account = asyncio.run(run(Path(folder), arguments.frozen))
    print(account.text())
    return 1 if account.violations else 0


if __name__ == "__main__":
    sys.exit(main())
