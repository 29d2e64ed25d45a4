"""What is known of a document, on disk and over HTTP."""

from enum import StrEnum
from typing import Any

import msgspec

from armka.contract.vocabulary import ErrorCode
from armka.services.scanning_system.reading.calls import Kind


class Status(StrEnum):
    """Where a document is; the last three are its ends."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Whether nothing more happens to the document."""
        return self in (Status.DONE, Status.FAILED, Status.CANCELLED)


class Failure(msgspec.Struct, frozen=True):
    """Why a document could not be read: a code of the contract, words for a person."""

    code: ErrorCode
    message: str


class Callback(msgspec.Struct, frozen=True):
    """Where a client is called when a document is at its end, and what is shown there."""

    url: str
    token: str


class Record(msgspec.Struct):
    """A document; times are seconds since the epoch. A `callback` is there until it was made."""

    document_id: str
    name: str
    kind: Kind
    sha256: str
    size: int
    pages_total: int
    created: float
    key: str | None = None
    deadline: float | None = None
    status: Status = Status.QUEUED
    error: Failure | None = None
    pages_done: int = 0
    starts: int = 0
    ended: float | None = None
    warnings: list[str] = []
    callback: Callback | None = None

    def view(self) -> dict[str, Any]:
        """What a client is told."""
        return {
            "document_id": self.document_id,
            "status": self.status.value,
            "error": None if self.error is None else msgspec.to_builtins(self.error),
            "pages_done": self.pages_done,
            "pages_total": self.pages_total,
            "callback": self.callback is not None and not self.status.is_end,
        }
