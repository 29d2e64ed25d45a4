"""Changes of the files that people look at."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import uuid4

import asyncpg
import pytest

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.files.changes import FileChanges
from tests.world import PATIENCE_SECONDS, until


@pytest.fixture
async def db(database: str) -> AsyncIterator[asyncpg.Connection]:
    """A database with one file."""
    connection = await asyncpg.connect(database)
    await connection.execute(
        "with o as (insert into s3_object (bucket, key, bucket_role) values ('b', 'k', 'uploads') "
        "returning id) insert into stored_file (original_name, file_type, s3_object_id) "
        "select 'a.xlsx', 'XLSX', id from o"
    )
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def changes(database: str) -> AsyncIterator[FileChanges]:
    """What tells of them."""
    async with Database(DatabaseSettings.model_validate({"DATABASE_URL": database})) as pool:
        yield FileChanges(pool)


VERSION = "select id, xmin::text::bigint as version from stored_file"


async def test_whoever_has_an_older_version_is_told_at_once(
    changes: FileChanges, db: asyncpg.Connection
) -> None:
    """Also of what happened before it began to look, as after a move to another replica."""
    row = await db.fetchrow(VERSION)
    assert row is not None
    await db.execute("update stored_file set status = 'PROCESSING'")
    async with changes.looking({row["id"]: row["version"]}, None) as look:
        assert await look.news(PATIENCE_SECONDS) == ([row["id"]], True)
        await db.execute("update stored_file set withdrawn_at = now()")
        assert await look.news(PATIENCE_SECONDS) == ([row["id"]], False)


async def test_five_hundred_who_look_are_served_by_one_task_and_leave_nothing(
    changes: FileChanges, db: asyncpg.Connection
) -> None:
    """All are told; when the last has gone nobody asks the database any more."""
    row = await db.fetchrow(VERSION)
    assert row is not None
    newest = await changes.newest()
    async with AsyncExitStack() as stack:
        looks = [
            await stack.enter_async_context(changes.looking({row["id"]: row["version"]}, newest))
            for _ in range(500)
        ]
        task = changes._task
        assert task is not None
        await db.execute("update stored_file set status = 'DONE'")
        told = await asyncio.gather(*(look.news(PATIENCE_SECONDS) for look in looks))
        assert told == [([row["id"]], False)] * 500
    assert changes._looks == set()

    async def ended() -> bool:
        return task.done()

    await until(ended)


async def test_closing_lets_everybody_go(changes: FileChanges) -> None:
    """Who waits, and who comes afterwards."""
    async with changes.looking({uuid4(): 1}, None) as look:
        waiting = asyncio.create_task(look.news(PATIENCE_SECONDS))
        await asyncio.sleep(0)
        changes.close()
        assert await waiting == ([], False)
        assert look.is_over
    async with changes.looking({}, None) as look:
        assert look.is_over
