"""The object store's checks: it can be written, and it and the rows tell of the same objects."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from armka.core.doctor.findings import Check, Finding
from armka.core.doctor.records import Records, describe
from armka.core.files import sweep
from armka.objects.store import ObjectMissing, ObjectStore

SAMPLE = 100
_LISTED_KEYS = 5000
_AT_ONCE = 8
_PROBE = b"arm-ka doctor"

REACHED = Check(
    "object_store",
    "The object store does not take, return and remove an object.",
    "See S3_ENDPOINT_URL, S3_BUCKET (it must exist) and the rights of the access key.",
)
MISSING = Check(
    "object_missing",
    "A row names an object that the store does not have: it was removed behind arm-ka's back.",
    "Bring it back from the store's versions or a backup; without a source upload the file again, "
    "without a result start a new attempt.",
)
ORPHANED = Check(
    "upload_without_row",
    "An uploaded object is known to no file, and is older than the sweep lets it become.",
    "See that a core runs; after a restore of the database these may be documents whose rows are "
    "lost: keep them, raise SWEEP_GRACE_SECONDS.",
)


class Stored:
    """Asks one bucket, beside the database's records."""

    def __init__(self, objects: ObjectStore, records: Records, grace_seconds: float) -> None:
        self._objects = objects
        self._records = records
        self._age = timedelta(seconds=grace_seconds + 2 * sweep.PERIOD_SECONDS)

    async def probe(self) -> Finding:
        """Write, read and remove an object of the doctor's own."""
        key = f"doctor/{uuid4()}"
        try:
            await self._objects.put(key, _PROBE)
            returned = await self._objects.get(key, limit=len(_PROBE))
            await self._objects.delete(key)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return REACHED.unreached(describe(error))
        return REACHED.found([] if returned == _PROBE else [f"{key} came back changed"])

    async def missing(self) -> Finding:
        """Objects of the newest files and results that are not there."""
        try:
            keys = await self._records.newest_keys(SAMPLE, self._objects.bucket)
            limit = asyncio.Semaphore(_AT_ONCE)
            found = await asyncio.gather(*(self._is_missing(key, limit) for key in keys))
        except Exception as error:  # noqa: BLE001 - as above
            return MISSING.unreached(describe(error))
        return MISSING.found([key for key, missing in zip(keys, found, strict=True) if missing])

    async def orphaned(self) -> Finding:
        """Uploads without a row, among the first keys that the store lists."""
        orphans: list[str] = []
        listed = 0
        try:
            async for keys in self._objects.list_older("uploads/", datetime.now(UTC) - self._age):
                orphans += await self._records.unknown_keys(keys, self._objects.bucket)
                listed += len(keys)
                if listed >= _LISTED_KEYS:
                    break
        except Exception as error:  # noqa: BLE001 - as above
            return ORPHANED.unreached(describe(error))
        return ORPHANED.found(orphans)

    async def _is_missing(self, key: str, limit: asyncio.Semaphore) -> bool:
        try:
            async with limit:
                await self._objects.size(key)
        except ObjectMissing:
            return True
        return False
