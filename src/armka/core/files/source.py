"""The uploaded document, as it was."""

from pathlib import Path
from uuid import UUID

import structlog

from armka.core.database.pool import Database
from armka.core.errors import FileNotFound, SourceMissing
from armka.core.files.uploads import SQL
from armka.objects.store import ObjectMissing, ObjectStore, ObjectTooLarge

log = structlog.get_logger(__name__)


class Sources:
    """Fetches documents from the object store, and checks them."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    async def fetch(self, file_id: UUID, folder: Path) -> tuple[Path, str]:
        """Bring a file's document into a local folder; returns where, and its name.

        Raises FileNotFound; SourceMissing where the object is gone or is another than the upload.
        """
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.source, file_id)
        if row is None:
            raise FileNotFound(file_id)
        path = folder / "source"
        try:
            # Rows of an import may know no size.
            limit = row["size_bytes"] if row["size_bytes"] is not None else 2**40
            found = await self._objects.get_to_file(row["key"], path, limit=limit)
        except (ObjectMissing, ObjectTooLarge) as error:
            log.warning("an uploaded document is missing", file_id=str(file_id), why=str(error))
            raise SourceMissing(file_id) from error
        if row["sha256"] is not None and found.sha256 != row["sha256"]:
            log.error("an uploaded document has changed", file_id=str(file_id), key=row["key"])
            raise SourceMissing(file_id)
        return path, row["original_name"]
