"""Bytes to messages and back: one decoder a message kind, made once."""

import re
from typing import Any
from uuid import UUID

import msgspec

from armka.contract.envelope import Envelope
from armka.contract.fields import SCHEMA_VERSION
from armka.contract.request import RecognitionRequest
from armka.contract.result import ResultFile

_CANONICAL = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_encoder = msgspec.json.Encoder()
_request = msgspec.json.Decoder(RecognitionRequest)
_envelope = msgspec.json.Decoder(Envelope)
_result = msgspec.json.Decoder(ResultFile)


class InvalidMessage(Exception):
    """A body that does not pass its schema; `reason` says where and why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def encode(message: RecognitionRequest | Envelope | ResultFile) -> bytes:
    """Write a message as JSON."""
    return _encoder.encode(message)


def encode_request(fields: dict[str, object]) -> bytes:
    """Write a request from plain fields, checked as a receiver would check it; raises
    InvalidMessage.
    """
    try:
        return _encoder.encode(
            msgspec.convert({"schema_version": SCHEMA_VERSION, **fields}, RecognitionRequest)
        )
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InvalidMessage(str(error)) from None


def decode_request(body: bytes) -> RecognitionRequest:
    """Read a request (C1); raises InvalidMessage."""
    request: RecognitionRequest = _decode(_request, body)
    return request


def decode_envelope(body: bytes) -> Envelope:
    """Read an envelope (C2); raises InvalidMessage."""
    envelope: Envelope = _decode(_envelope, body)
    return envelope


def decode_result(body: bytes) -> ResultFile:
    """Read a result file by its schema (§2b); raises InvalidMessage."""
    result: ResultFile = _decode(_result, body)
    return result


def _decode(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidMessage(str(error)) from None


class _Fields(msgspec.Struct):
    """The three fields, unread: whatever the others hold cannot spoil them."""

    job_id: msgspec.Raw = msgspec.Raw(b"null")
    file_id: msgspec.Raw = msgspec.Raw(b"null")
    attempt: msgspec.Raw = msgspec.Raw(b"null")


_fields = msgspec.json.Decoder(_Fields)


class Address(msgspec.Struct, frozen=True):
    """What can be read of a request that is not valid: enough to answer it (C4.2)."""

    job_id: UUID
    file_id: UUID
    attempt: int | None


def address_of(body: bytes) -> Address | None:
    """Find `job_id`, `file_id` and `attempt` in a body that failed its schema; None: no answer can
    be built (C4.3).
    """
    try:
        fields = _fields.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    job_id, file_id, attempt = _uuid(fields.job_id), _uuid(fields.file_id), _plain(fields.attempt)
    if job_id is None or file_id is None:
        return None
    if not isinstance(attempt, int) or isinstance(attempt, bool) or attempt < 1:
        attempt = None
    return Address(job_id=job_id, file_id=file_id, attempt=attempt)


def _uuid(raw: msgspec.Raw) -> UUID | None:
    value = _plain(raw)
    return UUID(value) if isinstance(value, str) and _CANONICAL.match(value) else None


def _plain(raw: msgspec.Raw) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
