"""One file to ИС Сканирование, and its answer back, within the job's time."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from armka.contract.vocabulary import ErrorCode
from armka.sdk.handler import Refused
from armka.sdk.outside import Answered, Errand
from armka.services.scan_gateway import callbacks, wording
from armka.services.scan_gateway.callbacks import Callbacks, Expected
from armka.services.scan_gateway.circuit import Circuit
from armka.services.scan_gateway.over_http import OverHttp
from armka.services.scan_gateway.scanning import (
    Accepted,
    Busy,
    Gone,
    NotAsAgreed,
    NotLetIn,
    Progress,
    ScanningSystem,
    State,
    Submission,
    TurnedDown,
    Unavailable,
)
from armka.services.scan_gateway.settings import GatewaySettings, ScanningClientSettings

log = structlog.get_logger(__name__)

T = TypeVar("T")

_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_LEAST_BETWEEN_POLLS_SECONDS = 0.2
_SUBMISSIONS = 3
_FAREWELL_SECONDS = 2.0


@contextlib.asynccontextmanager
async def gateway() -> AsyncIterator["Gateway"]:
    """The gateway, set up by the environment; raises pydantic's ValidationError."""
    settings = GatewaySettings()
    async with (
        OverHttp(ScanningClientSettings(), settings.max_answer_bytes) as system,
        callbacks.listening(settings) as calls,
    ):
        yield Gateway(system, settings, calls)


@dataclass
class _Course:
    """How far an errand has come: what keeps it waiting, and what is to be cancelled.

    `call`: the call that was asked for; ИС may have promised it, and it may have come.
    """

    call: Expected | None
    is_promised: bool = False
    was_called: bool = False
    document: str | None = None
    is_over: bool = False
    why_late: str = wording.NOT_SENT
    submissions: int = 0
    retries: int = 0


