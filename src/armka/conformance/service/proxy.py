"""An S3 endpoint for the service under test, in front of the real one: sees every read and write,
and can hold one up or refuse them all.

Requests go through as they are, signature and `Host` included; the store must take a `Host` that is
not its own, as SeaweedFS and MinIO do, and addresses of the form `/bucket/key`.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qs, unquote, urlsplit

import h11

from armka.conformance.service.journal import Journal

_CHUNK = 64 * 1024
_STORE_SECONDS = 60.0
_UNAVAILABLE = b"<Error><Code>SlowDown</Code><Message>Please try again</Message></Error>"


class Kind(StrEnum):
    """What a request does to an object."""

    READ = "reads"
    WRITE = "writes"
    OTHER = "asks for"


@dataclass
class Access:
    """One request of the service to S3. `begun` and `ended` are numbers of events."""

    kind: Kind
    method: str
    key: str
    begun: int
    ended: int | None = None
    status: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether the store has done it."""
        return 200 <= self.status < 300  # noqa: PLR2004 - HTTP's own


@dataclass
class Gate:
    """Holds up accesses of one kind to one key until it is opened."""

    kind: Kind
    key: str
    opened: asyncio.Event = field(default_factory=asyncio.Event)


class Proxy:
    """Listens; `accesses` grow in the order of their beginnings."""

    def __init__(self, journal: Journal, store_url: str, bucket: str) -> None:
        self.accesses: list[Access] = []
        self.refusing = False
        self._journal = journal
        self._store = urlsplit(store_url)
        self._bucket = bucket
        self._gates: list[Gate] = []

    def of(self, key: str, kind: Kind) -> list[Access]:
        """The accesses of one kind to one key, so far."""
        return [it for it in self.accesses if it.key == key and it.kind is kind]

    @contextlib.contextmanager
    def holding(self, kind: Kind, key: str) -> Iterator[Gate]:
        """Hold up accesses for the time of the block, or until the gate is opened."""
        gate = Gate(kind, key)
        self._gates.append(gate)
        try:
            yield gate
        finally:
            gate.opened.set()
            self._gates.remove(gate)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection of the service."""
        try:
            await _Relay(self, reader, writer).run()
        except (OSError, EOFError, h11.ProtocolError) as error:
            self._journal.add(f"S3 connection broke off: {str(error) or type(error).__name__}")

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the real store."""
        secure = self._store.scheme == "https"
        port = self._store.port or (443 if secure else 80)
        context = ssl.create_default_context() if secure else None
        return await asyncio.open_connection(self._store.hostname, port, ssl=context)

    def begin(self, request: h11.Request) -> Access:
        """Note that the service asks for something."""
        method, target = request.method.decode(), urlsplit(request.target.decode())
        key = unquote(target.path).removeprefix(f"/{self._bucket}").removeprefix("/")
        kind = _kind(method, parse_qs(target.query, keep_blank_values=True))
        begun = self._journal.add(f"S3: the service {kind} {key or '/'} ({method})")
        access = Access(kind, method, key, begun)
        self.accesses.append(access)
        return access

    def end(self, access: Access, status: int) -> None:
        """Note what the store said, before the service hears it."""
        access.status = status
        access.ended = self._journal.add(f"S3: {access.method} {access.key} answered {status}")

    async def pass_gates(self, access: Access) -> None:
        """Wait where somebody holds this access up."""
        for gate in list(self._gates):
            if gate.kind is access.kind and gate.key == access.key and not gate.opened.is_set():
                self._journal.add(f"S3: {access.method} {access.key} is held up by the kit")
                await gate.opened.wait()


def _kind(method: str, query: dict[str, list[str]]) -> Kind:
    if method == "GET" and "uploads" not in query and "list-type" not in query:
        return Kind.READ
    whole = method == "PUT" and "partNumber" not in query
    if whole or (method == "POST" and "uploadId" in query):
        return Kind.WRITE
    return Kind.OTHER


class _Relay:
    """One connection of the service, and the one to the store that goes with it."""

    def __init__(
        self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        self._service = h11.Connection(h11.SERVER)

    async def run(self) -> None:
        while True:
            request = await _next(self._service, self._reader, self._writer)
            if not isinstance(request, h11.Request):
                return
            body = b"".join([part async for part in self._body()])
            access = self._proxy.begin(request)
            await self._proxy.pass_gates(access)
            if self._proxy.refusing:
                await self._refuse(access)
            else:
                await self._pass_on(access, request, body)
            if self._service.our_state is not h11.DONE:
                return
            self._service.start_next_cycle()

    async def _body(self) -> AsyncIterator[bytes]:
        while True:
            event = await _next(self._service, self._reader, self._writer)
            if not isinstance(event, h11.Data):
                return
            yield bytes(event.data)

    async def _refuse(self, access: Access) -> None:
        self._proxy.end(access, 503)
        length = str(len(_UNAVAILABLE))
        await self._say(h11.Response(status_code=503, headers=[("content-length", length)]))
        await self._say(h11.Data(data=_UNAVAILABLE if access.method != "HEAD" else b""))
        await self._say(h11.EndOfMessage())

    async def _pass_on(self, access: Access, request: h11.Request, body: bytes) -> None:
        store = h11.Connection(h11.CLIENT)
        async with asyncio.timeout(_STORE_SECONDS):
            reader, writer = await self._proxy.connect()
        try:
            for event in (_once(request), h11.Data(data=body), h11.EndOfMessage()):
                if not (isinstance(event, h11.Data) and not body):
                    writer.write(store.send(event) or b"")
            await writer.drain()
            while True:
                said = await _next(store, reader, writer)
                if isinstance(said, h11.Response):
                    self._proxy.end(access, said.status_code)
                    await self._say(_kept_open(said))
                elif isinstance(said, h11.Data | h11.EndOfMessage):
                    await self._say(said)
                if isinstance(said, h11.EndOfMessage | h11.ConnectionClosed):
                    return
        finally:
            writer.close()

    async def _say(self, event: h11.Event) -> None:
        self._writer.write(self._service.send(event) or b"")
        await self._writer.drain()


async def _next(
    connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> h11.Event:
    while True:
        if connection.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(status_code=100, headers=[])
            writer.write(connection.send(go_on) or b"")
            await writer.drain()
        event = connection.next_event()
        if isinstance(event, h11.Event):
            return event
        if event is h11.PAUSED:
            raise EOFError("the service did not wait for an answer")
        connection.receive_data(await reader.read(_CHUNK))


def _once(request: h11.Request) -> h11.Request:
    """The request as the store gets it, on a connection of its own."""
    own = (b"expect", b"connection", b"transfer-encoding")
    headers = [
        (name, value) for name, value in request.headers.raw_items() if name.lower() not in own
    ]
    return h11.Request(
        method=request.method, target=request.target, headers=[*headers, (b"Connection", b"close")]
    )


def _kept_open(response: h11.Response) -> h11.Response:
    headers = [(n, v) for n, v in response.headers.raw_items() if n.lower() != b"connection"]
    return h11.Response(status_code=response.status_code, headers=headers, reason=response.reason)


@contextlib.asynccontextmanager
async def listening(proxy: Proxy, host: str, port: int) -> AsyncIterator[str]:
    """Listen for the time of the block; the address for the service."""
    serving: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(proxy.serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)
        task.add_done_callback(lambda _: writer.close())  # also of one that never began

    server = await asyncio.start_server(serve, host, port)
    bound = server.sockets[0].getsockname()
    try:
        yield f"http://{bound[0]}:{bound[1]}"
    finally:
        server.close()
        for task in list(serving):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
