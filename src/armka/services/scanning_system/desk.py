"""The life of a document: accepted, waiting, read page by page, answered, kept for a while.

One task for each document that is not at its end. As many documents are read at once as there are
child processes, each with as many pages at once: a long document does not hold up a short one.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec
import structlog

from armka.contract.vocabulary import ErrorCode
from armka.sdk import wording
from armka.services.scanning_system import NAME, VERSION
from armka.services.scanning_system.answer import SCHEMA_VERSION, Engine
from armka.services.scanning_system.callbacks import Caller
from armka.services.scanning_system.readers import NotRead, Readers
from armka.services.scanning_system.records import Callback, Failure, Record, Status
from armka.services.scanning_system.settings import ScanningSettings
from armka.services.scanning_system.store import Store

log = structlog.get_logger(__name__)

_STARTS_MOST = 3
_SWEEP_SECONDS = 60.0
_MEBIBYTE = 1024 * 1024
_ENDED_BY_ITSELF = (
    f"Чтение документа {_STARTS_MOST} раза прерывалось остановкой сервиса. Загрузите документ еще "
    "раз; если ошибка повторится, сообщите администратору."
)


class DocumentUnknown(Exception):
    """There is no such document, or not any more."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"no document {document_id}: answers are kept for a while only")
        self.document_id = document_id


class KeyTaken(Exception):
    """Another document came under this idempotency key."""

    def __init__(self, key: str) -> None:
        super().__init__(f"another document was sent under the idempotency key {key}")
        self.key = key


class Full(Exception):
    """As many documents as are taken on wait for their end."""


class DiskFull(Exception):
    """There is no room for the document, and no old answer that could give way."""


class _Page(msgspec.Struct):
    page: msgspec.Raw
    warnings: list[str] = []


class _Answer(msgspec.Struct):
    schema_version: str
    document_id: str
    engine: Engine
    pages: list[msgspec.Raw]
    warnings: list[str]


