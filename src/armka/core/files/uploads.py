"""An upload: bytes to the object store, then the rows that make them a document (F1)."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import BinaryIO
from uuid import UUID, uuid4

import structlog

from armka.contract import object_keys
from armka.contract.vocabulary import FileType
from armka.core.database.pool import Database, is_unavailable
from armka.core.database.queries import load
from armka.core.files import names
from armka.core.files.sniff import sniff
from armka.objects.store import ObjectStore, Stored, StoreUnavailable

log = structlog.get_logger(__name__)
SQL = load(__package__)

_DISCARD_SECONDS = 5.0
_TRIES = 2


@dataclass(frozen=True)
class Upload:
    """A received file, spooled to local disk and measured."""

    content: BinaryIO
    original_name: str
    stored: Stored
    client_ref: str | None = None


@dataclass(frozen=True)
class Accepted:
    """The file and its first job."""

    file_id: UUID
    job_id: UUID


class Uploads:
    """Takes uploads in. Either the file is known afterwards, or nothing of it is left."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    async def accept(self, upload: Upload) -> Accepted:
        """Store an upload and queue its first job; raises UploadRefused, StoreUnavailable."""
        file_type = await asyncio.to_thread(sniff, upload.content, upload.original_name)
        accepted = Accepted(uuid4(), uuid4())
        await _to_the_end(self._store(upload, file_type, accepted))
        log.info(
            "file accepted",
            file_id=str(accepted.file_id),
            job_id=str(accepted.job_id),
            type=file_type.value,
        )
        return accepted

    async def _store(self, upload: Upload, file_type: FileType, accepted: Accepted) -> None:
        key = object_keys.upload(accepted.file_id, file_type.value.lower())
        registration = _Registration(
            (
                accepted.file_id,
                accepted.job_id,
                self._objects.bucket,
                key,
                upload.stored.size_bytes,
                upload.stored.sha256,
                names.clean(upload.original_name),
                file_type.value,
                file_type.pipeline.value,
                upload.client_ref,
            )
        )
        try:
            await self._objects.put_file(key, upload.content, upload.stored.size_bytes)
            await registration.make(self._database)
        except Exception as error:
            # Rows whose commit was not confirmed may exist and then need their object; where they
            # do not, the sweep collects it.
            if not (registration.was_sent and is_unavailable(error)):
                await self._discard(key)
            raise

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

    async def make(self, database: Database) -> None:
        """Insert the rows; a connection that died in the pool costs a try, not the upload."""
        for left in reversed(range(_TRIES)):
            try:
                async with database.connection() as connection:
                    self.was_sent = True
                    await connection.execute(SQL.register_upload, *self._values)
            except Exception as error:
                if left == 0 or not is_unavailable(error):
                    raise
            else:
                return


async def _to_the_end(work: Coroutine[object, object, None]) -> None:
    """Do the work even where the caller is cancelled meanwhile: no object is left without rows."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
