"""An upload: bytes to the object store, then the rows that make them a document to be recognised (F1)."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class Upload:
    """A received file, spooled to local disk and measured."""

    path: Path
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
        file_type = await asyncio.to_thread(sniff, upload.path, upload.original_name)
        accepted = Accepted(uuid4(), uuid4())
        key = object_keys.upload(accepted.file_id, file_type.value.lower())
        # Shielded: a client that hangs up must not leave an object without rows, or wonder about rows half-made.
        await asyncio.shield(self._store(upload, file_type, accepted, key))
        log.info("file accepted", file_id=str(accepted.file_id), job_id=str(accepted.job_id), type=file_type.value)
        return accepted

    async def _store(self, upload: Upload, file_type: FileType, accepted: Accepted, key: str) -> None:
        await self._objects.put_file(key, upload.path, upload.stored.size_bytes)
        try:
            async with self._database.connection() as connection:
                await connection.execute(
                    SQL.register_upload,
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
        except Exception as error:
            if is_unavailable(error) and await self._is_registered(accepted.file_id):
                return
            if not is_unavailable(error):
                await self._discard(key)
            raise

    async def _is_registered(self, file_id: UUID) -> bool:
        """Whether rows whose commit was not confirmed are there all the same.

        Where even that cannot be asked, the object stays: rows may point to it. The sweep collects it if none do.
        """
        async with self._database.connection() as connection:
            return bool(await connection.fetchval(SQL.file_exists, file_id))

    async def _discard(self, key: str) -> None:
        try:
            await self._objects.delete(key)
        except StoreUnavailable:
            log.warning("an object without rows is left to the sweep", key=key)
