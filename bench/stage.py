"""The servers of a run, and for each round a database of its own and the processes in it."""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg

from armka.contract.subjects import DEFAULTS, Subjects, Transport
from armka.core.database.migrations import migrate
from armka.core.database.queries import load
from armka.stack import NatsServer, PostgresServer

SQL = load(__package__)
READY_SECONDS = 30.0
ROUND_SECONDS = 300.0
_POLL_SECONDS = 0.01


class MeasuredPostgres(PostgresServer):
    """Durable (fsync on), and counting its statements."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, fsync=True)
        self._settings = self._settings | {
            "shared_preload_libraries": "pg_stat_statements",
            "pg_stat_statements.track": "top",
        }


class RoundFailed(Exception):
    """A contestant did not finish its jobs, or its process ended."""

    def __init__(self, what: str) -> None:
        super().__init__(what)


@dataclass
class Process:
    """A process of a round; what it says goes to `log`."""

    process: asyncio.subprocess.Process
    log: Path
    url: str = ""

    @property
    def pid(self) -> int:
        """Its pid."""
        return self.process.pid

    def fail_if_ended(self) -> None:
        """Raise RoundFailed with the end of its log."""
        if self.process.returncode is not None:
            tail = self.log.read_text()[-2000:]
            raise RoundFailed(f"{self.log.stem} ended with {self.process.returncode}: {tail}")

    async def says(self, word: str) -> None:
        """Wait until its log holds a word."""
        end = time.monotonic() + READY_SECONDS
        while word not in self.log.read_text():
            self.fail_if_ended()
            if time.monotonic() > end:
                raise RoundFailed(f"{self.log.stem} did not say {word!r}: {self.log.read_text()}")
            await asyncio.sleep(_POLL_SECONDS)

    async def stop(self) -> None:
        """SIGTERM, then wait."""
        if self.process.returncode is None:
            self.process.terminate()
            try:
                async with asyncio.timeout(READY_SECONDS):
                    await self.process.wait()
            except TimeoutError:
                self.process.kill()
                await self.process.wait()


class Stage:
    """Where a round takes place."""

    def __init__(
        self,
        folder: Path,
        postgres: MeasuredPostgres,
        nats: NatsServer,
        template: str,
        silence: socket.socket,
    ) -> None:
        self._folder = folder
        self._template = template
        self._silence = silence
        self.postgres = postgres
        self.nats = nats
        self.dsn = ""
        self._processes: list[Process] = []

    @contextlib.asynccontextmanager
    async def round(self) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
        """A fresh, migrated database; the round's processes are ended with it."""
        name = f"round_{uuid4().hex}"
        await self._administer(f"create database {name} template {self._template}")
        self.dsn = self.postgres.database_url(name)
        connection = await asyncpg.connect(self.dsn)
        try:
            await connection.execute(SQL.enable_statements)
            await connection.execute(SQL.settle_server)
            yield connection
        finally:
            for process in reversed(self._processes):
                await process.stop()
            self._processes.clear()
            await connection.close()
            await self._administer(f"drop database {name} with (force)")

    async def start(self, name: str, *arguments: str, **settings: str) -> Process:
        """Start a Python module of ours in a process of its own."""
        log = self._folder / f"{name}-{uuid4().hex[:8]}.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", *arguments,
                env=self._environment(settings), stdout=output, stderr=output,
            )  # fmt: skip
        started = Process(process, log)
        self._processes.append(started)
        return started

    async def echo(self, subjects: Subjects = DEFAULTS[Transport.CORE]) -> Process:
        """The service of the round, subscribed."""
        words = (subjects.tabular_request, subjects.result)
        process = await self.start("echo", "bench.echo", self.nats.url, *words)
        await process.says("ready")
        return process

    async def core(self, **settings: str) -> Process:
        """A core, listening to NATS and to the database."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        process = await self.start("core", "armka.cli", "core", "--port", port, **settings)
        process.url = f"http://127.0.0.1:{port}"
        await process.says("nats connected")
        await process.says("listening to the database")
        return process

    def _environment(self, settings: dict[str, str]) -> dict[str, str]:
        # The exchange never touches S3. The mapping cycle, which does, is not what is measured: it
        # waits for a store that takes connections and never answers.
        away = {
            "S3_ENDPOINT_URL": f"http://127.0.0.1:{self._silence.getsockname()[1]}",
            "DRAIN_SECONDS": "1",
            "S3_BUCKET": "arm-ka",
            "S3_ACCESS_KEY_ID": "nobody",
            "S3_SECRET_ACCESS_KEY": "nobody",
        }
        usual = {"DATABASE_URL": self.dsn, "NATS_URL": self.nats.url, "PYTHONUNBUFFERED": "1"}
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return kept | away | usual | settings

    async def _administer(self, statement: str) -> None:
        await administer(self.postgres, statement)


async def administer(postgres: PostgresServer, statement: str) -> None:
    """Execute a statement that concerns the whole server."""
    connection = await asyncpg.connect(postgres.database_url("postgres"))
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@contextlib.asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """The servers, for the time of a run."""
    async with (
        MeasuredPostgres(folder / "postgres") as postgres,
        NatsServer(folder / "nats") as nats,
    ):
        template = "bench_template"
        await administer(postgres, f"create database {template}")
        await migrate(postgres.database_url(template))
        with socket.create_server(("127.0.0.1", 0), backlog=100) as silence:
            yield Stage(folder, postgres, nats, template, silence)


async def until_idle(
    connection: "asyncpg.Connection[asyncpg.Record]", question: str, processes: list[Process]
) -> None:
    """Wait until the question about open work is answered with no."""
    end = time.monotonic() + ROUND_SECONDS
    while await connection.fetchval(question):
        for process in processes:
            process.fail_if_ended()
        if time.monotonic() > end:
            raise RoundFailed(f"not done within {ROUND_SECONDS:.0f} s")
        await asyncio.sleep(_POLL_SECONDS)
