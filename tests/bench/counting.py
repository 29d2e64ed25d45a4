"""A PostgreSQL that counts what does not depend on the machine, and a wire that counts turns."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from armka.stack import PostgresServer


class CountingPostgres(PostgresServer):
    """Nothing in it writes but the test: no vacuum, no whole pages after a checkpoint."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, fsync=False)
        self._settings = self._settings | {
            "autovacuum": "off",
            "shared_preload_libraries": "pg_stat_statements",
            "pg_stat_statements.track": "top",
        }


@dataclass
class Turns:
    """How often a client spoke after it had been answered: its round trips."""

    count: int = 0


@contextlib.asynccontextmanager
async def counted_wire(host: str, port: int) -> AsyncIterator[tuple[int, Turns]]:
    """A local port that leads to the server, and the round trips that went through it."""
    turns = Turns()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await _carry(host, port, reader, writer, turns)
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], turns
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _carry(
    host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, turns: Turns
) -> None:
    up, out = await asyncio.open_connection(host, port)
    answered = True

    async def ask() -> None:
        nonlocal answered
        while data := await reader.read(1 << 16):
            turns.count += answered
            answered = False
            out.write(data)

    async def answer() -> None:
        nonlocal answered
        while data := await up.read(1 << 16):
            answered = True
            writer.write(data)

    asking, answering = asyncio.ensure_future(ask()), asyncio.ensure_future(answer())
    try:
        await asyncio.wait((asking, answering), return_when=asyncio.FIRST_COMPLETED)
    finally:
        asking.cancel()
        answering.cancel()
        out.close()
        writer.close()
