"""A way to a server that can be spoiled: the proxy of the half-open connections."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

_PIECE_BYTES = 64 * 1024


class Manner(StrEnum):
    """How a connection is treated."""

    PASS = "pass"  # noqa: S105 - no password: to pass on
    STALL = "stall"  # half-open: bytes are taken and swallowed, nothing comes back
    CUT = "cut"  # closed, and new ones are closed as they come


Which = Callable[["Line"], bool]


@dataclass(eq=False)
class Line:
    """One connection. `opening` is what the client said first, to tell its like from others."""

    number: int
    opening: bytes = b""
    manner: Manner | None = None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def end(self) -> None:
        """Close both sides."""
        for task in self.tasks:
            task.cancel()


class Proxy:
    """Passes everything on between clients and one server until told otherwise.

    A stalled line stays stalled, as a half-open connection does: `heal` lets new ones through.
    """

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._manners: list[tuple[Manner, Which]] = []
        self._traps: list[tuple[bytes, Manner]] = []
        self.tripped = asyncio.Event()
        self.delay_seconds = 0.0
        self.lines: list[Line] = []
        self.opened = 0

    @property
    def url(self) -> str:
        """The server's address by way of the proxy."""
        if self._server is None:
            raise RuntimeError("the proxy is not open")
        port = self._server.sockets[0].getsockname()[1]
        where = self._parts.netloc.replace(f":{self._parts.port}", f":{port}")
        return urlunsplit(self._parts._replace(netloc=where))

    def treat(self, manner: Manner, which: Which = lambda _: True) -> int:
        """From now on: these lines, and those to come that are like them; how many are open now."""
        self._manners.append((manner, which))
        chosen = [line for line in self.lines if which(line)]
        for line in chosen:
            line.manner = manner
            if manner is Manner.CUT:
                line.end()
        return len(chosen)

    def trap(self, words: bytes, manner: Manner) -> None:
        """The next line whose client says these words is treated so, before they are passed on."""
        self._traps.append((words, manner))

    def heal(self) -> None:
        """New connections pass."""
        self._manners.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        line = Line(self.opened)
        self.lines.append(line)
        try:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                far_reader, far_writer = await asyncio.open_connection(
                    self._parts.hostname, self._parts.port
                )
                try:
                    await self._join(line, (reader, writer), (far_reader, far_writer))
                finally:
                    far_writer.transport.abort()
        finally:
            self.lines.remove(line)
            writer.transport.abort()

    async def _join(
        self,
        line: Line,
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        line.tasks = [
            asyncio.create_task(self._carry(line, near[0], far[1], is_forth=True)),
            asyncio.create_task(self._carry(line, far[0], near[1], is_forth=False)),
        ]
        try:
            await asyncio.wait(line.tasks, return_when=asyncio.FIRST_COMPLETED)
            if line.manner is Manner.STALL:  # neither side hears that the other has gone
                await asyncio.wait(line.tasks)
        finally:
            line.end()
            await asyncio.gather(*line.tasks, return_exceptions=True)

    async def _carry(
        self,
        line: Line,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_forth: bool,
    ) -> None:
        while piece := await reader.read(_PIECE_BYTES):
            if is_forth:
                self._look(line, piece)
            if self.delay_seconds:
                await asyncio.sleep(self.delay_seconds)
            if line.manner is Manner.CUT:
                return
            if line.manner is not Manner.STALL:
                writer.write(piece)
                await writer.drain()

    def _look(self, line: Line, piece: bytes) -> None:
        """A line may be one of those that are treated, once it has said who it is; or trapped."""
        if len(line.opening) < _PIECE_BYTES:
            line.opening += piece
            for manner, which in self._manners:
                if which(line):
                    line.manner = manner
        for trap in [trap for trap in self._traps if trap[0] in piece]:
            self._traps.remove(trap)
            line.manner = trap[1]
            self.tripped.set()


@contextlib.asynccontextmanager
async def proxy(url: str) -> AsyncIterator[Proxy]:
    """A proxy in front of a server, for the time of the block."""
    made = Proxy(url)
    made._server = await asyncio.start_server(made._serve, "127.0.0.1", 0)  # noqa: SLF001
    try:
        yield made
    finally:
        made._server.close()  # noqa: SLF001
        while made.lines:
            for line in list(made.lines):
                line.end()
            await asyncio.sleep(0)
