"""HTTP by hand: requests that no decent client would send."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

BOUNDARY = b"----armka"


@dataclass(frozen=True)
class Answer:
    """What came back; `status` 0: the server hung up without a word."""

    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


def part(headers: str, content: bytes, boundary: bytes = BOUNDARY) -> bytes:
    """One part of a form."""
    return b"--" + boundary + b"\r\n" + headers.encode() + b"\r\n\r\n" + content + b"\r\n"


def file_part(name: str, content: bytes) -> bytes:
    """The part `file`, its name as raw UTF-8."""
    return part(f'Content-Disposition: form-data; name="file"; filename="{name}"', content)


def form(*parts: bytes, boundary: bytes = BOUNDARY) -> bytes:
    """A whole form."""
    return b"".join(parts) + b"--" + boundary + b"--\r\n"


def head(*headers: str, content_type: str | None = None) -> bytes:
    """The head of an upload."""
    kind = content_type or f"multipart/form-data; boundary={BOUNDARY.decode()}"
    lines = ("POST /api/v1/files HTTP/1.1", "Host: core", f"Content-Type: {kind}", *headers)
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def chunked(pieces: Sequence[bytes]) -> bytes:
    """A body of unknown length."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@contextlib.asynccontextmanager
async def connection(
    port: int,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection to the core."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def send(port: int, request: bytes) -> Answer:
    """Send bytes, read the answer."""
    async with connection(port) as (reader, writer):
        with contextlib.suppress(ConnectionError):  # it may answer before it has heard all
            writer.write(request)
            await writer.drain()
        async with asyncio.timeout(30):
            return await read(reader)


async def post(port: int, body: bytes, *, content_type: str | None = None) -> Answer:
    """Upload a body with its length."""
    return await send(port, head(f"Content-Length: {len(body)}", content_type=content_type) + body)


async def read(reader: asyncio.StreamReader) -> Answer:
    """Read one answer."""
    try:
        status = int((await reader.readline()).split()[1])
        length = 0
        while (line := await reader.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return Answer(status, await reader.readexactly(length))
    except (ConnectionError, IndexError, asyncio.IncompleteReadError):
        return Answer(0, b"")
