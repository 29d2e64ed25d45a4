"""One job: fetch the source, have it read in a child process, store the result file."""

import asyncio
import contextlib
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

import msgspec
import structlog

from armka.contract import object_keys
from armka.contract.fields import ObjectRef
from armka.contract.request import RecognitionRequest
from armka.contract.vocabulary import ErrorCode
from armka.objects.settings import ObjectSettings
from armka.objects.store import (
    ObjectMissing,
    ObjectStore,
    ObjectTooLarge,
    Stored,
    StoreUnavailable,
)
from armka.sdk import wording
from armka.sdk.children import Child, ChildDied, Children, ResultTooLarge, TimeLimitPassed
from armka.sdk.frames import (
    AnswerToRead,
    Broken,
    Declined,
    OutOfMemory,
    Read,
    Ready,
    Report,
    Returned,
    Task,
)
from armka.sdk.handler import Refused
from armka.sdk.outside import Answered, Errand, Outside
from armka.sdk.replies import NotRecognised, Recognised, Verdict
from armka.sdk.service import Service
from armka.sdk.settings import ServiceSettings

log = structlog.get_logger(__name__)

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\Z")
# Other keys name no object that the client can ask for; some of them would name the bucket itself.
_KEY = re.compile(r"(?!\.{1,2}(/|\Z))[^/\0-\x1f]+(/(?!\.{1,2}(/|\Z))[^/\0-\x1f]+)*\Z")
_MOST_BUCKETS = 16
_STORE_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
# What an outside system's answer takes afterwards: to be stored, read and told before the deadline.
_RESERVE_SHARE, _RESERVE_SECONDS = 0.1, 10.0

T = TypeVar("T")


@dataclass(frozen=True)
class Work:
    """What came of a job, with what it took: seconds and bytes, and the handler's own metrics."""

    verdict: Verdict
    metrics: dict[str, object]
    raw_s3_key: str | None = None


class _Failed(Exception):
    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(code)
        self.verdict = NotRecognised(code, message)


