"""The object store: whole objects, checked, and an outage that is named as one."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectMissing, ObjectStore, ObjectTooLarge, StoreUnavailable
from armka.stack import ObjectServer
from tests.http.proxy import deaf_proxy, refusing_proxy


def _store(server: ObjectServer, **more: str) -> ObjectStore:
    return ObjectStore(ObjectSettings.model_validate(server.env() | more))


@pytest.fixture
def store(object_store_server: ObjectServer) -> ObjectStore:
    return _store(object_store_server)


@pytest.fixture
def key() -> str:
    return f"results/{uuid4()}/result.json"


@pytest.mark.parametrize("size", [0, 1, 5 * 1024 * 1024, 12 * 1024 * 1024 + 7])
async def test_a_file_is_written_and_read_back_whole(
    store: ObjectStore, key: str, tmp_path: Path, size: int
) -> None:
    """Empty, small, exactly a part, several parts; from the file's start, wherever it stands."""
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        await store.put_file(key, file, size)
    assert await store.get(key, limit=size) == content
    stored = await store.get_to_file(key, tmp_path / "copy", limit=size)
    assert (stored.size_bytes, stored.sha256) == (size, hashlib.sha256(content).hexdigest())
    assert (tmp_path / "copy").read_bytes() == content


async def test_an_object_is_replaced_and_removed(store: ObjectStore, key: str) -> None:
    """Removing what is not there is no error."""
    await store.put(key, b"one")
    await store.put(key, b"two")
    assert await store.get(key, limit=10) == b"two"
    await store.delete(key)
    await store.delete(key)
    with pytest.raises(ObjectMissing) as missing:
        await store.get(key, limit=10)
    assert missing.value.key == key


async def test_more_than_the_limit_is_not_read(
    store: ObjectStore, key: str, tmp_path: Path
) -> None:
    """The error tells the true size."""
    await store.put(key, b"x" * 100)
    with pytest.raises(ObjectTooLarge) as refusal:
        await store.get(key, limit=99)
    assert (refusal.value.size, refusal.value.limit) == (100, 99)
    with pytest.raises(ObjectTooLarge):
        await store.get_to_file(key, tmp_path / "copy", limit=99)


async def test_a_file_that_is_not_as_long_as_announced_is_not_taken_for_written(
    store: ObjectStore, key: str
) -> None:
    """B35: the size is asked of the store."""
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 10)
        file.flush()
        with pytest.raises(StoreUnavailable, match="11 bytes were sent, 10 are there"):
            await store.put_file(key, file, 11)


async def test_old_objects_are_listed_page_by_page(store: ObjectStore) -> None:
    """Only those under the prefix, and only the old ones; keys of any letters."""
    prefix = f"uploads/{uuid4()}/"
    keys = {f"{prefix}{n}/ключ с пробелом.xlsx" for n in range(5)}
    await asyncio.gather(*(store.put(key, b"x") for key in keys))
    tomorrow, yesterday = (datetime.now(UTC) + timedelta(days=days) for days in (1, -1))
    found = [key async for page in store.list_older(prefix, tomorrow) for key in page]
    assert set(found) == keys
    assert [key async for page in store.list_older(prefix, yesterday) for key in page] == []


async def test_a_missing_bucket_is_an_outage_not_a_missing_object(
    object_store_server: ObjectServer, key: str, tmp_path: Path
) -> None:
    """Nothing is known of its objects."""
    lost = _store(object_store_server, S3_BUCKET="nowhere")
    with pytest.raises(StoreUnavailable):
        await lost.get(key, limit=10)
    with pytest.raises(StoreUnavailable):
        await lost.get_to_file(key, tmp_path / "copy", limit=10)


async def test_wrong_keys_are_an_outage_and_are_not_shown(
    object_store_server: ObjectServer, key: str
) -> None:
    """403 is for the operator; the secret is in no error."""
    stranger = _store(object_store_server, S3_SECRET_ACCESS_KEY="canary")
    with pytest.raises(StoreUnavailable) as refusal:
        await stranger.get(key, limit=10)
    assert "canary" not in f"{refusal.value!r}"
    assert "canary" not in repr(
        ObjectSettings.model_validate({"S3_ACCESS_KEY_ID": "key", "S3_SECRET_ACCESS_KEY": "canary"})
    )


@pytest.fixture
async def refused(object_store_server: ObjectServer, key: str) -> AsyncIterator[ObjectStore]:
    """A store whose every request for the key breaks off."""
    async with refusing_proxy(object_store_server.url, {key.encode()}) as url:
        yield _store(object_store_server, S3_ENDPOINT_URL=url)


async def test_requests_that_break_off_are_an_outage(
    refused: ObjectStore, key: str, tmp_path: Path
) -> None:
    """After a few tries, whichever the request."""
    with tempfile.TemporaryFile() as file:
        for request in (
            refused.get(key, limit=10),
            refused.get_to_file(key, tmp_path / "copy", limit=10),
            refused.put(key, b"x"),
            refused.put_file(key, file, 0),
            refused.delete(key),
        ):
            with pytest.raises(StoreUnavailable):
                await request


async def test_an_answer_that_is_lost_once_costs_a_retry_no_failure(
    object_store_server: ObjectServer, key: str
) -> None:
    """Written although the answer got lost: written again, the same."""
    async with deaf_proxy(object_store_server.url, until_sent=key.encode()) as (url, swallowed):
        store = _store(object_store_server, S3_ENDPOINT_URL=url)
        await store.put(key, b"content")
        assert len(swallowed) == 1
        assert await store.get(key, limit=10) == b"content"
