"""Live pages that come and go: what a cut stream leaves behind."""

import asyncio
from pathlib import Path

import pytest

from tests.console.chromium import Window
from tests.world import CoreProcess, until

STREAMS = 40
CONNECTIONS = Path("/proc/net/tcp")
_LISTENS, _TIME_WAIT = "0A", "06"


def connections(port: int) -> int:
    """How many connections this port has, the half-closed among them, as the kernel knows them."""
    lines = (line.split() for line in CONNECTIONS.read_text().splitlines()[1:])
    own = (line[3] for line in lines if line[1].endswith(f":{port:04X}"))
    return sum(state not in (_LISTENS, _TIME_WAIT) for state in own)


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="counts in /proc")
async def test_streams_that_are_cut_leave_no_connection_behind(
    window: Window, core: CoreProcess
) -> None:
    """Forty at once, cut without a word; the core holds none of them, nor of the second forty."""
    jar = await window.context.cookies(core.url)
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in jar)
    host, port = core.url.removeprefix("http://").split(":")
    # The browser holds connections of its own.
    await window.page.close()

    async def opened() -> asyncio.StreamWriter:
        reader, writer = await asyncio.open_connection(host, int(port))
        asked = f"GET /console/documents/live HTTP/1.1\r\nHost: {host}:{port}\r\n"
        writer.write(f"{asked}Cookie: {cookie}\r\n\r\n".encode())
        await asyncio.wait_for(reader.readuntil(b"retry: 1500"), 20)
        return writer

    for _ in range(2):
        before = connections(int(port))
        writers = [await opened() for _ in range(STREAMS)]
        assert connections(int(port)) >= STREAMS
        for writer in writers:
            writer.transport.abort()

        async def are_gone(before: int = before) -> bool:
            return connections(int(port)) <= before

        await until(are_gone)
