"""Replicas of the core behind one address: each connection goes to the next that takes it."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from urllib.parse import urlsplit

_PIECE_BYTES = 64 * 1024


class RoundRobin:
    """What a load balancer does, as plainly as can be."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls
        self._turns = itertools.cycle(urls)
        self._asked: dict[bytes, str] = {}
        self.url = ""

    def last_asked(self, path: str) -> str | None:
        """Which replica was the last to be asked for a path."""
        found = [url for line, url in self._asked.items() if line.startswith(path.encode())]
        return found[-1] if found else None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, for as long as both sides keep it."""
        for url in itertools.islice(self._turns, len(self._urls)):
            where = urlsplit(url)
            try:
                there, back = await asyncio.open_connection(where.hostname, where.port)
            except OSError:
                continue
            ways = [self._pass_on(reader, back, url), self._pass_on(there, writer, None)]
            tasks = [asyncio.create_task(way) for way in ways]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            back.close()
            break
        writer.close()

    async def _pass_on(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, asked: str | None
    ) -> None:
        while piece := await source.read(_PIECE_BYTES):
            if asked and piece.startswith(b"GET "):
                path = piece.split(b" ", 2)[1]
                self._asked.pop(path, None)
                self._asked[path] = asked
            sink.write(piece)
            await sink.drain()


@contextlib.asynccontextmanager
async def round_robin(urls: Sequence[str]) -> AsyncIterator[RoundRobin]:
    """An address before these replicas."""
    balancer = RoundRobin(urls)
    server = await asyncio.start_server(balancer.serve, "127.0.0.1", 0)
    balancer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield balancer
    finally:
        server.close()