class Gateway:
    """Has files read by ИС Сканирование; every call goes through one circuit breaker."""

    def __init__(
        self, system: ScanningSystem, settings: GatewaySettings, calls: Callbacks | None = None
    ) -> None:
        self._system = system
        self._calls = calls
        self._settings = settings
        self._circuit = Circuit(settings.failures_to_pause, settings.longest_pause_seconds)

    @property
    def at_once(self) -> int:
        """How many files ИС Сканирование is given at once."""
        return self._settings.concurrency

    async def ask(self, errand: Errand) -> Answered:
        """Have a file read by `errand.until`; raises Refused, with the code that says why not."""
        left = _seconds_left(errand)
        if left <= 0:
            raise Refused(ErrorCode.TIMEOUT, wording.NOT_SENT)
        with contextlib.ExitStack() as stack:
            call = (
                stack.enter_context(self._calls.expecting(errand.job_id)) if self._calls else None
            )
            return await self._ask(errand, _Course(call), left)

    async def _ask(self, errand: Errand, course: _Course, seconds: float) -> Answered:
        try:
            async with asyncio.timeout(seconds):
                await self._have_read(errand, course)
        except TimeoutError:
            raise Refused(ErrorCode.TIMEOUT, course.why_late) from None
        except NotAsAgreed as nonsense:
            _keep(errand, nonsense.body)
            job = str(errand.job_id)
            log.error("not as agreed", job=job, reason=nonsense.reason)  # noqa: TRY400
            reason = wording.not_as_agreed(nonsense.reason)
            raise Refused(ErrorCode.SCHEMA_MISMATCH, reason) from None
        except TurnedDown as refusal:
            _keep(errand, refusal.body)
            raise _turned_down(refusal) from None
        finally:
            await self._let_go(course, errand)
        assert course.document is not None
        metrics: dict[str, object] = {
            "scanning_document": course.document,
            "scanning_retries": course.retries,
            "scanning_called": course.was_called,
        }
        return Answered(course.document, metrics)

    async def _have_read(self, errand: Errand, course: _Course) -> None:
        while True:
            try:
                accepted = await self._submit(errand, course)
                course.document, course.is_promised = accepted.document, accepted.will_call
                progress = await self._until_final(accepted.document, errand, course)
                course.is_over = True
                if progress.state is not State.DONE:
                    _keep(errand, progress.body)
                    raise _failed(progress)
                await self._fetch(accepted.document, errand, course)
                return
            except Gone:
                log.warning("a document is gone", job=str(errand.job_id), document=course.document)
                course.document, course.is_over = None, False
                if course.submissions == _SUBMISSIONS:
                    raise Refused(ErrorCode.RECOGNITION_FAILED, wording.LOST) from None

    async def _submit(self, errand: Errand, course: _Course) -> Accepted:
        """The job's id is the key: a repeat, of whichever instance, is no second document."""
        submission = Submission(
            key=str(errand.job_id),
            path=errand.path,
            size_bytes=errand.size_bytes,
            file_type=errand.file_type,
            name=errand.original_name,
            deadline=errand.until,
            callback=course.call.callback if course.call else None,
        )
        course.submissions += 1
        return await self._persistently(lambda _: self._system.submit(submission), course)

    async def _until_final(self, document: str, errand: Errand, course: _Course) -> Progress:
        hold = 0.0 if course.is_promised else self._settings.poll_seconds
        while True:
            began = time.monotonic()
            if course.call is not None:
                course.call.came.clear()
            progress = await self._persistently(
                lambda quick: self._system.progress(document, 0 if quick else hold), course
            )
            if progress.state.is_final:
                return progress
            if course.is_promised:
                await self._called(errand, course)
            # A system that does not hold the question is not asked without end.
            rest = _LEAST_BETWEEN_POLLS_SECONDS - (time.monotonic() - began)
            await asyncio.sleep(max(rest, 0))

    async def _called(self, errand: Errand, course: _Course) -> None:
        """Wait for the promised call; one that does not come costs no more than half the time."""
        assert course.call is not None
        longest = min(self._settings.callback_wait_seconds, _seconds_left(errand) / 2)
        course.was_called = False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest):
                course.was_called = await course.call.came.wait()

    async def _fetch(self, document: str, errand: Errand, course: _Course) -> None:
        await self._persistently(lambda _: self._system.fetch(document, errand.answer), course)

    async def _persistently(self, action: Callable[[bool], Awaitable[T]], course: _Course) -> T:
        """Repeat while ИС Сканирование is away or full; the deadline ends it."""
        failures = 0
        while True:
            if self._circuit.is_open:
                course.why_late = wording.AWAY
            try:
                async with self._circuit.passing() as quick:
                    course.why_late = course.why_late if failures else wording.SLOW
                    return await action(quick)
            except Busy as busy:
                course.why_late, pause = wording.FULL, busy.after
            except Unavailable as away:
                late = wording.NOT_LET_IN if isinstance(away, NotLetIn) else wording.AWAY
                course.why_late = late
                pause = _PAUSES_SECONDS[min(failures, len(_PAUSES_SECONDS) - 1)]
                failures += 1
            course.retries += 1
            await asyncio.sleep(pause * random.uniform(0.75, 1.25))

    async def _let_go(self, course: _Course, errand: Errand) -> None:
        """Cancel what nobody waits for any more, at the deadline and when the service stops."""
        if course.document is None or course.is_over or self._circuit.is_open:
            return
        try:
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._system.cancel(course.document)
        except (Unavailable, Busy, NotAsAgreed, TimeoutError) as error:
            # It was told the deadline with the file.
            log.warning("not cancelled", job=str(errand.job_id), error=str(error))


def _seconds_left(errand: Errand) -> float:
    return errand.until.timestamp() - time.time()


def _keep(errand: Errand, body: bytes) -> None:
    """What was answered last is the raw answer; a result in full is there already."""
    if body:
        errand.answer.write_bytes(body)


def _failed(progress: Progress) -> Refused:
    if progress.state is State.CANCELLED:
        return Refused(ErrorCode.RECOGNITION_FAILED, wording.CANCELLED)
    code = _code(progress.code, ErrorCode.RECOGNITION_FAILED)
    return Refused(code, wording.failed(progress.message))


def _turned_down(refusal: TurnedDown) -> Refused:
    match refusal.status:
        case 413:
            return Refused(ErrorCode.FILE_READ_ERROR, wording.too_large(refusal.message))
        case 415:  # it is not what it was announced as; the type itself is one of ours
            code = _code(refusal.code, ErrorCode.INVALID_FORMAT)
        case 422:
            code = _code(refusal.code, ErrorCode.UNREADABLE)
        case _:
            code = _code(refusal.code, ErrorCode.RECOGNITION_FAILED)
    return Refused(code, wording.turned_down(refusal.message))


def _code(code: str | None, otherwise: ErrorCode) -> ErrorCode:
    """The contract's code; of a word that it does not know, what is meant by the place."""
    return ErrorCode(code) if code in set(ErrorCode) else otherwise
