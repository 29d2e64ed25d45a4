"""`Nats-Msg-Id` of every message kind (C1, C2). It helps a stream to drop repeats; it is no proof
of anything.
"""

import re
from uuid import UUID

HEADER = "Nats-Msg-Id"

_REQUEST = re.compile(r"[0-9a-fA-F-]{36}:([1-9][0-9]{0,9})\Z")


def of_request(job_id: UUID | str, attempt: int) -> str:
    """The id of a request; a republish carries the same one (O3)."""
    return f"{job_id}:{attempt}"


def of_ack(job_id: UUID | str, attempt: int) -> str:
    """The id of a `processing` envelope."""
    return f"ack:{job_id}:{attempt}"


def of_result(job_id: UUID | str, attempt: int) -> str:
    """The id of a `done`, `needs_check` or `error` envelope."""
    return f"result:{job_id}:{attempt}"


def attempt_of_request(msg_id: str | None) -> int | None:
    """The attempt that a request's id names, or None where it names none (OQ-71)."""
    match = _REQUEST.match(msg_id or "")
    return int(match.group(1)) if match else None
