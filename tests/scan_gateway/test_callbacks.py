"""ИС Сканирование calls when a document is at its end; whoever is not called asks."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from armka.stack import NatsServer
from tests import web
from tests.scan_gateway.conftest import ImageCore, Start
from tests.scan_gateway.peer import Peer
from tests.scan_gateway.test_reference import PRINTED, scanning_system

__all__ = ["scanning_system"]

# A free port, and a wait that no test outlasts: what ends in time was told by a call.
CALLED = {"SCAN_GATEWAY_CALLBACK_PORT": 0, "SCAN_GATEWAY_CALLBACK_WAIT_SECONDS": 1000}


async def test_a_call_ends_the_waiting_and_is_no_word_of_its_own(
    core: ImageCore, start: Start, peer: Peer
):
    """Early it changes nothing; a second one finds the first one's effect, or nobody."""
    peer.promises = True
    peer.finish.clear()
    async with start(**CALLED):
        asked = await core.ask(seconds=1000)
        key = asked["job_id"]
        await peer.wait(lambda: peer.count("GET") == 1)
        assert await peer.call(key) == 204
        await peer.wait(lambda: peer.count("GET") == 2)
        assert [it.status for it in core.of(asked)] == ["processing"]
        peer.finish.set()
        assert await peer.call(key) == 204
        heard = await core.result(asked)
        assert (heard.status, heard.body["metrics"]["scanning_called"]) == ("done", True)
        await core.wait(lambda: heard in core.heard)
        assert await peer.call(key) == 404
    assert {it.query.get("wait") for it in peer.requests if it.method == "GET"} == {"0", None}


async def test_only_whoever_has_the_secret_of_the_submission_is_heard(
    core: ImageCore, start: Start, peer: Peer
):
    peer.promises = True
    peer.finish.clear()
    async with start(**CALLED):
        first, second = [(await core.ask(seconds=1000))["job_id"] for _ in range(2)]
        await peer.wait(lambda: peer.count("GET") == 2)
        secrets = {peer.of(key).submitted.headers["callback-token"] for key in (first, second)}
        assert len(secrets) == 2
        (other,) = secrets - {peer.of(first).submitted.headers["callback-token"]}
        assert [await peer.call(first, token) for token in ("guess", other)] == [401, 401]
        assert await peer.call(first, method="PUT") == 405
        await _nonsense(peer.of(first).submitted.query["callback"])
        assert peer.count("GET") == 2
        assert await peer.call(second) == 204
        await peer.wait(lambda: peer.count("GET") == 3)
        peer.finish.set()
        assert await peer.call(first) == 204
        await peer.call(second)  # the call before may have told it the end already
        await core.wait(lambda: sum(it.status == "done" for it in core.heard) == 2)


async def _nonsense(url: str) -> None:
    """What is no HTTP, or too much of it, gets no answer, and the listener goes on."""
    address = urlsplit(url)
    for said in (b"\0\1\2\r\n\r\n", b"POST / HTTP/1.1\r\nx: " + b"x" * 100_000, b"POST"):
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(said)
        writer.write_eof()
        assert b" 204 " not in await reader.read()
        writer.close()
    async with web.client() as client:
        with pytest.raises(httpx.TransportError):
            await client.post(url, content=b"x" * 1_000_000)


async def test_a_call_that_does_not_come_is_not_waited_for(
    core: ImageCore, start: Start, peer: Peer
):
    peer.promises = True
    peer.finish.clear()
    async with start(**CALLED | {"SCAN_GATEWAY_CALLBACK_WAIT_SECONDS": 0.3}):
        asked = await core.ask()
        await peer.wait(lambda: peer.count("GET") == 3)
        peer.finish.set()
        heard = await core.result(asked)
    assert (heard.status, heard.body["metrics"]["scanning_called"]) == ("done", False)


async def test_who_does_not_promise_a_call_is_polled(core: ImageCore, start: Start, peer: Peer):
    """A system that knows no callbacks reads past what it is asked for."""
    peer.finish.clear()
    async with start(**CALLED):
        asked = await core.ask()
        await peer.wait(lambda: peer.count("GET") == 1)
        peer.finish.set()
        assert (await core.result(asked)).status == "done"
    assert "callback" in peer.of(asked["job_id"]).submitted.query
    assert peer.requests[1].query["wait"] == "25"


async def test_the_reference_calls(core: ImageCore, start: Start, scanning_system: str):
    """Both ends, as they are: `armka scanning-system` tells, and nothing else could."""
    async with start(SCANNING_URL=scanning_system, **CALLED):
        asked = [
            await core.upload(
                content, pipeline="image", file_type="PDF", original_name=f"{name}.pdf"
            )
            for name, content in {"ОСВ": PRINTED.read_bytes(), "cut": b"%PDF-1.7 cut"}.items()
        ]
        for request in asked:
            await core.send(request)
        good, bad = [await core.result(request, 60) for request in asked]
    assert (good.status, good.body["metrics"]["scanning_called"]) == ("done", True)
    assert bad.code == "UNREADABLE"


def test_a_port_that_is_taken_is_said(nats_server: NatsServer, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = {"PATH": os.environ["PATH"], "NATS_URL": nats_server.url}
        env |= {"SCAN_GATEWAY_CALLBACK_PORT": str(port), "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            (sys.executable, "-m", "armka.cli", "service", "scan-gateway"),
            env=env, check=False, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("armka: SCAN_GATEWAY_CALLBACK_PORT: 127.0.0.1")
