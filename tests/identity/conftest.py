"""One core without loops where nobody comes in unknown, for the tests of this folder."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import httpx
import pytest

from armka.stack import ObjectServer, PostgresServer
from tests import web
from tests.http.serving import QuietCore, running
from tests.servers import administer, apart

NAME = "guarded_core"
TOKEN = "the-setting-that-opens-all"


@pytest.fixture(scope="session")
def guarded_core(
    postgres: PostgresServer,
    database_template: str,
    object_store_server: ObjectServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[QuietCore]:
    """A running core with API_TOKEN and a database of its own."""
    apart(lambda: administer(postgres, f"create database {NAME} template {database_template}"))
    env = object_store_server.env() | {
        "DATABASE_URL": postgres.database_url(NAME),
        "NATS_ENABLED": "false",
        "API_TOKEN": TOKEN,
    }
    with running(env, tmp_path_factory.mktemp("guarded_core")) as core:
        yield core


@pytest.fixture
async def admin(guarded_core: QuietCore) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its API that may do everything."""
    async with web.client(
        base_url=f"{guarded_core.url}/api/v1",
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=60,
    ) as client:
        yield client


@pytest.fixture
async def db(guarded_core: QuietCore) -> AsyncIterator[asyncpg.Connection]:
    """A connection to its database."""
    connection = await asyncpg.connect(guarded_core.dsn)
    try:
        yield connection
    finally:
        await connection.close()
