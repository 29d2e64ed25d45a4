"""The processes under test, each behind the same verbs: servers of the stack, cores, services."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import httpx

from armka.contract.subjects import Transport
from armka.stack import Server, Stack
from armka.stack.guard import children_of
from armka.stack.identity import AS_IS, Command
from armka.stack.supervised import Supervised

_START_SECONDS = 60.0
_LOOK_SECONDS = 0.1
_DIED_OF_SIGTERM = 128 + signal.SIGTERM

# Short enough that a storm of minutes sees every timeout, long enough that a healthy exchange sees
# none.
SETTINGS = {
    "ACK_TIMEOUT_SECONDS": "4",
    "REPLY_TIMEOUT_SECONDS_TABULAR": "25",
    "WATCHDOG_PERIOD_SECONDS": "5",
    "OUTBOX_POLL_SECONDS": "2",
    "MAPPING_POLL_SECONDS": "2",
    "SERVICE_REPEAT_SECONDS": "2",
}


# How processes are told which transport they use.
TRANSPORTS: Mapping[Transport, Mapping[str, str]] = {
    Transport.CORE: {"NATS_TRANSPORT": "core"},
    Transport.JETSTREAM: {
        "NATS_TRANSPORT": "jetstream",
        "NATS_MANAGE_STREAM": "true",
        "NATS_ACK_WAIT_SECONDS": "5",
    },
}


# Where nothing reads or writes objects.
NO_STORE = {
    "S3_ENDPOINT_URL": "http://127.0.0.1:9",
    "S3_BUCKET": "arm-ka",
    "S3_ACCESS_KEY_ID": "nobody",
    "S3_SECRET_ACCESS_KEY": "nobody",
}


class Victim(ABC):
    """A process that can be harmed and healed. `unforeseen` collects ends that nobody caused."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.unforeseen: list[str] = []

    @abstractmethod
    async def start(self) -> None:
        """Return when it has begun; a core or a service may still wait for its servers."""

    @abstractmethod
    async def stop(self) -> None:
        """In order, as an operator would; one that does not end is killed, and that is noted."""

    @abstractmethod
    async def kill(self) -> None:
        """As a power cut would."""

    @abstractmethod
    def freeze(self) -> None:
        """Hold it still, with its connections open."""

    @abstractmethod
    def thaw(self) -> None:
        """End a `freeze`."""


