"""The envelopes that a service sends, as messages ready to publish."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import msgspec

from armka.contract import message_ids
from armka.contract.codec import encode
from armka.contract.envelope import Done, Envelope, ErrorInfo, Failed, NeedsCheck, Processing
from armka.contract.fields import SCHEMA_VERSION, ObjectRef, ServiceInfo
from armka.contract.request import RecognitionRequest
from armka.contract.vocabulary import ErrorCode
from armka.messaging.messages import Outgoing
from armka.sdk import wording


@dataclass(frozen=True)
class Recognised:
    """The file was read and the result file lies in S3."""

    result: ObjectRef
    needs_check: bool


@dataclass(frozen=True)
class NotRecognised:
    """The file was not read; `message` says why, to a person."""

    code: ErrorCode
    message: str


Verdict = Recognised | NotRecognised


class Replies:
    """Writes the envelopes of one service for one subject."""

    def __init__(self, service: ServiceInfo, subject: str) -> None:
        self._service = service
        self._subject = subject

    def ack(self, request: RecognitionRequest) -> Outgoing:
        """Write the `processing` envelope."""
        envelope = Processing(
            schema_version=SCHEMA_VERSION,
            job_id=str(request.job),
            file_id=str(UUID(request.file_id)),
            service=self._service,
        )
        return self._message(envelope, message_ids.of_ack(request.job, request.attempt))

    def result(
        self,
        request: RecognitionRequest,
        verdict: Verdict,
        metrics: Mapping[str, object],
        raw_s3_key: str | None = None,
    ) -> Outgoing:
        """Write the envelope that ends a job."""
        envelope = _ending(
            str(request.job), str(UUID(request.file_id)), self._service, verdict, dict(metrics)
        )
        envelope = msgspec.structs.replace(envelope, raw_s3_key=raw_s3_key)
        return self._message(envelope, message_ids.of_result(request.job, request.attempt))

    def mismatch(self, job_id: UUID, file_id: UUID, attempt: int, reason: str) -> Outgoing:
        """Write the `SCHEMA_MISMATCH` envelope of an invalid request (C4.2)."""
        verdict = NotRecognised(ErrorCode.SCHEMA_MISMATCH, wording.mismatch(reason))
        envelope = _ending(str(job_id), str(file_id), self._service, verdict, None)
        return self._message(envelope, message_ids.of_result(job_id, attempt))

    def _message(self, envelope: Envelope, msg_id: str) -> Outgoing:
        return Outgoing(self._subject, encode(envelope), {message_ids.HEADER: msg_id})


def _ending(
    job_id: str,
    file_id: str,
    service: ServiceInfo,
    verdict: Verdict,
    metrics: dict[str, object] | None,
) -> Envelope:
    if isinstance(verdict, NotRecognised):
        return Failed(
            schema_version=SCHEMA_VERSION,
            job_id=job_id,
            file_id=file_id,
            service=service,
            metrics=metrics,
            error=ErrorInfo(verdict.code, wording.presentable(verdict.message)),
        )
    kind = NeedsCheck if verdict.needs_check else Done
    return kind(
        schema_version=SCHEMA_VERSION,
        job_id=job_id,
        file_id=file_id,
        service=service,
        metrics=metrics,
        result_s3=verdict.result,
        result_schema_version=SCHEMA_VERSION,
    )
