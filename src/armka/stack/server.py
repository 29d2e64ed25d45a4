"""What the embedded servers have in common: start on free ports, be ready, end, come back."""

import asyncio
import re
import signal
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from armka.stack.errors import PortTaken, ServerFailed
from armka.stack.folder import FolderLock, adopt, replace_private
from armka.stack.identity import Command, Identity
from armka.stack.ports import free_ports, is_free
from armka.stack.supervised import Supervised

_PORT_ATTEMPTS = 5
_PROBE_PAUSE_SECONDS = 0.02
_PORT_TAKEN = re.compile(r"address already in use|is not available on", re.IGNORECASE)


class Server(ABC):
    """One server with its own folder `home` (data, lock, secrets) and a log file.

    Ports are chosen at the first start and kept for the object's life, so that clients find it
    again after a restart. Objects are bound to no event loop.
    """

    name: ClassVar[str]
    port_count: ClassVar[int] = 1
    ready_seconds: ClassVar[float] = 60.0

    def __init__(self, home: Path, *, log: Path | None = None) -> None:
        """`log` defaults to the file `home.log` beside the folder."""
        self.home = home.absolute()
        self.log = (log or home.with_name(f"{home.name}.log")).absolute()
        self.ports: tuple[int, ...] = ()
        self._process: Supervised | None = None

    @property
    def port(self) -> int:
        """Where clients connect; known once it was started."""
        return self.ports[0]

    @property
    def pid(self) -> int:
        """The server's own process."""
        return self._running.pid

    @property
    @abstractmethod
    def url(self) -> str:
        """The address for clients."""

    @abstractmethod
    def env(self) -> dict[str, str]:
        """The settings by which arm-ka's processes find this server."""

    @abstractmethod
    async def _prepare(self) -> Identity:
        """Make data and configuration; say who runs the server."""

    @abstractmethod
    def _command(self) -> Command:
        """The server's command line on `self.ports`."""

    def _suits(self, port: int) -> bool:  # noqa: ARG002 - what a server asks of a port but that it is free
        return True

    @abstractmethod
    async def _is_ready(self) -> bool:
        """One real request, bounded to about a second: does it serve?"""

    async def start(self) -> None:
        """Return when the server answers real requests. It may have run before, and been killed."""
        await self.stop()
        adopt(self.home)
        lock = FolderLock(self.home)
        descriptor = await lock.acquire()
        try:
            identity = await self._prepare()
            await self._start_on_ports(identity, descriptor)
        finally:
            lock.release()  # the server holds it from here

    async def _start_on_ports(self, identity: Identity, lock: int) -> None:
        if self.ports:
            return await self._start_once(identity, lock)
        if remembered := self._remembered_ports():
            try:
                return await self._start_on(remembered, identity, lock)
            except PortTaken:
                pass  # somebody else has one of them by now
        for _ in range(_PORT_ATTEMPTS - 1):
            try:
                return await self._start_on_new_ports(identity, lock)
            except PortTaken:
                continue
        return await self._start_on_new_ports(identity, lock)

    async def _start_on_new_ports(self, identity: Identity, lock: int) -> None:
        await self._start_on(tuple(free_ports(self.port_count, self._suits)), identity, lock)

    async def _start_on(self, ports: tuple[int, ...], identity: Identity, lock: int) -> None:
        self.ports = ports
        try:
            await self._start_once(identity, lock)
        except BaseException:
            self.ports = ()
            raise
        replace_private(self._ports_file, " ".join(map(str, ports)) + "\n")

    @property
    def _ports_file(self) -> Path:
        return self.home / "ports"

    def _remembered_ports(self) -> tuple[int, ...]:
        """The last run's ports where still free, so that its clients find the server again."""
        if not self._ports_file.exists():
            return ()
        ports = tuple(int(word) for word in self._ports_file.read_text().split())
        usable = len(ports) == self.port_count and all(map(is_free, ports))
        return ports if usable and all(map(self._suits, ports)) else ()

    async def _start_once(self, identity: Identity, lock: int) -> None:
        self._process = Supervised(self.name, self._command().plan(identity), keep=(lock,))
        try:
            await self._process.started()
            async with asyncio.timeout(self.ready_seconds):
                while not await self._is_ready():
                    self._refuse_if_ended(self._process)
                    await asyncio.sleep(_PROBE_PAUSE_SECONDS)
            self._refuse_if_ended(self._process)
        except TimeoutError:
            tail = self._process.log_tail()
            await self.stop()
            what = f"was not ready within {self.ready_seconds:.0f} s"
            raise ServerFailed(self.name, what, self.log, tail) from None
        except BaseException:
            await self.stop()
            raise

    def _refuse_if_ended(self, process: Supervised) -> None:
        if (status := process.exit_status) is None:
            return
        tail = process.log_tail()
        kind = PortTaken if _PORT_TAKEN.search(tail) else ServerFailed
        raise kind(self.name, f"ended while starting (exit status {status})", self.log, tail)

    async def stop(self) -> None:
        """Stop in an orderly way, paused or not; does nothing where it does not run."""
        process, self._process = self._process, None
        if process is not None:
            await process.stop()

    async def died(self) -> ServerFailed:
        """Wait until the server ends, and say how."""
        process = self._running
        status = await process.ended()
        what = f"(pid {process.pid}) ended unexpectedly (exit status {status})"
        return ServerFailed(self.name, what, self.log, process.log_tail())

    def kill(self) -> None:
        """`kill -9` of the whole server at once, as a power cut would; `start()` brings it back."""
        self._running.signal(signal.SIGKILL)

    def pause(self) -> None:
        """Freeze it (SIGSTOP): connections stay open and nobody answers."""
        self._running.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """End a `pause()`."""
        self._running.signal(signal.SIGCONT)

    @property
    def _running(self) -> Supervised:
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
