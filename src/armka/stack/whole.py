"""The whole stack in one folder: all servers started together, ended together."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from armka.stack.errors import StackError
from armka.stack.folder import FolderLock, adopt, replace_private
from armka.stack.nats import NatsServer
from armka.stack.object_store import ObjectServer
from armka.stack.postgres import PostgresServer
from armka.stack.server import Server


class Stack:
    """PostgreSQL, NATS and S3 with their data in `data` (mode 0700), logs in `data/*.log`."""

    def __init__(self, data: Path, *, fsync: bool = True) -> None:
        self.data = data.absolute()
        self.postgres = PostgresServer(self.data / "postgres", fsync=fsync)
        self.nats = NatsServer(self.data / "nats", fsync=fsync)
        self.object_store = ObjectServer(self.data / "s3")
        self._lock: FolderLock | None = None

    @property
    def servers(self) -> tuple[Server, ...]:
        return self.postgres, self.nats, self.object_store

    @property
    def env_file(self) -> Path:
        """Written when all is ready, removed when it is no longer."""
        return self.data / "env"

    def env(self) -> dict[str, str]:
        """The settings by which arm-ka's processes find the three servers."""
        return {key: value for server in self.servers for key, value in server.env().items()}

    async def start(self, on_ready: Callable[[Server, float], None] | None = None) -> None:
        """Start all in parallel and tell `on_ready`; if one fails, none is left running."""
        adopt(self.data)
        lock = FolderLock(self.data)
        await lock.acquire()
        self._lock = lock
        self.env_file.unlink(missing_ok=True)
        try:
            await self._start_servers(on_ready)
        except BaseException:
            await self.stop()
            raise
        lines = (f"{key}={value}\n" for key, value in self.env().items())
        replace_private(self.env_file, "".join(lines))

    async def _start_servers(self, on_ready: Callable[[Server, float], None] | None) -> None:
        begun = time.monotonic()

        async def start(server: Server) -> None:
            await server.start()
            if on_ready:
                on_ready(server, time.monotonic() - begun)

        try:
            async with asyncio.TaskGroup() as group:
                for server in self.servers:
                    group.create_task(start(server))
        except* StackError as failures:
            raise _first(failures) from None

    async def died(self) -> StackError:
        """Wait until one of the servers ends by itself, and say which."""
        waits = [asyncio.ensure_future(server.died()) for server in self.servers]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for wait in waits:
                wait.cancel()

    async def stop(self) -> None:
        """Stop all in parallel; does nothing where it was not started, or was refused."""
        if self._lock is None:
            return
        self.env_file.unlink(missing_ok=True)
        await asyncio.gather(*(server.stop() for server in self.servers))
        self._lock.release()
        self._lock = None

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


def _first(failures: BaseExceptionGroup[StackError]) -> StackError:
    """One failure cancels the others, so the first is the cause."""
    failure = failures.exceptions[0]
    return failure if isinstance(failure, StackError) else _first(failure)
