"""A recognition service that does nothing, as cheaply as can be: acknowledges and answers at once.

It speaks NATS over a plain socket, so that the client library's cost is the core's own only. A
request that carries a reply subject (a peer's) gets the result there; any other is answered as the
contract says, the result with a reply subject of its own (I8), whose answers it counts.
"""

import asyncio
import sys
from typing import cast
from urllib.parse import urlsplit

import msgspec

REQUESTS = b"files.tabular_uploaded"
RESULTS = b"files.tabular_parsed"
_ANSWERS = b"echo.answers"
_HEADER = b"NATS/1.0\r\nNats-Msg-Id: %b\r\n\r\n"
_COMMON = (
    b'{"schema_version":"1.0","job_id":"%b","file_id":"%b",'
    b'"service":{"name":"echo","version":"1.0"},'
)
_PROCESSING = _COMMON + b'"status":"processing"}'
_DONE = (
    _COMMON + b'"status":"done","result_s3":{"bucket":"arm-ka","key":"results/%b/%b/result.json"},'
    b'"result_schema_version":"1.0","metrics":{"documents":1,"lines":120,"pages":3,'
    b'"seconds":0.25,"checks":{"passed":13,"failed":0}}}'
)


class _Request(msgspec.Struct):
    job_id: str
    file_id: str
    attempt: int


_decoder = msgspec.json.Decoder(_Request)


class Echo(asyncio.Protocol):
    """One connection to NATS."""

    def __init__(self, requests: bytes, results: bytes) -> None:
        self._requests, self._results = requests, results
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        # A request that a stream takes carries the reply subject of its publisher's PubAck.
        self._is_captured = requests != REQUESTS
        self.closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The loop's own transport is none by its class, only by what it can do.
        self._transport = writer = cast("asyncio.Transport", transport)
        writer.write(
            b'CONNECT {"verbose":false,"pedantic":false,"headers":true,"name":"echo"}\r\n'
            b"SUB " + self._requests + b" echo 1\r\nSUB " + _ANSWERS + b" 2\r\nPING\r\n"
        )

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's
        self.closed.set()

    def data_received(self, data: bytes) -> None:
        buffer, start = self._buffer + data, 0
        out: list[bytes] = []
        while (end := buffer.find(b"\r\n", start)) >= 0:
            line = buffer[start:end].split(b" ")
            taken = _body_bytes(line)
            if end + 2 + taken > len(buffer):
                break
            out += self._heard(line, buffer[end + 2 : end + taken])
            start = end + 2 + taken
        self._buffer = buffer[start:]
        if out and self._transport is not None:
            self._transport.write(b"".join(out))

    def _heard(self, line: list[bytes], message: bytes) -> list[bytes]:
        kind = line[0]
        if kind == b"PING":
            return [b"PONG\r\n"]
        if kind == b"PONG":
            print("ready", flush=True)  # noqa: T201 - the bench waits for it
        if kind not in (b"MSG", b"HMSG") or line[2] != b"1":
            return []
        head = 3 + (kind == b"HMSG") + 1
        body = message[int(line[-2]) :] if kind == b"HMSG" else message
        reply = line[3] if len(line) > head and not self._is_captured else None
        return list(_answers(_decoder.decode(body), reply, self._results))


def _body_bytes(line: list[bytes]) -> int:
    """What follows a control line: a body and its line end, for messages."""
    return int(line[-1]) + 2 if line[0] in (b"MSG", b"HMSG") else 0


def _answers(request: _Request, reply: bytes | None, results: bytes) -> list[bytes]:
    job, file = request.job_id.encode(), request.file_id.encode()
    done = _DONE % (job, file, file, job)
    if reply is not None:
        return [b"PUB %b %d\r\n%b\r\n" % (reply, len(done), done)]
    ident = b"%b:%d" % (job, request.attempt)
    return [
        _publication(results, b"", b"ack:" + ident, _PROCESSING % (job, file)),
        _publication(results, _ANSWERS + b" ", b"result:" + ident, done),
    ]


def _publication(results: bytes, reply: bytes, msg_id: bytes, body: bytes) -> bytes:
    header = _HEADER % msg_id
    sizes = b"%d %d" % (len(header), len(header) + len(body))
    return b"HPUB %b %b%b\r\n%b%b\r\n" % (results, reply, sizes, header, body)


async def main(url: str, requests: bytes, results: bytes) -> None:
    """Serve until the connection ends."""
    where = urlsplit(url)
    loop = asyncio.get_running_loop()
    _, echo = await loop.create_connection(
        lambda: Echo(requests, results), where.hostname or "", where.port or 0
    )
    await echo.closed.wait()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main(sys.argv[1], *(it.encode() for it in sys.argv[2:4])))
