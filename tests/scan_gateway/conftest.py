"""scan-gateway between real servers and an ИС Сканирование that does as the test tells it."""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.services import registry
from armka.stack import NatsServer, ObjectServer
from tests.books.ledger import Ledger, make
from tests.scan_gateway.peer import TOKEN, Peer
from tests.scan_gateway.printed import answer
from tests.sdk.stage import QUICK, Core, Running, object_settings_of, started
from tests.world import IMAGE

Start = Callable[..., AbstractAsyncContextManager[Running]]


class ImageCore(Core):
    """A core that asks for images."""

    async def ask(self, **overrides: Any) -> dict[str, Any]:
        """Upload a scan and send a request for it."""
        fields = {"pipeline": "image", "file_type": "PDF", "original_name": "скан, 1 стр.pdf"}
        return await self.order(b"%PDF-1.7 as it was scanned", **fields | overrides)

    async def raw(self, request: dict[str, Any]) -> bytes:
        """The raw answer of a job."""
        return await self.store.get(f"raw/{request['job_id']}.json", limit=10**9)


@pytest.fixture
def ledger() -> Ledger:
    """What every document says, where the test says nothing else."""
    return make(Random(1))


@pytest.fixture
async def peer(ledger: Ledger) -> AsyncIterator[Peer]:
    """ИС Сканирование."""
    async with Peer(lambda document: answer(ledger, document=document)) as it:
        yield it


@pytest.fixture
async def core(
    nats_server: NatsServer, object_store_server: ObjectServer
) -> AsyncIterator[ImageCore]:
    """The test, as the core."""
    store = ObjectStore(object_settings_of(object_store_server))
    async with ImageCore(nats_server.url, store, requests=IMAGE) as it:
        yield it


@pytest.fixture
def start(
    nats_server: NatsServer,
    object_store_server: ObjectServer,
    peer: Peer,
    monkeypatch: pytest.MonkeyPatch,
) -> Start:
    """Start the gateway with these settings; `nats_url` and the like are the test's own."""

    @contextlib.asynccontextmanager
    async def starting(**settings: object) -> AsyncIterator[Running]:
        usual = {
            "SCANNING_URL": peer.url,
            "SCANNING_TOKEN": TOKEN,
            "SCAN_GATEWAY_LONGEST_PAUSE_SECONDS": 0.5,
        }
        for name, value in (usual | settings).items():
            monkeypatch.setenv(name, str(value))
        async with started(
            registry.service("scan-gateway"),
            NatsSettings(url=nats_server.url),
            ObjectSettings.model_validate(object_store_server.env()),
            QUICK,
            IMAGE,
        ) as it:
            yield it

    return starting


@pytest.fixture
async def gateway(start: Start) -> AsyncIterator[Running]:
    """The gateway with the usual settings."""
    async with start() as it:
        yield it


@pytest.fixture
def key() -> str:
    """An idempotency key."""
    return str(uuid4())
