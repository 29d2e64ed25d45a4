"""Faults of what a service says, and when."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import nats.errors

from armka.contract import codec, message_ids
from armka.contract.codec import InvalidMessage
from armka.contract.request import RecognitionRequest
from tests.conformance.service.fault import fault
from tests.conformance.service.reference import REPEAT_SECONDS, Reference


@fault("the-acknowledgement-precedes-the-read", "acknowledgements-wait-for-no-worker")
class AcksAfterReading(Reference):
    """Acknowledges when it has the source."""

    async def take_on(self, request: RecognitionRequest) -> None:
        self.spawn(request)

    async def fetch(self, request: RecognitionRequest) -> bytes:
        content = await super().fetch(request)
        await self.acknowledge(request)
        return content


@fault("a-request-is-acknowledged")
class NeverAcks(Reference):
    """Sends its result, and no `processing` before it."""

    async def acknowledge(self, request: RecognitionRequest) -> None:
        return


@fault("acknowledgements-wait-for-no-worker")
class AcksWhenAWorkerIsFree(Reference):
    """Has two workers, and acknowledges what one of them takes up."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self.workers = asyncio.Semaphore(2)

    async def take_on(self, request: RecognitionRequest) -> None:
        self.spawn(request)

    async def work(self, request: RecognitionRequest) -> None:
        async with self.workers:
            await self.acknowledge(request)
            await super().work(request)


@fault("a-request-is-acknowledged")
class AcksUnderTheRequestsId(Reference):
    """The `Nats-Msg-Id` of its `processing` is the request's own."""

    def ack_id(self, request: RecognitionRequest) -> str:
        return message_ids.of_request(request.job, request.attempt)


@fault("a-request-is-acknowledged", "every-file-is-recognised")
class ForgetsTheAttempt(Reference):
    """Every message is of attempt 1."""

    def ack_id(self, request: RecognitionRequest) -> str:
        return message_ids.of_ack(request.job, 1)

    def result_id(self, request: RecognitionRequest) -> str:
        return message_ids.of_result(request.job, 1)


@fault("a-request-is-acknowledged")
class AcksForAnotherFile(Reference):
    """Its `processing` names a file of its own invention."""

    async def acknowledge(self, request: RecognitionRequest) -> None:
        envelope = self.envelope(str(request.job), str(uuid4()), "processing")
        await self.publish(envelope, self.ack_id(request))


@fault("a-request-is-acknowledged", "envelopes-keep-their-schema")
class NamesNoVersion(Reference):
    """Its envelopes have an empty service.version."""

    def envelope(self, job: str, file: str, status: str) -> dict[str, Any]:
        service = {"name": self.name, "version": ""}
        return super().envelope(job, file, status) | {"service": service}


@fault("the-result-file-precedes-its-envelope")
class PublishesBeforeItWrites(Reference):
    """Announces the result file, and writes it then."""

    async def finish(self, request: RecognitionRequest, result: dict[str, Any]) -> dict[str, Any]:
        place = {"bucket": self.objects.bucket, "key": self.result_key(request)}
        end = self.ending(request, "done")
        end |= {"result_s3": place, "result_schema_version": "1.0"}
        msg_id = message_ids.of_result(request.job, request.attempt)
        await self.publish(end, msg_id)
        return await super().finish(request, result)

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        if envelope["status"] == "error":
            await super().announce(request, envelope)


@fault("the-result-file-precedes-its-envelope")
class DoesNotWaitForTheWrite(Reference):
    """Begins to write the result file, and announces it meanwhile."""

    async def store(self, request: RecognitionRequest, result: dict[str, Any]) -> None:
        writing = asyncio.create_task(super().store(request, result))
        self.tasks.add(writing)
        await asyncio.sleep(0)


@fault("every-file-is-recognised", "the-result-file-precedes-its-envelope")
class WritesNothing(Reference):
    """Announces a result file that does not exist."""

    async def store(self, request: RecognitionRequest, result: dict[str, Any]) -> None:
        return


@fault("every-file-is-recognised")
class WritesElsewhere(Reference):
    """Puts the result file under a key of its own, and says so."""

    def result_key(self, request: RecognitionRequest) -> str:
        return f"results/{request.job}.json"


@fault("the-result-file-keeps-its-schema")
class WritesAnAmountAsANumber(Reference):
    """An amount in the result file is a number, no string."""

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        result = super().recognise(request, content)
        result["documents"][0]["lines"][0]["values"] = [1.0, None, None, None, None, None]
        return result


@fault("the-result-file-keeps-its-schema")
class WritesAnotherDigest(Reference):
    """source.sha256 is of something else."""

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        result = super().recognise(request, content)
        result["source"]["sha256"] = "0" * 64
        return result


@fault("the-result-file-keeps-its-schema")
class WritesALineTwice(Reference):
    """Two lines have the same number: a schema cannot see it."""

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        result = super().recognise(request, content)
        result["documents"][0]["lines"] *= 2
        return result


@fault("a-job-has-one-result")
class AnnouncesTwice(Reference):
    """Sends its result, and once more for good measure."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        await super().announce(request, envelope)
        await super().announce(request, envelope)


@fault("a-job-has-one-result")
class WritesTwice(Reference):
    """Writes the result file, and once more for good measure."""

    async def store(self, request: RecognitionRequest, result: dict[str, Any]) -> None:
        await super().store(request, result)
        await super().store(request, result)


@fault("group-schema-stays-in-the-result-file")
class PutsGroupSchemaIntoTheEnvelope(Reference):
    """The result envelope bears group_schema."""

    def ending(self, request: RecognitionRequest, status: str) -> dict[str, Any]:
        return super().ending(request, status) | {"group_schema": "accounts"}


@fault("envelopes-keep-their-schema", "every-file-is-recognised")
class SaysNoResultVersion(Reference):
    """`done` lacks result_schema_version."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        envelope.pop("result_schema_version", None)
        await super().announce(request, envelope)