class Desk:
    """All documents of this scanning system."""

    def __init__(
        self, settings: ScanningSettings, store: Store, readers: Readers, caller: Caller
    ) -> None:
        self._settings = settings
        self._store = store
        self._readers = readers
        self._caller = caller
        self._records: dict[str, Record] = {}
        self._keys: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._calls: set[asyncio.Task[None]] = set()
        self._receiving = 0
        self._turn = asyncio.Semaphore(settings.concurrency)
        self._sweeping: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def __aenter__(self) -> Self:
        """Take up what an earlier process left; raises FolderTaken."""
        for record in await asyncio.to_thread(self._store.open):
            self._know(record, await asyncio.to_thread(self._store.size, record.document_id))
            if not record.status.is_end:
                self._begin(record)
            elif record.callback is not None:
                self._call(record, record.callback)
        self._sweeping = asyncio.create_task(self._sweep())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop; what is not at its end is taken up by the next process."""
        self._is_stopping = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        under_way = [*self._tasks.values(), *self._calls]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._store.close()

    def stop_waiting(self) -> None:
        """Answer every long poll now."""
        self._is_stopping = True
        for changed in self._changed.values():
            changed.set()

    @property
    def unanswered(self) -> int:
        """Documents that are not at their end."""
        return len(self._tasks)

    @contextlib.contextmanager
    def receiving(self) -> Iterator[Path]:
        """Where to receive a document, which counts from now on; raises Full."""
        if len(self._tasks) + self._receiving >= self._settings.backlog:
            raise Full
        path = self._store.new_upload()
        self._receiving += 1
        try:
            yield path
        finally:
            self._receiving -= 1
            path.unlink(missing_ok=True)

    def known(self, key: str | None, sha256: str) -> Record | None:
        """The document that came under this key before; raises KeyTaken."""
        record = self._records.get(self._keys.get(key or "", ""))
        if record is not None and record.sha256 != sha256:
            raise KeyTaken(key or "")
        return record

    async def call_back(self, record: Record, callback: Callback | None) -> None:
        """Whoever sent a document last is called, unless it is at its end: that is told at once."""
        if not record.status.is_end and record.callback != callback:
            record.callback = callback
            await asyncio.to_thread(self._store.save, record)

    async def accept(self, record: Record, upload: Path) -> Record:
        """Take a document on; raises KeyTaken, DiskFull. The same key again: the same document."""
        known = self.known(record.key, record.sha256)
        if known is not None:
            return known
        await self._make_room(record.size)
        known = self.known(record.key, record.sha256)
        if known is not None:
            return known
        self._know(record, record.size)  # from here on the key is taken
        try:
            await asyncio.to_thread(self._store.add, record, upload)
        except OSError:
            self._forget(record.document_id)
            raise DiskFull from None
        log.info("a document is accepted", document=record.document_id, pages=record.pages_total)
        self._begin(record)
        return record

    def record(self, document_id: str) -> Record:
        """What is known of a document; raises DocumentUnknown."""
        try:
            return self._records[document_id]
        except KeyError:
            raise DocumentUnknown(document_id) from None

    async def wait(self, document_id: str, seconds: float) -> Record:
        """The document at its end, or as it is after so long; raises DocumentUnknown."""
        record = self.record(document_id)
        if seconds > 0 and not record.status.is_end and not self._is_stopping:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed[document_id].wait()
        return record

    def answer(self, document_id: str) -> Path:
        """The file of an answer."""
        return self._store.answer(document_id)

    async def cancel(self, document_id: str) -> None:
        """Stop reading a document; nothing happens to one at its end. Raises DocumentUnknown."""
        record = self.record(document_id)
        if not record.status.is_end:
            record.status = Status.CANCELLED
            self._tasks[document_id].cancel()
            await asyncio.gather(self._tasks[document_id], return_exceptions=True)

    def _know(self, record: Record, size: int) -> None:
        self._records[record.document_id] = record
        self._sizes[record.document_id] = size
        self._changed[record.document_id] = asyncio.Event()
        if record.key:
            self._keys[record.key] = record.document_id

    def _forget(self, document_id: str) -> None:
        record = self._records.pop(document_id)
        self._sizes.pop(document_id)
        self._changed.pop(document_id).set()
        if record.key and self._keys.get(record.key) == document_id:
            del self._keys[record.key]

    def _begin(self, record: Record) -> None:
        task = asyncio.create_task(self._live(record), name=record.document_id)
        self._tasks[record.document_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(record.document_id, None))

    async def _live(self, record: Record) -> None:
        """From the queue to the end; cancelled by a client, or by the end of this process."""
        try:
            await self._in_time(record)
        except NotRead as error:
            await self._end(record, Status.FAILED, error.failure)
        except asyncio.CancelledError:
            if record.status is not Status.CANCELLED:
                self._put_back(record)
                raise
            await self._end(record, Status.CANCELLED)
        except Exception:
            log.exception("a document failed unexpectedly", document=record.document_id)
            failure = Failure(ErrorCode.UNKNOWN_ERROR, wording.UNEXPECTED)
            await self._end(record, Status.FAILED, failure)

    def _put_back(self, record: Record) -> None:
        """An orderly end of this process is no fault of the document's."""
        if record.status is Status.RUNNING:
            record.status, record.starts = Status.QUEUED, record.starts - 1
            self._store.save(record)

    async def _in_time(self, record: Record) -> None:
        left = None if record.deadline is None else max(record.deadline - time.time(), 0)
        timeout = asyncio.timeout(left)
        try:
            async with timeout, self._turn:
                await self._read(record)
        except TimeoutError:
            if not timeout.expired():
                raise
            raise NotRead(ErrorCode.TIMEOUT, wording.DEADLINE_PASSED) from None

    async def _read(self, record: Record) -> None:
        if record.starts >= _STARTS_MOST:
            raise NotRead(ErrorCode.RECOGNITION_FAILED, _ENDED_BY_ITSELF)
        record.status, record.starts = Status.RUNNING, record.starts + 1
        await asyncio.to_thread(self._store.save, record)
        done = await asyncio.to_thread(self._store.page_numbers, record.document_id)
        record.pages_done = len(done)
        numbers = (it for it in range(1, record.pages_total + 1) if it not in done)
        started = time.monotonic()
        await self._read_pages(record, numbers)
        answer = await asyncio.to_thread(self._join, record)
        await asyncio.to_thread(self._store.save_answer, record.document_id, answer)
        await self._end(record, Status.DONE)
        seconds = round(time.monotonic() - started, 3)
        log.info("a document is read", document=record.document_id, seconds=seconds)

    async def _read_pages(self, record: Record, numbers: Iterator[int]) -> None:
        path = str(self._store.source(record.document_id))

        async def work() -> None:
            for number in numbers:
                page = await self._readers.read(record, path, number)
                await asyncio.to_thread(self._store.save_page, record.document_id, number, page)
                record.pages_done += 1

        workers = [asyncio.create_task(work()) for _ in range(self._settings.concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _join(self, record: Record) -> bytes:
        pages = [
            msgspec.json.decode(self._store.page(record.document_id, number), type=_Page)
            for number in range(1, record.pages_total + 1)
        ]
        warnings = [*record.warnings, *(it for page in pages for it in page.warnings)]
        raw = [page.page for page in pages]
        engine = Engine(f"arm-ka {NAME}", VERSION)
        return msgspec.json.encode(
            _Answer(SCHEMA_VERSION, record.document_id, engine, raw, warnings)
        )

    async def _end(self, record: Record, status: Status, error: Failure | None = None) -> None:
        if error is not None:
            log.info("a document is not read", document=record.document_id, code=error.code)
        record.status, record.error, record.ended = status, error, time.time()
        await asyncio.to_thread(self._store.save, record)
        await asyncio.to_thread(self._store.strip, record.document_id)
        size = await asyncio.to_thread(self._store.size, record.document_id)
        self._sizes[record.document_id] = size
        self._changed[record.document_id].set()
        if record.callback is not None:
            self._call(record, record.callback)

    def _call(self, record: Record, callback: Callback) -> None:
        task = asyncio.create_task(self._tell(record, callback))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _tell(self, record: Record, callback: Callback) -> None:
        """A call that this process does not come to make is made by the next one."""
        if record.status is not Status.CANCELLED:
            await self._caller.tell(record, callback)
        record.callback = None
        if record.document_id in self._records:
            await asyncio.to_thread(self._store.save, record)

    async def _sweep(self) -> None:
        while True:
            oldest = time.time() - self._settings.keep_hours * 3600
            for record in self._ended():
                if (record.ended or 0) < oldest:
                    await self._remove(record)
            await asyncio.sleep(_SWEEP_SECONDS)

    def _ended(self) -> list[Record]:
        ended = [it for it in self._records.values() if it.status.is_end]
        return sorted(ended, key=lambda it: it.ended or 0)

    async def _remove(self, record: Record) -> None:
        if record.document_id in self._records:
            self._forget(record.document_id)
            await asyncio.to_thread(self._store.remove, record.document_id)

    async def _make_room(self, size: int) -> None:
        limit = self._settings.max_data_mb * _MEBIBYTE
        for record in self._ended():
            if sum(self._sizes.values()) + size <= limit:
                return
            await self._remove(record)
        if sum(self._sizes.values()) + size > limit:
            raise DiskFull
