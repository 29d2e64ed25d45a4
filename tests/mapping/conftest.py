"""A world whose S3 may be harmed."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer
from tests.world import World


@pytest.fixture
async def own_store(database: str, nats_server: NatsServer, tmp_path: Path) -> AsyncIterator[World]:
    """As `world`, with an S3 of this test's own."""
    async with ObjectServer(tmp_path / "s3") as objects:
        settings = ObjectSettings.model_validate(objects.env())
        db = await asyncpg.connect(database)
        made = World(database, nats_server, objects, tmp_path, db, ObjectStore(settings))
        try:
            yield made
        finally:
            await made.close()
            objects.kill()