@dataclass
class _Meter:
    """What a job has taken and left so far."""

    metrics: dict[str, object] = field(default_factory=dict)
    raw_s3_key: str | None = None

    @contextlib.contextmanager
    def timing(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.metrics[f"{name}_seconds"] = round(time.monotonic() - started, 3)


class Workshop:
    """Does the jobs of one service; each waits for a free child before its file is fetched."""

    def __init__(
        self,
        service: Service,
        children: Children,
        objects: ObjectSettings,
        settings: ServiceSettings,
        folder: Path,
        outside: Outside | None = None,
    ) -> None:
        self._service = service
        self._children = children
        self._objects = objects
        self._settings = settings
        self._folder = folder
        self._results = ObjectStore(objects)
        self._buckets = {objects.bucket: self._results}
        self._outside = outside
        self._errands = asyncio.Semaphore(outside.at_once if outside else 1)

    @property
    def at_once(self) -> int:
        """How many jobs are in work at the same time, here or outside."""
        outside = self._outside.at_once if self._outside else 0
        return max(self._settings.concurrency, outside)

    async def do(self, request: RecognitionRequest) -> Work:
        """Do a job; whatever happens, there is a verdict."""
        meter = _Meter()
        try:
            verdict: Verdict = await self._do(request, meter)
        except _Failed as failed:
            verdict = failed.verdict
        except Exception:
            log.exception("a job failed unexpectedly", job=str(request.job))
            verdict = NotRecognised(ErrorCode.UNKNOWN_ERROR, wording.UNEXPECTED)
        return Work(verdict, meter.metrics, meter.raw_s3_key)

    async def _do(self, request: RecognitionRequest, meter: _Meter) -> Recognised:
        if _seconds_left(request) <= 0:
            raise _Failed(ErrorCode.TIMEOUT, wording.DEADLINE_PASSED)
        if request.file_type.pipeline is not self._service.pipeline:
            reason = wording.wrong_file_type(request.file_type)
            raise _Failed(ErrorCode.UNSUPPORTED_FORMAT, reason)
        with _temporary(self._folder, request) as path:
            if self._outside is None:
                async with self._child(request, meter) as child:
                    source = await self._fetch(request, path, meter)
                    return await self._recognise(child, request, meter, path, source)
            source, answer = await self._have_read(self._outside, request, path, meter)
            async with self._child(request, meter) as child:
                return await self._recognise(child, request, meter, path, source, answer)

    async def _recognise(
        self,
        child: Child,
        request: RecognitionRequest,
        meter: _Meter,
        path: Path,
        source: Stored,
        answer: AnswerToRead | None = None,
    ) -> Recognised:
        with meter.timing("recognise"):
            task = self._task(request, path, source, answer)
            read, result = await self._read(child, request, task)
        meter.metrics = msgspec.json.decode(read.metrics) | meter.metrics
        meter.metrics["result_bytes"] = len(result)
        with meter.timing("store"):
            return Recognised(await self._store(request, result), read.needs_check)

    async def _have_read(
        self, outside: Outside, request: RecognitionRequest, path: Path, meter: _Meter
    ) -> tuple[Stored, AnswerToRead]:
        """Fetch the file when the outside system has room for it, and have it read there."""
        left = _seconds_left(request)
        left -= min(_RESERVE_SECONDS, _RESERVE_SHARE * left)
        until = datetime.fromtimestamp(time.time() + left, UTC)
        async with contextlib.AsyncExitStack() as stack:
            try:
                with meter.timing("queue"):
                    async with asyncio.timeout(left):
                        await stack.enter_async_context(self._errands)
            except TimeoutError:
                raise _Failed(ErrorCode.TIMEOUT, wording.DEADLINE_PASSED) from None
            source = await self._fetch(request, path, meter)
            errand = Errand(
                job_id=request.job,
                path=path,
                file_type=request.file_type,
                original_name=request.original_name,
                size_bytes=source.size_bytes,
                until=until,
                answer=path.with_suffix(".answer"),
            )
            answered = await self._ask(outside, errand, request, meter)
            return source, AnswerToRead(str(errand.answer), answered.reference)

    async def _ask(
        self, outside: Outside, errand: Errand, request: RecognitionRequest, meter: _Meter
    ) -> Answered:
        """Ask, and store what was answered, whatever it is."""
        refusal: Refused | None = None
        answered = Answered("")
        try:
            with meter.timing("outside"):
                answered = await outside.ask(errand)
        except Refused as refused:
            refusal = refused
        if size := _size(errand.answer):
            meter.raw_s3_key = await self._store_raw(errand.answer, size, request)
        if refusal is not None:
            raise _Failed(refusal.code, refusal.message)
        meter.metrics |= answered.metrics
        return answered

    async def _store_raw(self, answer: Path, size: int, request: RecognitionRequest) -> str:
        key = object_keys.raw(request.job)
        with answer.open("rb") as content:
            try:
                await _persistently(lambda: self._results.put_file(key, content, size), request)
            except TimeoutError:
                raise _Failed(ErrorCode.TIMEOUT, wording.RESULT_NOT_STORED) from None
        return key

    @contextlib.asynccontextmanager
    async def _child(self, request: RecognitionRequest, meter: _Meter) -> AsyncIterator[Child]:
        async with contextlib.AsyncExitStack() as stack:
            try:
                with meter.timing("wait"):
                    async with asyncio.timeout(_seconds_left(request)):
                        child = await stack.enter_async_context(self._children.one())
            except TimeoutError:
                raise _Failed(ErrorCode.TIMEOUT, wording.DEADLINE_PASSED) from None
            yield child

    async def _fetch(self, request: RecognitionRequest, path: Path, meter: _Meter) -> Stored:
        with meter.timing("fetch"):
            source = await self._fetched(request, path)
        meter.metrics["source_bytes"] = source.size_bytes
        return source

    async def _fetched(self, request: RecognitionRequest, path: Path) -> Stored:
        limit = self._settings.max_source_bytes
        if not _BUCKET.match(request.s3.bucket) or not _KEY.match(request.s3.key):
            raise _Failed(ErrorCode.FILE_READ_ERROR, wording.SOURCE_MISSING)
        store = self._bucket(request.s3.bucket)
        try:
            return await _persistently(
                lambda: store.get_to_file(request.s3.key, path, limit=limit), request
            )
        except ObjectMissing:
            reason = wording.SOURCE_MISSING
        except ObjectTooLarge:
            reason = wording.source_too_large(limit)
        except TimeoutError:
            reason = wording.SOURCE_UNREACHABLE
        raise _Failed(ErrorCode.FILE_READ_ERROR, reason)

    async def _read(
        self, child: Child, request: RecognitionRequest, task: Task
    ) -> tuple[Read, bytes]:
        job = log.bind(job=str(request.job))
        left = _seconds_left(request)
        limit = self._settings.time_limit_seconds
        try:
            report, result = await child.recognise(task, min(limit, left))
        except TimeLimitPassed:
            if left <= limit:
                raise _Failed(ErrorCode.TIMEOUT, wording.DEADLINE_PASSED) from None
            raise _Failed(ErrorCode.RECOGNITION_FAILED, wording.too_slow(limit)) from None
        except ResultTooLarge:
            reason = wording.result_too_large(self._settings.max_result_bytes)
            raise _Failed(ErrorCode.RECOGNITION_FAILED, reason) from None
        except ChildDied as died:
            job.warning("a child process died", pid=child.pid, status=died.status)
            job.debug("its last words", said=died.said)
            raise _Failed(ErrorCode.RECOGNITION_FAILED, wording.CRASHED) from None
        if isinstance(report, Read):
            return report, result
        raise _failure(report, job)

    def _task(
        self, request: RecognitionRequest, path: Path, source: Stored, answer: AnswerToRead | None
    ) -> Task:
        return Task(
            path=str(path),
            file_type=request.file_type,
            original_name=request.original_name,
            sha256=source.sha256,
            size_bytes=source.size_bytes,
            deadline=request.reply_deadline,
            job_id=str(request.job),
            file_id=str(UUID(request.file_id)),
            service=self._service.info,
            answer=answer,
        )

    async def _store(self, request: RecognitionRequest, result: bytes) -> ObjectRef:
        key = object_keys.result(UUID(request.file_id), request.job)
        try:
            await _persistently(lambda: self._results.put(key, result), request)
        except TimeoutError:
            raise _Failed(ErrorCode.TIMEOUT, wording.RESULT_NOT_STORED) from None
        return ObjectRef(self._results.bucket, key)

    def _bucket(self, name: str) -> ObjectStore:
        if name not in self._buckets:
            if len(self._buckets) == _MOST_BUCKETS:
                self._buckets = {self._objects.bucket: self._results}
            settings = self._objects.model_copy(update={"bucket": name})
            self._buckets[name] = ObjectStore(settings)
        return self._buckets[name]


def _failure(report: Report, job: structlog.typing.FilteringBoundLogger) -> _Failed:
    match report:
        case Declined(code, message):
            return _Failed(code, message)
        case OutOfMemory():
            return _Failed(ErrorCode.RECOGNITION_FAILED, wording.OUT_OF_MEMORY)
        case Broken(where, detail):
            job.error("the handler failed", where=where)
            job.debug("its error", detail=detail)
        case Ready() | Read() | Returned():
            job.error("a child process speaks out of turn")
    return _Failed(ErrorCode.UNKNOWN_ERROR, wording.UNEXPECTED)


def _seconds_left(request: RecognitionRequest) -> float:
    return request.deadline.timestamp() - time.time()


async def _persistently(action: Callable[[], Awaitable[T]], request: RecognitionRequest) -> T:
    """Repeat while the store is unavailable; raises TimeoutError at the deadline."""
    async with asyncio.timeout(_seconds_left(request)):
        failures = 0
        while True:
            try:
                return await action()
            except StoreUnavailable as error:
                log.warning("the store is unavailable", job=str(request.job), error=str(error))
                pause = _STORE_PAUSES_SECONDS[min(failures, len(_STORE_PAUSES_SECONDS) - 1)]
                failures += 1
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@contextlib.contextmanager
def _temporary(folder: Path, request: RecognitionRequest) -> Iterator[Path]:
    path = folder / f"{uuid4()}.{request.file_type.lower()}"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        path.with_suffix(".answer").unlink(missing_ok=True)
