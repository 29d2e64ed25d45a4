"""Ways to a server that break off at the worst moment."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit, urlunsplit

Look = Callable[[bytes], bool]


@contextlib.asynccontextmanager
async def proxy(url: str, forth: Look, back: Look) -> AsyncIterator[str]:
    """Pass everything on; yields the address of the server behind it.

    Each piece that comes from a client is shown to `forth`, each from the server to `back`: where
    one returns False, that piece is swallowed and its connection ends.
    """
    parts = urlsplit(url)

    open_ones: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back_reader, back_writer = await asyncio.open_connection(parts.hostname, parts.port)
        ways = [
            asyncio.create_task(_pass(reader, back_writer, forth)),
            asyncio.create_task(_pass(back_reader, writer, back)),
        ]
        open_ones.update(ways)
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        open_ones.difference_update(ways)
        for end in (writer, back_writer):
            end.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    netloc = parts.netloc.replace(f":{parts.port}", f":{port}")
    try:
        yield urlunsplit(parts._replace(netloc=netloc))
    finally:
        server.close()
        while open_ones:
            for way in list(open_ones):
                way.cancel()
            await asyncio.sleep(0)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, look: Look) -> None:
    while data := await reader.read(65536):
        if not look(data):
            return
        writer.write(data)
        await writer.drain()


@contextlib.asynccontextmanager
async def deaf_proxy(url: str, *, until_sent: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """The answer to what contains these bytes is swallowed, once; yields what was swallowed too."""
    sent = asyncio.Event()
    swallowed: list[bytes] = []

    def forth(data: bytes) -> bool:
        if until_sent in data and not swallowed:
            sent.set()
        return True

    def back(data: bytes) -> bool:
        if not sent.is_set() or swallowed:
            return True
        swallowed.append(data)
        return False

    async with proxy(url, forth, back) as address:
        yield address, swallowed


@contextlib.asynccontextmanager
async def refusing_proxy(url: str, refused: set[bytes]) -> AsyncIterator[str]:
    """A request that contains one of these words ends its connection."""
    async with proxy(
        url, lambda data: not any(word in data for word in refused), lambda _: True
    ) as address:
        yield address
