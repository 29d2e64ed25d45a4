"""ИС Сканирование as the gateway sees it: four calls, and what may come of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from armka.contract.vocabulary import FileType


@dataclass(frozen=True)
class Callback:
    """Where to call when a document is at its end, and the secret to show there."""

    url: str
    token: str


@dataclass(frozen=True)
class Submission:
    """A file to be read. The same `key` is the same document, however often it is submitted.

    Whoever submits it last is called.
    """

    key: str
    path: Path
    size_bytes: int
    file_type: FileType
    name: str
    deadline: datetime
    callback: Callback | None = None


@dataclass(frozen=True)
class Accepted:
    """A document that is taken on; `will_call`: its end will be told, as was asked for."""

    document: str
    will_call: bool


class State(StrEnum):
    """How far ИС Сканирование has come with a document."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether it stays so."""
        return self in (State.DONE, State.FAILED, State.CANCELLED)


@dataclass(frozen=True)
class Progress:
    """A document's state, and `body` that said it, as it came.

    Where it failed, `code` and `message` are its own words for why.
    """

    state: State
    body: bytes
    code: str | None = None
    message: str | None = None


class Unavailable(Exception):
    """It did not do it now: unreachable, silent, or in trouble itself. A later call may succeed."""


class NotLetIn(Unavailable):
    """It does not accept the token. Somebody can mend that while jobs wait."""


class Busy(Exception):
    """It is there, and full; `after` is when to ask again, in seconds."""

    def __init__(self, after: float) -> None:
        super().__init__(f"full, ask again in {after:g} s")
        self.after = after


class Gone(Exception):
    """It does not know the document, or no longer."""


class TurnedDown(Exception):
    """It does not take this file, and never will; `code` and `message` are its own, if any."""

    def __init__(self, status: int, code: str | None, message: str | None, body: bytes) -> None:
        super().__init__(f"HTTP {status}, {code}")
        self.status = status
        self.code = code
        self.message = message
        self.body = body


class NotAsAgreed(Exception):
    """It answered something else than the interface says; `body` is the answer as it came."""

    def __init__(self, reason: str, body: bytes = b"") -> None:
        super().__init__(reason)
        self.reason = reason
        self.body = body


class ScanningSystem(Protocol):
    """ИС Сканирование. Every call may raise Unavailable, Busy, NotAsAgreed."""

    async def submit(self, submission: Submission) -> Accepted:
        """Hand over a file. Raises TurnedDown."""

    async def progress(self, document: str, seconds: float) -> Progress:
        """Wait for the document's end, `seconds` at most, and say how far it is. Raises Gone."""

    async def fetch(self, document: str, answer: Path) -> None:
        """Write what was read into a file, as it comes; a call that fails may leave a part of it.

        Raises Gone. Where the answer is larger than is taken, its beginning is there, and
        NotAsAgreed is raised.
        """

    async def cancel(self, document: str) -> None:
        """Say that nobody waits for the document any more."""
