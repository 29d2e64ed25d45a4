"""ИС Сканирование under the test's control: a real HTTP server that may be slow, lying or down."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests import web

TOKEN = "a-token-of-the-tests"
_ACCEPT_STEPS = 10  # turns of the loop, more than it takes to serve what was accepted


@dataclass
class Request:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    """What is answered. `length` may promise more than there is."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None


@dataclass
class Document:
    """What was submitted under one key."""

    id: str
    submitted: Request
    cancelled: bool = False


def reply(status: int, body: Any, **headers: str) -> Reply:
    """A reply with a JSON body."""
    return Reply(
        status, json.dumps(body).encode(), {k.replace("_", "-"): headers[k] for k in headers}
    )


class Peer:
    """It keeps the interface as far as nothing else is told to it.

    `finish` holds documents back until it is set. Where it `promises`, it says that it will call at
    a document's end, and the test has it `call`. `meddle` is asked first, about every request;
    what it returns is answered instead.
    """

    def __init__(self, answer: Callable[[str], dict[str, Any]]) -> None:
        self._usually = answer
        self.finish = asyncio.Event()
        self.news = asyncio.Condition()
        self.port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.reset()

    def reset(self) -> None:
        """Be as at the beginning, and forget what came."""
        self.answer = self._usually
        self.documents: dict[str, Document] = {}
        self.requests: list[Request] = []
        self.promises = False
        self.failure: dict[str, str] | None = None
        self.meddle: Callable[[Request], Reply | None] = lambda _: None
        self.finish.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.down()

    async def up(self) -> None:
        """Listen, on the same port as before. Whoever is cancelled meanwhile leaves a server that
        `down` knows of.
        """
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, start_serving=False
        )
        self.port = self._server.sockets[0].getsockname()[1]
        await self._server.start_serving()

    async def down(self) -> None:
        """Refuse connections, and break off those that there are."""
        if self._server is None:
            return
        # A connection that was accepted and is not yet served would be lost open by `close`.
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _ in range(_ACCEPT_STEPS):
            await asyncio.sleep(0)
        self._server.close()
        for connection in self._open:
            connection.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    def of(self, key: str) -> Document:
        """The document that was submitted under a key."""
        return self.documents[key]

    async def call(self, key: str, token: str | None = None, method: str = "POST") -> int:
        """Call about a document where it was asked to, under its secret or another; the status."""
        submitted = self.of(key).submitted
        shown = token or submitted.headers["callback-token"]
        async with web.client() as client:
            answer = await client.request(
                method,
                submitted.query["callback"],
                json={"document_id": "whatever"},
                headers={"Authorization": f"Bearer {shown}"},
            )
        return answer.status_code

    def count(self, method: str, ending: str = "") -> int:
        """How many such requests came."""
        return sum(it.method == method and it.path.endswith(ending) for it in self.requests)

    async def wait(self, condition: Callable[[], Any], seconds: float = 20) -> None:
        """Wait until a condition on what came holds."""
        async with asyncio.timeout(seconds), self.news:
            await self.news.wait_for(condition)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    await self._answer(await _request(reader), writer)
        except asyncio.CancelledError:
            pass
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        async with self.news:
            self.requests.append(request)
            self.news.notify_all()
        given = self.meddle(request) or await self._usual(request)
        length = len(given.body) if given.length is None else given.length
        head = {"Content-Type": "application/json", "Content-Length": str(length)} | given.headers
        lines = [f"HTTP/1.1 {given.status} X", *(f"{name}: {head[name]}" for name in head)]
        writer.write("\r\n".join([*lines, "", ""]).encode() + given.body)
        await writer.drain()
        if given.length is not None:
            raise ConnectionError

    async def _usual(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return reply(401, {"title": "Unauthorized"})
        if request.method == "POST":
            return await self._submit(request)
        parts = request.path.split("/")
        document = next((it for it in self.documents.values() if it.id == parts[3]), None)
        if document is None:
            return reply(404, {"title": "Not Found"})
        if request.method == "DELETE":
            async with self.news:
                document.cancelled = True
                self.news.notify_all()
            return Reply(204)
        if parts[-1] == "result":
            return reply(200, self.answer(document.id))
        return await self._state(request, document)

    async def _submit(self, request: Request) -> Reply:
        key = request.headers["idempotency-key"]
        if key in self.documents and self.documents[key].submitted.body != request.body:
            return reply(409, {"title": "Conflict"})
        document = self.documents.setdefault(key, Document(f"doc-{len(self.documents)}", request))
        state = {"document_id": document.id, "status": "queued"}
        return reply(202, state | ({"callback": True} if self.promises else {}))

    async def _state(self, request: Request, document: Document) -> Reply:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(float(request.query.get("wait", 0))):
                await self.finish.wait()
        status = "done" if self.finish.is_set() else "running"
        if self.finish.is_set() and self.failure:
            status = "failed"
        state = {"document_id": document.id, "status": status, "error": self.failure}
        return reply(200, state | {"pages_done": 0, "pages_total": 1})


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = dict(line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in headers.items()}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    split = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(split.query).items()}
    return Request(method, split.path, query, headers, body)
