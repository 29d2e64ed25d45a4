"""What a service does with a request (C4): pure, so that it can be tried on any input."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from uuid import UUID

from armka.contract import message_ids
from armka.contract.codec import Address, InvalidMessage, address_of, decode_request
from armka.contract.request import RecognitionRequest
from armka.contract.vocabulary import Pipeline
from armka.sdk.service import MissingAttempt


@dataclass(frozen=True)
class Process:
    """A new valid request: acknowledge it, then do it (C4.1)."""

    request: RecognitionRequest


@dataclass(frozen=True)
class AckAgain:
    """A valid repeat of a job that is known: acknowledge it and do nothing else (C4.4)."""

    request: RecognitionRequest


@dataclass(frozen=True)
class Mismatch:
    """An invalid request that can be answered: `SCHEMA_MISMATCH`, nothing before it (C4.2)."""

    job_id: UUID
    file_id: UUID
    attempt: int
    reason: str


@dataclass(frozen=True)
class Drop:
    """Nothing is published (C4.3, C4.5, OQ-71)."""

    reason: str


Decision = Process | AckAgain | Mismatch | Drop


def decide(
    body: bytes,
    headers: Mapping[str, str],
    handled: Container[UUID],
    pipeline: Pipeline,
    missing_attempt: MissingAttempt,
) -> Decision:
    """Say what to do with a request, given the jobs that are in work or were finished here."""
    try:
        request = decode_request(body)
    except InvalidMessage as error:
        return _answer(address_of(body), headers, handled, missing_attempt, error.reason)
    if request.pipeline is not pipeline:
        reason = f"the pipeline is {request.pipeline}, this service recognises {pipeline}"
        return _answer(address_of(body), headers, handled, missing_attempt, reason)
    return AckAgain(request) if request.job in handled else Process(request)


def _answer(
    address: Address | None,
    headers: Mapping[str, str],
    handled: Container[UUID],
    missing_attempt: MissingAttempt,
    reason: str,
) -> Mismatch | Drop:
    if address is None:
        return Drop(f"no job_id and file_id to answer to: {reason}")
    if address.job_id in handled:
        return Drop(f"an invalid repeat of job {address.job_id}: {reason}")
    attempt = address.attempt or _attempt_elsewhere(headers, missing_attempt)
    if attempt is None:
        return Drop(f"no attempt to answer to, job {address.job_id}: {reason}")
    return Mismatch(address.job_id, address.file_id, attempt, reason)


def _attempt_elsewhere(headers: Mapping[str, str], missing_attempt: MissingAttempt) -> int | None:
    if missing_attempt is MissingAttempt.ONE:
        return 1
    return message_ids.attempt_of_request(headers.get(message_ids.HEADER))
