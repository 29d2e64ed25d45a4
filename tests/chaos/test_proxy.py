"""The proxy does what it is told, and nothing else."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from chaos.proxy import Manner, Proxy, proxy

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Echo(asyncio.Protocol):
    """Repeats what it hears."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()


@pytest.fixture
async def way() -> AsyncIterator[Proxy]:
    """A proxy before a server that repeats what it hears; at the end, all connections are."""
    ends: asyncio.Queue[None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Echo(lambda: ends.put_nowait(None)), "127.0.0.1", 0)
    async with server:
        address = f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}/db"
        async with proxy(address) as made:
            yield made
        for _ in range(made.opened):
            await asyncio.wait_for(ends.get(), 5)


@contextlib.asynccontextmanager
async def line(way: Proxy) -> AsyncIterator[Ends]:
    host, _, port = way.url.removeprefix("tcp://").removesuffix("/db").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()


async def said(ends: Ends, words: bytes) -> bytes:
    ends[1].write(words)
    return await asyncio.wait_for(ends[0].readexactly(len(words)), 5)


async def hears_nothing(ends: Ends, words: bytes) -> bool:
    """Nothing comes back, and the connection looks well."""
    ends[1].write(words)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ends[0].read(1), 0.2)
    return not ends[1].is_closing()


async def test_it_passes_everything_on(way: Proxy):
    async with line(way) as ends:
        assert await said(ends, b"hello") == b"hello"
        way.delay_seconds = 0.01
        assert await said(ends, b"slowly") == b"slowly"


async def test_a_stalled_line_stays_so_and_new_ones_pass_after_healing(way: Proxy):
    async with line(way) as old:
        await said(old, b"hello")
        assert way.treat(Manner.STALL) == 1
        assert await hears_nothing(old, b"?")
        async with line(way) as unlucky:
            assert await hears_nothing(unlucky, b"?")
        way.heal()
        assert await hears_nothing(old, b"?")
        async with line(way) as new:
            assert await said(new, b"hello") == b"hello"


async def test_only_lines_that_are_like_it_are_treated(way: Proxy):
    async with line(way) as one, line(way) as other:
        await said(one, b"I listen"), await said(other, b"I work")
        assert way.treat(Manner.STALL, lambda it: b"listen" in it.opening) == 1
        assert await hears_nothing(one, b"?")
        assert await said(other, b"still") == b"still"


async def test_a_cut_line_ends(way: Proxy):
    async with line(way) as ends:
        await said(ends, b"hello")
        way.treat(Manner.CUT)
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(ends[0].read(1), 5) == b""


async def test_a_trap_takes_the_one_that_says_the_words(way: Proxy):
    async with line(way) as ends, line(way) as other:
        way.trap(b"COMMIT", Manner.STALL)
        assert await said(ends, b"BEGIN") == b"BEGIN"
        assert await hears_nothing(ends, b"COMMIT")
        assert way.tripped.is_set()
        assert await said(other, b"COMMIT") == b"COMMIT"
