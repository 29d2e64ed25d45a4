"""A trial service between real servers; the test is the core."""

from collections.abc import AsyncIterator

import pytest

from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer
from tests.sdk.stage import Core, Running, object_settings_of, running


@pytest.fixture
def object_settings(object_store_server: ObjectServer) -> ObjectSettings:
    return object_settings_of(object_store_server)


@pytest.fixture
def nats_settings(nats_server: NatsServer) -> NatsSettings:
    return NatsSettings(url=nats_server.url)


@pytest.fixture
async def core(nats_server: NatsServer, object_settings: ObjectSettings) -> AsyncIterator[Core]:
    async with Core(nats_server.url, ObjectStore(object_settings)) as core:
        yield core


@pytest.fixture
async def service(
    nats_settings: NatsSettings, object_settings: ObjectSettings, core: Core
) -> AsyncIterator[Running]:
    """The trial service with the usual settings."""
    async with running(nats_settings, object_settings) as it:
        yield it
