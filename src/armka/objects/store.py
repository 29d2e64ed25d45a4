"""The object store, as arm-ka uses it: whole objects, by key, checked after they are written."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import obstore
from obstore.exceptions import BaseError as ObstoreError
from obstore.store import S3Store

from armka.objects.settings import ObjectSettings

_CLIENT_TIMEOUT = "30s"
_CONNECT_TIMEOUT = "5s"
_MAX_RETRIES = 3
# No request is begun again after so long: a frozen store is given up after one client timeout.
_RETRY_TIMEOUT = timedelta(seconds=20)
_PART_BYTES = 5 * 1024 * 1024
_PARTS_AT_ONCE = 1


class ObjectMissing(Exception):
    """There is no object under this key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"no object {key}")
        self.key = key


class ObjectTooLarge(Exception):
    """The object is larger than the reader accepts."""

    def __init__(self, key: str, size: int, limit: int) -> None:
        super().__init__(f"object {key} holds {size} bytes, more than {limit}")
        self.key = key
        self.size = size
        self.limit = limit


class StoreUnavailable(Exception):
    """The store did not do it now (unreachable, refused, broke off); a later call may succeed."""


@dataclass(frozen=True)
class Stored:
    """What was read or written: its true size and digest."""

    size_bytes: int
    sha256: str


class ObjectStore:
    """One bucket. Every call retries briefly, then raises StoreUnavailable."""

    def __init__(self, settings: ObjectSettings) -> None:
        self.bucket = settings.bucket
        self._store = S3Store(
            settings.bucket,
            endpoint=settings.endpoint_url,
            access_key_id=settings.access_key_id.get_secret_value(),
            secret_access_key=settings.secret_access_key.get_secret_value(),
            region=settings.region,
            virtual_hosted_style_request=False,
            client_options={
                "allow_http": settings.endpoint_url.startswith("http://"),
                "timeout": _CLIENT_TIMEOUT,
                "connect_timeout": _CONNECT_TIMEOUT,
            },
            retry_config={"max_retries": _MAX_RETRIES, "retry_timeout": _RETRY_TIMEOUT},
        )

    async def put(self, key: str, body: bytes) -> None:
        """Write a whole object, over what was there."""
        try:
            await obstore.put_async(self._store, key, body, use_multipart=False)
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error

    async def put_file(self, key: str, content: BinaryIO, size: int) -> None:
        """Write an open local file, from its start, as an object, and ask the store for its size.

        Raises StoreUnavailable, also where the sizes differ; the object may exist all the same.
        """
        content.seek(0)
        try:
            await obstore.put_async(
                self._store, key, content, chunk_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE
            )
            found = (await obstore.head_async(self._store, key))["size"]
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error
        if found != size:
            raise StoreUnavailable(f"{key}: {size} bytes were sent, {found} are there")

    async def get(self, key: str, *, limit: int) -> bytes:
        """Read a whole object of at most `limit` bytes; raises ObjectMissing, ObjectTooLarge."""
        try:
            answer = await obstore.get_async(self._store, key)
            if answer.meta["size"] > limit:
                raise ObjectTooLarge(key, answer.meta["size"], limit)
            return bytes(await answer.bytes_async())
        except FileNotFoundError as error:
            raise _absence(key, error) from None
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error

    async def get_to_file(self, key: str, path: Path, *, limit: int) -> Stored:
        """Read an object of at most `limit` bytes into a new local file.

        Raises ObjectMissing, ObjectTooLarge; the file may then hold a part of it.
        """
        digest, size = hashlib.sha256(), 0
        try:
            answer = await obstore.get_async(self._store, key)
            with path.open("wb") as file:
                async for chunk in answer.stream():
                    size += len(chunk)
                    if size > limit:
                        raise ObjectTooLarge(key, answer.meta["size"], limit)
                    digest.update(chunk)
                    file.write(chunk)
        except FileNotFoundError as error:
            raise _absence(key, error) from None
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error
        return Stored(size, digest.hexdigest())

    async def size(self, key: str) -> int:
        """How many bytes an object holds, without reading it; raises ObjectMissing."""
        try:
            return (await obstore.head_async(self._store, key))["size"]
        except FileNotFoundError as error:
            raise _absence(key, error) from None
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error

    async def list_older(self, prefix: str, moment: datetime) -> AsyncIterator[list[str]]:
        """The keys under a prefix that were last written before `moment`, page by page."""
        try:
            async for page in obstore.list(self._store, prefix, chunk_size=1000):
                yield [item["path"] for item in page if item["last_modified"] < moment]
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error

    async def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""
        try:
            await obstore.delete_async(self._store, key)
        except FileNotFoundError:
            return
        except (ObstoreError, OSError) as error:
            raise StoreUnavailable(str(error)) from error


def _absence(key: str, error: FileNotFoundError) -> ObjectMissing | StoreUnavailable:
    """Without its bucket the store is not what it should be, and nothing is known of the object."""
    if "NoSuchBucket" in str(error):
        return StoreUnavailable(str(error))
    return ObjectMissing(key)
