"""Whole processes as a bank runs them: what `armka nats-setup` made, the stream that the operator
made, and nobody with more than its role.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import nats
import pytest
from nats.aio.client import Client
from nats.js.api import StreamConfig

from armka.stack import NatsServer
from tests import web
from tests.books.ledger import make
from tests.messaging.credentials import pair
from tests.scan_gateway.peer import TOKEN, Peer
from tests.scan_gateway.printed import answer
from tests.world import World, service, until

SAMPLES = Path(__file__).parents[2] / "samples"
SHEET = next(SAMPLES.glob("ОСВ Ромашка*.xls"))
PRINTED = next(SAMPLES.glob("*.pdf"))
JETSTREAM: dict[str, Any] = {"NATS_TRANSPORT": "jetstream", "NATS_MANAGE_STREAM": "true"}


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """Keys, accounts and users."""
    folder = tmp_path / "setup"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "armka.cli", "nats-setup", str(folder)
    )
    assert await process.wait() == 0
    return folder


@pytest.fixture
async def nats_server(tmp_path: Path, folder: Path) -> AsyncIterator[NatsServer]:
    config = (folder / "accounts.conf").read_text()
    async with NatsServer(tmp_path / "nats", fsync=False, config=config) as server:
        yield server


@pytest.fixture
async def operator(nats_server: NatsServer, folder: Path) -> AsyncIterator[Client]:
    """Whoever makes the stream, by the credentials file and a client of the operator's own."""
    client = await nats.connect(
        nats_server.url,
        user_credentials=str(folder / "users/operator.creds"),
        inbox_prefix=b"_INBOX.operator",
    )
    try:
        stream = StreamConfig(name="RECOGNITION", subjects=["recognition.>"])
        await client.jetstream().add_stream(stream)
        yield client
    finally:
        await client.close()


async def test_a_document_of_each_pipeline_goes_through(
    world: World, folder: Path, operator: Client
) -> None:
    ledger = make(Random(1))
    async with Peer(lambda document: answer(ledger, document=document)) as peer:
        scanning = {"SCANNING_URL": peer.url, "SCANNING_TOKEN": TOKEN}
        core = await world.core(**JETSTREAM | pair(folder, "core"))
        async with (
            service(world, "tabular-parser", **JETSTREAM | pair(folder, "tabular-parser")) as one,
            service(
                world, "scan-gateway", **JETSTREAM | pair(folder, "scan-gateway") | scanning
            ) as two,
            web.client(base_url=core.url, timeout=30) as http,
        ):
            files = [await _uploaded(http, path) for path in (SHEET, PRINTED)]
            for file in files:
                assert (await _ended(http, file))["status"] == "DONE"
        said = core.said() + one.said() + two.said()
    consumers = {it.name for it in await operator.jetstream().consumers_info("RECOGNITION")}
    assert consumers == {"arm-core-results", "tabular-parser", "scan-gateway"}
    assert "ermissions violation" not in said
    secrets = {value for role in ("core", "tabular-parser", "scan-gateway")
               for value in pair(folder, role).values()}  # fmt: skip
    assert [secret for secret in secrets if secret in said] == []


async def _uploaded(http: httpx.AsyncClient, path: Path) -> str:
    content = await asyncio.to_thread(path.read_bytes)
    made = await http.post("/api/v1/files", files={"file": (path.name, content)})
    assert made.status_code == 201, made.text
    return str(made.json()["file_id"])


async def _ended(http: httpx.AsyncClient, file: str) -> dict[str, Any]:
    async def ended() -> dict[str, Any] | None:
        found: dict[str, Any] = (await http.get(f"/api/v1/files/{file}")).json()
        return found if found["status"] in {"DONE", "NEEDS_CHECK", "ERROR"} else None

    shown: dict[str, Any] = await until(ended, pause=0.2)
    return shown
