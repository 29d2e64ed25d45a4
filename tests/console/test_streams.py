"""Live pages that come and go: what a cut stream leaves behind."""

import asyncio
from pathlib import Path

import pytest

from tests.console.chromium import Window
from tests.world import CoreProcess, until

STREAMS = 40


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts in /proc")
async def test_streams_that_are_cut_leave_no_connection_behind(
    window: Window, core: CoreProcess
) -> None:
    """Forty at once, cut without a word, twice; the core holds no more than before."""
    await window.page.goto("about:blank")
    jar = await window.context.cookies(core.url)
    cookie = "; ".join(f"{one['name']}={one['value']}" for one in jar)
    held = Path(f"/proc/{core.process.pid}/fd")

    def count() -> int:
        return len(list(held.iterdir()))

    async def opened() -> asyncio.StreamWriter:
        host, port = core.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        asked = f"GET /console/documents/live HTTP/1.1\r\nHost: {host}:{port}\r\n"
        writer.write(f"{asked}Cookie: {cookie}\r\n\r\n".encode())
        await asyncio.wait_for(reader.readuntil(b"retry: 1500"), 20)
        return writer

    before = count()
    for _ in range(2):
        writers = [await opened() for _ in range(STREAMS)]
        assert count() >= STREAMS
        for writer in writers:
            writer.transport.abort()

        async def is_as_before() -> bool:
            # The pool may have opened a few connections more meanwhile.
            return count() <= before + STREAMS // 4

        await until(is_as_before)
