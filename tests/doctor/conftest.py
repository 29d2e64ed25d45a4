"""A doctor for a test's world."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.doctor.broker import Broker
from armka.core.doctor.doctor import Doctor
from armka.core.doctor.findings import Finding
from armka.core.settings import ExchangeSettings
from armka.messaging.connection import connected
from armka.messaging.settings import NatsSettings
from tests.world import World

Examine = Callable[[], Awaitable[dict[str, Finding]]]


@pytest.fixture
async def doctor(world: World) -> AsyncIterator[Doctor]:
    """A doctor with connections of its own to the world's servers."""
    nats = NatsSettings(url=world.nats.url)
    async with (
        Database(DatabaseSettings.model_validate({"DATABASE_URL": world.dsn})) as database,
        connected(nats, name="doctor") as connection,
    ):
        await connection.wait_live()
        broker = Broker(connection, nats.subjects)
        yield Doctor(ExchangeSettings(), database, world.store, broker)


@pytest.fixture
def examine(doctor: Doctor) -> Examine:
    """Every finding, by check."""

    async def look() -> dict[str, Finding]:
        return {finding.check: finding for finding in await doctor.examine()}

    return look
