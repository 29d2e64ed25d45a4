"""The sweep collects uploaded objects that no file knows, and nothing else (F1)."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.files.sweep import Sweep
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import ObjectServer
from tests.world import World, until


async def _keys(store: ObjectStore) -> set[str]:
    """All keys of uploads and results."""
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    return {
        key
        for prefix in ("uploads/", "results/", "raw/")
        async for page in store.list_older(prefix, tomorrow)
        for key in page
    }


async def _age(store: ObjectStore, key: str, seconds: float) -> None:
    """Wait until the object is so old."""

    async def old() -> bool:
        before = datetime.now(UTC) - timedelta(seconds=seconds)
        return key in [k async for page in store.list_older("uploads/", before) for k in page]

    await until(old, pause=0.1)


async def test_only_an_old_upload_without_a_file_is_collected(world: World) -> None:
    """Files' own objects, young orphans, and what services wrote stay; the loop says what went."""
    file_id = await world.file()
    known, orphan = f"uploads/{file_id}/source.xlsx", f"uploads/{uuid4()}/source.pdf"
    result, raw = f"results/{uuid4()}/{uuid4()}/result.json", f"raw/{uuid4()}.json"
    for key in (known, orphan, result, raw):
        await world.store.put(key, b"x")
    await _age(world.store, orphan, 2)
    young = f"uploads/{uuid4()}/source.pdf"
    core = await world.core(SWEEP_GRACE_SECONDS=3600)
    await world.store.put(young, b"x")
    assert {known, orphan, result, raw, young} <= await _keys(world.store)
    await core.stop()
    assert "orphan object removed" not in core.said()

    core = await world.core(SWEEP_GRACE_SECONDS=1.5)

    async def collected() -> bool:
        return orphan not in await _keys(world.store)

    await until(collected)
    assert {known, result, raw} <= await _keys(world.store)
    assert "orphan object removed" in core.said()


async def test_many_orphans_are_collected_among_many_files(
    database: str, object_store_server: ObjectServer
) -> None:
    """More than a page of the store's listing; every known one stays."""
    store = ObjectStore(ObjectSettings.model_validate(object_store_server.env()))
    known = [f"uploads/{uuid4()}/source.pdf" for _ in range(600)]
    orphans = [f"uploads/{uuid4()}/source.pdf" for _ in range(600)]
    for start in range(0, 600, 50):
        some = known[start : start + 50] + orphans[start : start + 50]
        await asyncio.gather(*(store.put(key, b"x") for key in some))
    connection = await asyncpg.connect(database)
    await connection.executemany(
        "insert into s3_object (bucket, key, bucket_role) values ('arm-ka', $1, 'uploads')",
        [(key,) for key in known],
    )
    await connection.close()
    await _age(store, orphans[-1], 1)
    async with Database(DatabaseSettings.model_validate({"DATABASE_URL": database})) as pool:
        assert await Sweep(pool, store, grace_seconds=0.5).run_once() > 60
    left = await _keys(store)
    assert set(known) <= left
    assert not set(orphans) & left


async def test_without_the_database_nothing_is_collected(
    object_store_server: ObjectServer,
) -> None:
    """Who cannot ask which files there are removes nothing."""
    store = ObjectStore(ObjectSettings.model_validate(object_store_server.env()))
    orphan = f"uploads/{uuid4()}/source.pdf"
    await store.put(orphan, b"x")
    await _age(store, orphan, 1)
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    async with Database(DatabaseSettings.model_validate({"DATABASE_URL": nowhere})) as pool:
        with pytest.raises(OSError, match="1"):
            await Sweep(pool, store, grace_seconds=0.5).run_once()
    assert orphan in await _keys(store)
