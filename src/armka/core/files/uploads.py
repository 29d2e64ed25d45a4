"""An upload: bytes to the object store, then the rows that make them a document (F1)."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar
from uuid import UUID, uuid4

import structlog

from armka.contract import object_keys
from armka.contract.vocabulary import FileType
from armka.core.database.pool import Connection, Database, Record, is_unavailable
from armka.core.database.queries import load
from armka.core.errors import KeyReused
from armka.core.files import names
from armka.core.files.idempotency import IdempotentRequest
from armka.core.files.sniff import sniff
from armka.core.identity.audit import actor_of
from armka.core.identity.principal import Principal
from armka.objects.store import ObjectStore, Stored, StoreUnavailable

log = structlog.get_logger(__name__)
SQL = load(__package__)

_DISCARD_SECONDS = 5.0


@dataclass(frozen=True)
class Upload:
    """A received file, spooled to local disk and measured."""

    content: BinaryIO
    original_name: str
    stored: Stored
    client_ref: str | None = None


@dataclass(frozen=True)
class Accepted:
    """The file and its first job; `same_as`: earlier files with the same bytes, latest first.

    `is_repeated`: an earlier request with the same `Idempotency-Key` made them.
    """

    file_id: UUID
    job_id: UUID
    same_as: tuple[UUID, ...] = ()
    is_repeated: bool = False


class Uploads:
    """Takes uploads in. Either the file is known afterwards, or nothing of it is left."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    async def accept(
        self,
        upload: Upload,
        by: Principal,
        request: IdempotentRequest | None = None,
        item: int = 0,
    ) -> Accepted:
        """Store an upload and queue its first job.

        Raises UploadRefused, KeyReused, StoreUnavailable.
        """
        file_type = await asyncio.to_thread(sniff, upload.content, upload.original_name)
        key = request and request.of(
            upload.original_name, upload.stored.sha256, upload.client_ref, item=item
        )
        made = key and await self._recall(key)
        if not made:
            made = await _to_the_end(self._store(upload, file_type, by, key))
        log.info(
            "file accepted",
            file_id=str(made.file_id),
            job_id=str(made.job_id),
            type=file_type.value,
            repeated=made.is_repeated,
        )
        return made

    async def _recall(self, key: IdempotentRequest) -> Accepted | None:
        answer = await twice(self._database, key.recall)
        return None if answer is None else _accepted(answer)

    async def _store(
        self, upload: Upload, file_type: FileType, by: Principal, key: IdempotentRequest | None
    ) -> Accepted:
        file_id, job_id = uuid4(), uuid4()
        object_key = object_keys.upload(file_id, file_type.value.lower())
        registration = _Registration(
            (
                file_id,
                job_id,
                self._objects.bucket,
                object_key,
                upload.stored.size_bytes,
                upload.stored.sha256,
                names.clean(upload.original_name),
                file_type.value,
                file_type.pipeline.value,
                upload.client_ref,
                *((key.scope, key.key, key.item, key.digest) if key else (None,) * 4),
                by.acting(None),
                *actor_of(by),
            )
        )
        try:
            await self._objects.put_file(object_key, upload.content, upload.stored.size_bytes)
            row = await registration.make(self._database)
        except Exception as error:
            # Rows whose commit was not confirmed may exist and then need their object; where they
            # do not, the sweep collects it.
            if not (registration.was_sent and is_unavailable(error)):
                await self._discard(object_key)
            raise
        if row["is_new"] or key is None:
            return Accepted(file_id, job_id, tuple(row["same_as"]))
        return await self._first(key, file_id, object_key)

    async def _first(self, key: IdempotentRequest, file_id: UUID, object_key: str) -> Accepted:
        """What the request that had the key made: another one, or this one, unheard."""
        try:
            made = await self._recall(key)
        except KeyReused:
            await self._discard(object_key)
            raise
        assert made is not None, "a key that was taken has an answer"
        if made.file_id != file_id:
            await self._discard(object_key)
        return made

    async def _discard(self, key: str) -> None:
        try:
            async with asyncio.timeout(_DISCARD_SECONDS):
                await self._objects.delete(key)
        except (StoreUnavailable, TimeoutError):
            log.warning("an object without rows is left to the sweep", key=key)


class _Registration:
    """The rows of an upload: one statement that may be repeated, since its ids are made before."""

    def __init__(self, values: tuple[object, ...]) -> None:
        self._values = values
        self.was_sent = False

    async def make(self, database: Database) -> Record:
        """Insert the rows; returns whether they are new, and the files with the same bytes."""

        async def insert(connection: Connection) -> Record | None:
            self.was_sent = True
            return await connection.fetchrow(SQL.register_upload, *self._values)

        row = await twice(database, insert)
        assert row is not None
        return row


T = TypeVar("T")


async def twice(database: Database, work: Callable[[Connection], Awaitable[T]]) -> T:
    """Do what may be repeated; a connection that died in the pool costs a try, not the upload."""
    try:
        async with database.connection() as connection:
            return await work(connection)
    except Exception as error:
        if not is_unavailable(error):
            raise
    async with database.connection() as connection:
        return await work(connection)


def _accepted(answer: dict[str, Any]) -> Accepted:
    same_as = tuple(UUID(file_id) for file_id in answer["same_as"])
    return Accepted(UUID(answer["file_id"]), UUID(answer["job_id"]), same_as, is_repeated=True)


async def _to_the_end(work: Coroutine[object, object, T]) -> T:
    """Do the work even where the caller is cancelled meanwhile: no object is left without rows."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
