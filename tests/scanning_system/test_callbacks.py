"""A client that asked for it is told when its document is at its end."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from armka.services.scanning_system import callbacks
from tests.scanning_system.conftest import ended, problem, serving, settings_for
from tests.scanning_system.test_service import PDF, long_document

TOKEN = "a-secret-of-this-submission"


@dataclass
class Client:
    """Where it is called: each call as it came, answered with the next of `statuses`."""

    port: int = 0
    statuses: list[int] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    bodies: list[dict] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/told/here"

    async def called(self, times: int) -> None:
        async with asyncio.timeout(60), self.news:
            await self.news.wait_for(lambda: len(self.bodies) >= times)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(it for it in head.lower().split("\r\n") if it.startswith("content-length"))
        body = json.loads(await reader.readexactly(int(length.split(":")[1])))
        status = self.statuses.pop(0) if self.statuses else 204
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n".encode())
        writer.write(b"Location: /elsewhere\r\n\r\n")
        await writer.drain()
        writer.close()
        async with self.news:
            self.heads.append(head)
            self.bodies.append(body)
            self.news.notify_all()


@pytest.fixture
async def told(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    """Somebody who is called, and does not have to wait for the repeats."""
    monkeypatch.setattr(callbacks, "_PAUSES_SECONDS", (0.02,) * 20)
    client = Client()
    server = await asyncio.start_server(client.serve, "127.0.0.1", 0)
    client.port = server.sockets[0].getsockname()[1]
    yield client
    server.close()


async def submitted(client, body: bytes, told: Client, key: str = "job", **changes: str):
    given = {"callback": told.url} | changes
    headers = {"Idempotency-Key": key, "Callback-Token": TOKEN}
    return await client.post("/v1/documents", params=given, content=body, headers=headers)


async def test_the_end_is_told_with_the_secret_until_it_is_heard(tmp_path, told: Client):
    told.statuses = [500, 429]
    async with serving(settings_for(tmp_path)) as client:
        answer = await submitted(client, PDF, told)
        await told.called(3)
        status = await ended(client, answer.json()["document_id"])
        again = await submitted(client, PDF, told)
    assert answer.json()["callback"] is True
    assert told.bodies == [status] * 3
    assert (status["status"], status["callback"]) == ("done", False)
    assert all(head.startswith("POST /told/here ") for head in told.heads)
    assert all(f"Authorization: Bearer {TOKEN}\r\n" in head for head in told.heads)
    assert again.json()["callback"] is False
    assert TOKEN not in next(tmp_path.glob("documents/*/record.json")).read_text()


async def test_whoever_sent_it_last_is_told(tmp_path, told: Client):
    """Another instance of a client takes over; the first one's place is of no use any more."""
    async with serving(settings_for(tmp_path)) as client:
        before = await submitted(client, long_document(400), told, "before")
        nowhere = await submitted(client, PDF, told, callback="http://127.0.0.1:9/")
        await submitted(client, PDF, told)
        await client.delete(f"/v1/documents/{before.json()['document_id']}")
        await told.called(1)
    assert told.bodies[0]["document_id"] == nowhere.json()["document_id"]


async def test_a_call_that_a_stop_prevented_is_made_by_the_next_process(tmp_path, told: Client):
    told.statuses = [503] * 1000
    async with serving(settings_for(tmp_path)) as client:
        await submitted(client, PDF, told)
        await told.called(1)
    told.statuses = []
    calls = len(told.bodies)
    async with serving(settings_for(tmp_path)) as client:
        await told.called(calls + 1)
    assert told.bodies[-1]["status"] == "done"


@pytest.mark.parametrize("last_word", [404, 401, 302])
async def test_a_refusal_is_an_answer_and_no_redirect_is_followed(
    tmp_path, told: Client, last_word: int
):
    told.statuses = [last_word]
    async with serving(settings_for(tmp_path)) as client:
        first = await submitted(client, PDF, told)
        await told.called(1)
        second = await submitted(client, PDF + b"\n", told, key="another")
        await told.called(2)
    documents = [answer.json()["document_id"] for answer in (first, second)]
    assert [body["document_id"] for body in told.bodies] == documents


async def test_who_may_not_be_called_is_not(tmp_path, told: Client):
    """A client must not be able to have any host of the network called."""
    addresses = {
        "http://example.org/": (202, False),
        told.url.replace("127.0.0.1", "localhost"): (202, False),
        told.url: (202, True),
        "ftp://127.0.0.1/": (400, None),
        "http://user:word@127.0.0.1/": (400, None),
        "http://127.0.0.1:many/": (400, None),
        "/relative": (400, None),
    }
    async with serving(settings_for(tmp_path, callback_hosts="127.0.0.1")) as client:
        for number, (address, (code, will_call)) in enumerate(addresses.items()):
            answer = await submitted(client, PDF, told, f"{number}", callback=address)
            assert (address, answer.status_code) == (address, code)
            assert answer.json().get("callback") is will_call
        secretless = await client.post("/v1/documents", params={"callback": told.url}, content=PDF)
        openapi = (await client.get("/openapi.json")).json()
    assert problem(secretless) == (400, None)
    (called,) = openapi["paths"]["/v1/documents"]["post"]["callbacks"].values()
    assert list(called) == ["{$request.query.callback}"]


async def test_nobody_is_told_of_what_was_cancelled(tmp_path, told: Client):
    async with serving(settings_for(tmp_path)) as client:
        answer = await submitted(client, long_document(100), told)
        await client.delete(f"/v1/documents/{answer.json()['document_id']}")
        other = await submitted(client, PDF, told, key="other")
        with contextlib.suppress(TimeoutError):
            await told.called(1)
    assert [it["document_id"] for it in told.bodies] == [other.json()["document_id"]]
