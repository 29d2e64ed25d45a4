"""Real servers for tests: a PostgreSQL and an S3 per test process, a NATS and a database per test.

The session's servers are started and stopped from a thread with a loop of its own, so that they
belong to no test's event loop. However the test process ends, their guards end them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import asyncpg
import pytest

from armka.stack import NatsServer, ObjectServer, PostgresServer, Server

TEMPLATE = "armka_template"

ServerT = TypeVar("ServerT", bound=Server)


def apart(work: Callable[[], Coroutine[object, None, None]]) -> None:
    """Run async `work` to its end in another thread, whatever this thread's event loop does."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(work())).result()


def _running(server: ServerT) -> Iterator[ServerT]:
    apart(server.start)
    try:
        yield server
    finally:
        apart(server.stop)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The session's PostgreSQL, without fsync. A test that harms the server starts its own."""
    home = tmp_path_factory.mktemp("servers") / "postgres"
    yield from _running(PostgresServer(home, fsync=False))


@pytest.fixture(scope="session")
def object_store_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    """The session's S3 with the bucket `arm-ka`; tests share it, so they use keys of their own."""
    yield from _running(ObjectServer(tmp_path_factory.mktemp("servers") / "s3"))


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """A NATS of this test's own, to be killed, paused and restarted at will."""
    async with NatsServer(tmp_path / "nats", fsync=False) as server:
        yield server


@pytest.fixture(scope="session")
def database_template(postgres: PostgresServer) -> str:
    """The name of a migrated database that the tests' own are copied from."""
    from armka.core.database.migrations import migrate  # noqa: PLC0415 - not every test needs the core

    async def make() -> None:
        await administer(postgres, f"create database {TEMPLATE}")
        await migrate(postgres.database_url(TEMPLATE))

    apart(make)
    return TEMPLATE


@pytest.fixture
async def database(postgres: PostgresServer, database_template: str) -> AsyncIterator[str]:
    """The address of a migrated, empty database of this test's own."""
    name = f"test_{uuid4().hex}"
    await administer(postgres, f"create database {name} template {database_template}")
    try:
        yield postgres.database_url(name)
    finally:
        await administer(postgres, f"drop database {name} with (force)")


async def administer(postgres: PostgresServer, statement: str) -> None:
    """Execute a statement that concerns the whole server."""
    connection = await asyncpg.connect(postgres.database_url("postgres"), timeout=10)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
