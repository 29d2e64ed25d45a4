"""Faults of what a service does: with files, with repeats, with many requests, at its end."""

import asyncio
import contextlib
import os
from collections.abc import Mapping
from typing import Any

from nats.aio.msg import Msg

from armka.contract import message_ids
from armka.contract.request import RecognitionRequest
from armka.contract.subjects import Transport
from armka.contract.vocabulary import FileType
from armka.objects.store import ObjectMissing
from tests.conformance.service.fault import fault
from tests.conformance.service.reference import Reference, Refusal


@fault("a-missing-source-is-a-file-read-error")
class WaitsForTheMissing(Reference):
    """Looks for a missing source for ever."""

    async def fetch(self, request: RecognitionRequest) -> bytes:
        try:
            return await super().fetch(request)
        except Refusal:
            await asyncio.Event().wait()
            raise


@fault("a-missing-source-is-a-file-read-error")
class CallsTheMissingUnknown(Reference):
    """A missing source is an UNKNOWN_ERROR."""

    async def fetch(self, request: RecognitionRequest) -> bytes:
        try:
            return await super().fetch(request)
        except Refusal:
            raise Refusal("UNKNOWN_ERROR") from None


@fault("a-missing-source-is-a-file-read-error", "a-corrupt-file-is-an-error")
class HasNoWordsForPeople(Reference):
    """The message of its errors is empty."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        if "error" in envelope:
            envelope["error"]["message"] = " "
        await super().announce(request, envelope)


@fault("a-corrupt-file-is-an-error")
class DiesOfNoise(Reference):
    """A file that it cannot read ends the job without a word."""

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        try:
            return super().recognise(request, content)
        except Refusal as refusal:
            raise asyncio.CancelledError from refusal


@fault("a-corrupt-file-is-an-error", "an-encrypted-file-is-an-invalid-format")
class ReadsAnything(Reference):
    """Finds a trial balance in every file."""

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        return super().recognise(request, b"PK\x05\x06".ljust(22, b"\0"))


@fault("an-encrypted-file-is-an-invalid-format")
class CallsTheEncryptedUnreadable(Reference):
    """An encrypted document is UNREADABLE."""

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        try:
            return super().recognise(request, content)
        except Refusal:
            raise Refusal("UNREADABLE") from None


@fault("a-type-that-it-does-not-read-is-unsupported")
class TriesEveryType(Reference):
    """Reads a PDF as it reads a workbook."""

    def reads(self) -> frozenset[FileType]:
        return frozenset(FileType)


@fault("a-past-deadline-is-a-timeout")
class DoesNotLookAtTheClock(Reference):
    """Works on a job whose deadline is past."""

    def look_at_the_clock(self, request: RecognitionRequest) -> None:
        if request.file_type not in self.reads():
            raise Refusal("UNSUPPORTED_FORMAT")


@fault("a-past-deadline-is-a-timeout")
class LooksAtTheClockTooLate(Reference):
    """Reads the source before it finds that the deadline is past."""

    async def work(self, request: RecognitionRequest) -> None:
        with contextlib.suppress(ObjectMissing):
            await self.objects.get(request.s3.key, limit=10**8)
        await super().work(request)


@fault("the-loss-of-s3-is-outlived")
class GivesUpWithoutS3(Reference):
    """A refusal of S3 ends the job without a word."""

    async def fetch(self, request: RecognitionRequest) -> bytes:
        try:
            return await self.objects.get(request.s3.key, limit=10**8)
        except ObjectMissing:
            raise Refusal("FILE_READ_ERROR") from None


@fault("a-raw-answer-lies-in-its-place")
class PutsTheRawAnswerElsewhere(Reference):
    """raw_s3_key is no key of the contract's."""

    def ending(self, request: RecognitionRequest, status: str) -> dict[str, Any]:
        return super().ending(request, status) | {"raw_s3_key": f"answers/{request.job}"}


@fault("a-raw-answer-lies-in-its-place")
class PromisesARawAnswer(Reference):
    """Names a raw answer that it has not written."""

    def ending(self, request: RecognitionRequest, status: str) -> dict[str, Any]:
        return super().ending(request, status) | {"raw_s3_key": f"raw/{request.job}.json"}


