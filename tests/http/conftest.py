"""One core without loops (`NATS_ENABLED=false`) for the tests of the API that need no more."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import httpx
import pytest

from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import ObjectServer, PostgresServer
from tests import web
from tests.http.serving import QuietCore, running
from tests.servers import administer, apart

NAME = "quiet_core"


@pytest.fixture(scope="session")
def quiet_core(
    postgres: PostgresServer,
    database_template: str,
    object_store_server: ObjectServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[QuietCore]:
    """A running core with a database of its own; uploads stay queued."""
    apart(lambda: administer(postgres, f"create database {NAME} template {database_template}"))
    env = object_store_server.env() | {
        "DATABASE_URL": postgres.database_url(NAME),
        "NATS_ENABLED": "false",
        "UPLOAD_MAX_BYTES": str(1024 * 1024),
    }
    with running(env, tmp_path_factory.mktemp("quiet_core")) as core:
        yield core


@pytest.fixture
async def api(quiet_core: QuietCore) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the quiet core's API."""
    async with web.client(base_url=f"{quiet_core.url}/api/v1", timeout=60) as client:
        yield client


@pytest.fixture
async def db(quiet_core: QuietCore) -> AsyncIterator[asyncpg.Connection]:
    """A connection to the quiet core's database."""
    connection = await asyncpg.connect(quiet_core.dsn)
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
def store(object_store_server: ObjectServer) -> ObjectStore:
    """The bucket."""
    return ObjectStore(ObjectSettings.model_validate(object_store_server.env()))
