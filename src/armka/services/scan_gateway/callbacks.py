"""Where ИС Сканирование calls when a document is at its end.

A call is a hint and nothing more: it bears the secret of its submission, its body is not looked at,
and all that it does is that the gateway asks at once. So it may come twice, early or never.
"""

import asyncio
import contextlib
import hmac
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from uuid import UUID

import h11
import structlog

from armka.sdk.outside import NotSetUp
from armka.services.scan_gateway.scanning import Callback
from armka.services.scan_gateway.settings import GatewaySettings

log = structlog.get_logger(__name__)

_PATH = "/v1/callbacks/"
_HEAD_BYTES = 16 * 1024
_BODY_BYTES = 64 * 1024
_CHUNK_BYTES = 16 * 1024
_SECONDS = 10.0
_AT_ONCE = 100


@dataclass(frozen=True)
class Expected:
    """A call that somebody waits for; `came` is set by each one."""

    callback: Callback
    came: asyncio.Event = field(default_factory=asyncio.Event)


class _Hopeless(Exception):
    """A request that is not worth its end."""


class Callbacks:
    """The calls that are waited for, by job."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._expected: dict[str, Expected] = {}
        self._open: set[asyncio.Task[None]] = set()

    @contextlib.contextmanager
    def expecting(self, job: UUID) -> Iterator[Expected]:
        """Wait for calls about a job, under a secret of its own, for the time of the block."""
        callback = Callback(f"{self._url}{_PATH}{job}", secrets.token_urlsafe(32))
        self._expected[str(job)] = expected = Expected(callback)
        try:
            yield expected
        finally:
            del self._expected[str(job)]

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, unless too many are open."""
        if len(self._open) >= _AT_ONCE:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def close(self) -> None:
        """Break off what is open."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_BYTES)
        try:
            async with asyncio.timeout(_SECONDS):
                status = self._take(await _received(connection, reader))
                headers = [("content-length", "0"), ("connection", "close")]
                answer = h11.Response(status_code=status, headers=headers)
                writer.write(connection.send(answer) or b"")
                writer.write(connection.send(h11.EndOfMessage()) or b"")
                await writer.drain()
        except (_Hopeless, TimeoutError, OSError, h11.ProtocolError) as error:
            log.warning("a call is not taken", why=str(error) or type(error).__name__)
        finally:
            writer.close()

    def _take(self, request: h11.Request) -> HTTPStatus:
        path = request.target.decode("ascii", "replace")
        expected = self._expected.get(path.removeprefix(_PATH))
        if expected is None:
            return HTTPStatus.NOT_FOUND
        if request.method != b"POST":
            return HTTPStatus.METHOD_NOT_ALLOWED
        wanted = f"Bearer {expected.callback.token}".encode()
        if not hmac.compare_digest(dict(request.headers).get(b"authorization", b""), wanted):
            log.warning("a call without its secret", path=path[:100])
            return HTTPStatus.UNAUTHORIZED
        expected.came.set()
        return HTTPStatus.NO_CONTENT


async def _received(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request:
    """A request to its end; raises _Hopeless."""
    request: h11.Request | None = None
    size = 0
    while True:
        event = connection.next_event()
        match event:
            case h11.Request():
                request = event
            case h11.Data(data=data):
                size += len(data)
                if size > _BODY_BYTES:
                    raise _Hopeless(f"more than {_BODY_BYTES} bytes")
            case h11.EndOfMessage() if request is not None:
                return request
            case h11.NEED_DATA:
                connection.receive_data(await reader.read(_CHUNK_BYTES))
            case _:
                raise _Hopeless("it hung up")


@contextlib.asynccontextmanager
async def listening(settings: GatewaySettings) -> AsyncIterator[Callbacks | None]:
    """Listen for the time of the block; None where ИС is only polled. Raises NotSetUp."""
    if settings.callback_port is None:
        yield None
        return
    host = settings.callback_host
    bound = _bound(host, settings.callback_port)
    named = f"[{host}]" if ":" in host else host
    url = settings.callback_url or f"http://{named}:{bound.getsockname()[1]}"
    callbacks = Callbacks(url)
    server = await asyncio.start_server(callbacks.serve, sock=bound)
    log.info("callbacks are taken", url=url)
    try:
        yield callbacks
    finally:
        server.close()
        await callbacks.close()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise NotSetUp(f"SCAN_GATEWAY_CALLBACK_PORT: {host}:{port}: {error.strerror}") from None