@fault(
    "a-repeat-in-work-is-acknowledged",
    "a-repeat-of-a-finished-job-is-acknowledged",
    "a-repeat-of-a-failed-job-is-acknowledged",
)
class ProcessesTwice(Reference):
    """Knows no repeats: each is a new job."""

    async def meet_repeat(self, request: RecognitionRequest) -> None:
        await self.take_on(request)


@fault(
    "a-repeat-in-work-is-acknowledged",
    "a-repeat-of-a-finished-job-is-acknowledged",
    "a-repeat-of-a-failed-job-is-acknowledged",
)
class IsSilentOnRepeats(Reference):
    """Drops a repeat."""

    async def meet_repeat(self, request: RecognitionRequest) -> None:
        return


class _Forgets(Reference):
    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        self.handled.discard(str(request.job))
        await super().announce(request, envelope)


@fault(
    "a-repeat-of-a-finished-job-is-acknowledged", "an-invalid-repeat-of-a-finished-job-is-dropped"
)
class ForgetsWhatIsFinished(_Forgets):
    """Remembers a job only while it is in work."""


@fault("a-repeat-of-a-failed-job-is-acknowledged")
class ForgetsWhatFailed(Reference):
    """Remembers only what ended well."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        if envelope["status"] == "error":
            self.handled.discard(str(request.job))
        await super().announce(request, envelope)


@fault("a-repeat-of-a-finished-job-is-acknowledged")
class SendsTheResultAgain(Reference):
    """Answers the repeat of a finished job with its result too."""

    async def meet_repeat(self, request: RecognitionRequest) -> None:
        await super().meet_repeat(request)
        if str(request.job) in self.finished:
            end = self.ending(request, "done")
            await self.publish(end, message_ids.of_result(request.job, request.attempt))


@fault("an-invalid-repeat-in-work-is-dropped", "an-invalid-repeat-of-a-finished-job-is-dropped")
class AnswersInvalidRepeats(Reference):
    """Refuses an invalid request for a job that it knows."""

    def is_known(self, job: str) -> bool:
        return False


@fault("acknowledgements-wait-for-no-worker", "two-requests-at-once-are-kept-apart")
class DoesOneThingAtATime(Reference):
    """Does not look at the next request before the last one is answered."""

    async def take_on(self, request: RecognitionRequest) -> None:
        await self.acknowledge(request)
        await self.work(request)


@fault("a-burst-is-answered-whole")
class DropsWhatIsTooMuch(Reference):
    """Takes fifty jobs at a time, and drops the others."""

    async def take_on(self, request: RecognitionRequest) -> None:
        if len(self.tasks) < 50:
            await super().take_on(request)


@fault("instances-share-the-work")
class SharesNothing(Reference):
    """Subscribes without a queue group."""

    async def subscribe(self) -> None:
        await self.client.subscribe(self.request_subject, cb=self.hear)


@fault("sigterm-leaves-no-job-behind")
class LeavesItsWork(Reference):
    """Ends at once on SIGTERM."""

    async def drain(self) -> None:
        for task in self.tasks:
            task.cancel()


@fault("sigterm-leaves-no-job-behind")
class EndsWithAnError(Reference):
    """Ends in order, with exit code 1."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self.exit_code = 1


@fault("requests-are-taken-through-one-durable", "the-stream-keeps-requests-for-it",
       transport=Transport.JETSTREAM)  # fmt: skip
class ListensPastTheStream(Reference):
    """Hears requests by plain NATS, where a stream keeps them."""

    async def take_from_stream(self) -> None:
        await self.subscribe()
        await asyncio.Event().wait()


@fault("requests-are-taken-through-one-durable", transport=Transport.JETSTREAM)
class ReadsThroughAnotherDurable(Reference):
    """Its durable is not named like itself, so that an operator cannot find it."""

    def durable(self) -> str | None:
        return f"{self.name}-{os.getpid()}"


@fault("requests-are-acknowledged-to-the-stream", transport=Transport.JETSTREAM)
class NeverSettles(Reference):
    """Acknowledges nothing to the stream, which sends it all again."""

    async def settle(self, message: Msg) -> None:
        return