@fault("an-unanswered-result-comes-again")
class SaysItOnce(Reference):
    """Publishes its result without asking for an answer."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        await self.publish(envelope, message_ids.of_result(request.job, request.attempt))


@fault("an-unanswered-result-comes-again")
class RepeatsUnderAnotherId(Reference):
    """An unanswered result comes again, each time under a new id."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        for number in range(100):
            attempt = request.attempt + number
            headers = {message_ids.HEADER: message_ids.of_result(request.job, attempt)}
            body = json.dumps(envelope).encode()
            with contextlib.suppress(TimeoutError, nats.errors.Error):
                await self.client.request(
                    self.result_subject, body, timeout=REPEAT_SECONDS, headers=headers
                )
                return


@fault("an-unanswered-result-comes-again", "a-job-has-one-result")
class DoesNotHearTheAnswer(Reference):
    """Repeats its result although it was answered."""

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        for _ in range(20):
            await super().announce(request, envelope)
            await asyncio.sleep(REPEAT_SECONDS / 10)


@fault("an-invalid-request-is-refused", "another-major-is-refused")
class AcksTheInvalid(Reference):
    """Sends `processing` before SCHEMA_MISMATCH."""

    async def refuse(self, job: str, file: str, attempt: int) -> None:
        await self.publish(self.envelope(job, file, "processing"), message_ids.of_ack(job, attempt))
        await super().refuse(job, file, attempt)


def _tolerant(body: bytes, **over: object) -> RecognitionRequest:
    """Read a request with these fields over it, where it has them."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidMessage("no JSON") from None
    if not isinstance(fields, dict):
        raise InvalidMessage("no object")
    known = {name: value for name, value in over.items() if name in fields}
    return codec.decode_request(json.dumps(fields | known).encode())


@fault("an-invalid-request-is-refused")
class TakesAnyFileType(Reference):
    """Does not look whether file_type is one of the contract's."""

    def read(self, body: bytes) -> RecognitionRequest:
        return _tolerant(body, file_type="XLSX")


@fault("an-invalid-request-is-refused")
class DoesNotAssertFormats(Reference):
    """A reply_deadline that is no date-time is taken for a far one."""

    def read(self, body: bytes) -> RecognitionRequest:
        return _tolerant(body, reply_deadline="2100-01-01T00:00:00Z")


@fault("another-major-is-refused")
class SpeaksEveryMajor(Reference):
    """Does not look at schema_version."""

    def read(self, body: bytes) -> RecognitionRequest:
        return _tolerant(body, schema_version="1.0")


@fault("any-minor-is-served")
class SpeaksOneMinor(Reference):
    """Speaks 1.0 and nothing else."""

    def read(self, body: bytes) -> RecognitionRequest:
        request = super().read(body)
        if request.schema_version != "1.0":
            raise InvalidMessage("not 1.0")
        return request


@fault("unknown-fields-are-ignored")
class RefusesUnknownFields(Reference):
    """A field that it does not know makes a request invalid."""

    def read(self, body: bytes) -> RecognitionRequest:
        request = super().read(body)
        if set(json.loads(body)) - set(RecognitionRequest.__struct_fields__):
            raise InvalidMessage("unknown fields")
        return request


@fault("an-unreadable-request-is-dropped")
class AnswersTheUnreadable(Reference):
    """Answers a request without readable ids, with ids of its own."""

    async def meet_invalid(self, body: bytes, headers: Mapping[str, str]) -> None:
        if codec.address_of(body) is None:
            await self.refuse(str(uuid4()), str(uuid4()), 1)
        else:
            await super().meet_invalid(body, headers)


@fault("an-unreadable-request-is-dropped")
class FallsOverTheUnreadable(Reference):
    """Ends when a body is no JSON."""

    async def meet(self, body: bytes, headers: Mapping[str, str]) -> None:
        if not body.startswith(b"{"):
            asyncio.get_running_loop().stop()
        await super().meet(body, headers)


@fault("the-attempt-of-an-invalid-request")
class MakesUpAnAttempt(Reference):
    """Answers as attempt 0 where there is none."""

    def attempt_of(self, headers: Mapping[str, str]) -> int | None:
        return super().attempt_of(headers) or 99


@fault("the-attempt-of-an-invalid-request")
class MixesTheVariants(Reference):
    """Takes the attempt from the header, and 1 where there is no header."""

    def attempt_of(self, headers: Mapping[str, str]) -> int | None:
        return super().attempt_of(headers) or 1


@fault("a-refused-job-is-still-new")
class RemembersTheRefused(Reference):
    """A job that was refused counts as handled."""

    async def refuse(self, job: str, file: str, attempt: int) -> None:
        self.handled.add(job)
        await super().refuse(job, file, attempt)

    def is_known(self, job: str) -> bool:
        return False


@fault("a-refused-job-is-still-new")
class RefusesOnce(Reference):
    """Answers only the first of a job's invalid requests."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(env)
        self.refused: set[str] = set()

    async def refuse(self, job: str, file: str, attempt: int) -> None:
        if job not in self.refused:
            self.refused.add(job)
            await super().refuse(job, file, attempt)


@fault("two-requests-at-once-are-kept-apart", "a-burst-is-answered-whole")
class MixesThemUp(Reference):
    """Keeps the file it works on in one place for all jobs."""

    current = ""

    async def take_on(self, request: RecognitionRequest) -> None:
        self.current = str(UUID(request.file_id))
        await super().take_on(request)

    def ending(self, request: RecognitionRequest, status: str) -> dict[str, Any]:
        return self.envelope(str(request.job), self.current, status)
