"""What became of an envelope (I8): the core's answer to a message with a reply subject."""

from enum import StrEnum

import msgspec


class OutcomeKind(StrEnum):
    """Every way an envelope can end. Each of them is final: the sender stops repeating."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    LATE = "late"
    UNKNOWN_JOB = "unknown_job"
    REJECTED = "rejected"


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer's body."""

    outcome: OutcomeKind
    reason: str | None = None


_decoder = msgspec.json.Decoder(Outcome)


def encode(outcome: Outcome) -> bytes:
    """Write the answer as JSON."""
    return msgspec.json.encode(outcome)


def decode(body: bytes) -> Outcome | None:
    """Read the answer; None where the body is something else (a stream's PubAck, for one)."""
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
