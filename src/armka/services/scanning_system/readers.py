"""Documents are opened in child processes only: these are the calls, and what can come of them."""

import contextlib
from collections.abc import Iterator
from typing import Self

import msgspec
import structlog

from armka.contract.vocabulary import ErrorCode
from armka.sdk import wording
from armka.sdk.children import ChildDied, Children, ResultTooLarge, TimeLimitPassed
from armka.sdk.frames import Broken, Declined, OutOfMemory, Report, Returned
from armka.services.scanning_system.reading import page as reading
from armka.services.scanning_system.reading.calls import (
    InspectCall,
    Inspected,
    Kind,
    Limits,
    ReadCall,
)
from armka.services.scanning_system.records import Failure, Record
from armka.services.scanning_system.settings import ScanningSettings

log = structlog.get_logger(__name__)


class NotRead(Exception):
    """The document cannot be read, or not here."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(code, message)
        self.failure = Failure(code, wording.presentable(message))


class Readers:
    """The child processes: one that looks at documents, and those that read pages."""

    def __init__(self, settings: ScanningSettings, tessdata: str | None) -> None:
        self._settings = settings
        self._limits = Limits(settings.max_pages, settings.max_pixels, tessdata)
        # Looking at a document is quick and must not wait for pages: its client does.
        self._inspector = Children(reading.inspect, settings.model_copy(update={"concurrency": 1}))
        self._pages = Children(reading.read, settings)
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start them."""
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self._inspector)
            await stack.enter_async_context(self._pages)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill them."""
        await self._stack.aclose()

    async def inspect(self, path: str, kind: Kind) -> int:
        """How many pages a document has; raises NotRead."""
        call = InspectCall(path, kind, self._limits)
        async with self._inspector.one() as child:
            with _judged(self._settings.inspect_seconds, kind):
                report, body = await child.call(
                    msgspec.json.encode(call), self._settings.inspect_seconds
                )
        _check(report, kind)
        return msgspec.json.decode(body, type=Inspected).pages

    async def read(self, record: Record, path: str, number: int) -> bytes:
        """A page of a document, a `PageAnswer`; raises NotRead."""
        call = ReadCall(path, record.kind, number, self._limits)
        async with self._pages.one() as child:
            with _judged(self._settings.page_seconds, record.document_id, number):
                report, body = await child.call(
                    msgspec.json.encode(call), self._settings.page_seconds
                )
        _check(report, record.document_id, number)
        return body


@contextlib.contextmanager
def _judged(seconds: float, document: str, page: int | None = None) -> Iterator[None]:
    try:
        yield
    except TimeLimitPassed:
        raise NotRead(ErrorCode.RECOGNITION_FAILED, wording.too_slow(seconds)) from None
    except ResultTooLarge:
        message = "На странице слишком много текста. Разделите документ."
        raise NotRead(ErrorCode.RECOGNITION_FAILED, message) from None
    except ChildDied as died:
        log.warning("a child process died", document=document, page=page, status=died.status)
        raise NotRead(ErrorCode.RECOGNITION_FAILED, wording.CRASHED) from None


def _check(report: Report, document: str, page: int | None = None) -> None:
    match report:
        case Returned():
            return
        case Declined(code, message):
            raise NotRead(code, message)
        case OutOfMemory():
            raise NotRead(ErrorCode.RECOGNITION_FAILED, wording.OUT_OF_MEMORY)
        case Broken(where, detail):
            log.error("the reader failed", document=document, page=page, where=where)
            log.debug("its error", detail=detail)
        case _:
            log.error("a child process speaks out of turn", document=document)
    raise NotRead(ErrorCode.UNKNOWN_ERROR, wording.UNEXPECTED)