class ServerVictim(Victim):
    """One server of the stack."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.name)
        self._server = server

    async def start(self) -> None:
        """See `Victim.start`."""
        await self._server.start()

    async def stop(self) -> None:
        """See `Victim.stop`."""
        await self._server.stop()

    async def kill(self) -> None:
        """See `Victim.kill`."""
        self._server.kill()

    def freeze(self) -> None:
        """See `Victim.freeze`."""
        self._server.pause()

    def thaw(self) -> None:
        """See `Victim.thaw`."""
        self._server.resume()


class ArmkaVictim(Victim):
    """One `armka` command, logging to `folder/name.log`; it does not outlive this process."""

    def __init__(self, name: str, arguments: list[str], env: Mapping[str, str], log: Path) -> None:
        super().__init__(name)
        self.log = log
        argv = (sys.executable, "-m", "armka.cli", *arguments)
        self._command = Command(argv, log.parent, log, tuple(env.items()), grace_seconds=60)
        self._process: Supervised | None = None
        self._orphans: list[_Alive] = []

    async def start(self) -> None:
        """See `Victim.start`."""
        self._process = Supervised(self.name, self._command.plan(AS_IS))
        await self._process.started()

    async def stop(self) -> None:
        """See `Victim.stop`."""
        self._must_run()
        # One that has not begun yet knows no better than to die of it.
        allowed = (0,) if self._running.has_said('"event"') else (0, _DIED_OF_SIGTERM)
        if (status := await self._running.stop()) not in allowed:
            self.unforeseen.append(f"{self.name} answered SIGTERM with {status}")

    async def kill(self) -> None:
        """See `Victim.kill`. Its children, if it has any, must notice by themselves."""
        self._must_run()
        self._orphans += _children(self._running.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._running.pid, signal.SIGKILL)
        await self._running.ended()

    def freeze(self) -> None:
        """See `Victim.freeze`."""
        self._running.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """See `Victim.thaw`."""
        self._running.signal(signal.SIGCONT)

    async def run(self) -> int:
        """Start it and wait for its end."""
        await self.start()
        return await self._running.ended()

    async def end(self) -> None:
        """Leave nothing of it."""
        if self._process is not None:
            self._process.signal(signal.SIGKILL)
            await self._process.ended()

    def left_behind(self) -> list[int]:
        """The children of killed runs that are still alive."""
        return [child.pid for child in self._orphans if child == _alive(child.pid)]

    def _must_run(self) -> None:
        if (status := self._running.exit_status) is not None:
            self.unforeseen.append(f"{self.name} had ended by itself ({status})")

    @property
    def _running(self) -> Supervised:
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process


class Cast:
    """All of them: three servers, two cores, two services."""

    def __init__(self, folder: Path, stack: Stack, transport: Transport) -> None:
        self.stack = stack
        self.folder = folder
        env = environment({**stack.env(), **TRANSPORTS[transport]})
        self.ports = {name: free_port() for name in ("core-1", "core-2")}
        cores = [
            ArmkaVictim(name, ["core", "--port", str(port)], env, folder / f"{name}.log")
            for name, port in self.ports.items()
        ]
        services = [
            ArmkaVictim(name, ["service", "tabular-parser"], env, folder / f"{name}.log")
            for name in ("service-1", "service-2")
        ]
        self.commands = [*cores, *services]
        servers = [ServerVictim(server) for server in stack.servers]
        self.victims: dict[str, Victim] = {v.name: v for v in (*servers, *cores, *services)}
        self._env = env

    @property
    def urls(self) -> list[str]:
        """The API of each core."""
        return [f"http://127.0.0.1:{port}" for port in self.ports.values()]

    async def begin(self) -> None:
        """Migrate, start the commands, and wait until both cores have all they need."""
        migration = ArmkaVictim("migrate", ["migrate"], self._env, self.folder / "migrate.log")
        if (status := await migration.run()) != 0:
            raise RuntimeError(f"armka migrate ended with {status}: {migration.log.read_text()}")
        for command in self.commands:
            await command.start()
        async with asyncio.timeout(_START_SECONDS), httpx.AsyncClient(trust_env=False) as http:
            for url in self.urls:
                while not await _serves(http, url):  # noqa: ASYNC110 - another process answers
                    await asyncio.sleep(_LOOK_SECONDS)

    async def end(self) -> None:
        """Leave nothing of the commands."""
        await asyncio.gather(*(command.end() for command in self.commands))


@contextlib.asynccontextmanager
async def running(folder: Path, transport: Transport) -> AsyncIterator[Cast]:
    """All of them, for the time of the block."""
    async with Stack(folder / "servers") as stack:
        cast = Cast(folder, stack, transport)
        try:
            await cast.begin()
            yield cast
        finally:
            await cast.end()


class _Alive(NamedTuple):
    """A process; the moment of its start tells it from a later one of the same pid (Linux)."""

    pid: int
    started: str


def _alive(pid: int) -> _Alive | None:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        state, *numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if state == "Z" else _Alive(pid, numbers[18])
    return None


def _children(pid: int) -> list[_Alive]:
    return [child for each in children_of(pid) if (child := _alive(each))]


async def _serves(http: httpx.AsyncClient, url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        answer = (await http.get(f"{url}/healthcheck")).json()
        return bool(answer.get("nats") == "connected")
    return False


def environment(servers: Mapping[str, str]) -> dict[str, str]:
    """What the processes under test see."""
    inherited = {
        name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ
    }
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    return inherited | dict(servers) | SETTINGS | {"PYTHONPATH": paths}


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
