"""Services that have their files read by an outside system: how one is asked.

It is asked by the service's own process, which has the credentials and never looks into the answer.
What it answers is stored as it came, then a child process makes documents of it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol
from uuid import UUID

from armka.contract.vocabulary import FileType


class NotSetUp(Exception):
    """The settings do not let the outside system be asked; the message says what to mend."""


@dataclass(frozen=True)
class Errand:
    """One file to have read. `until` leaves the service its own time before the job's deadline.

    The answer goes to the file `answer`, as it comes.
    """

    job_id: UUID
    path: Path
    file_type: FileType
    original_name: str
    size_bytes: int
    until: datetime
    answer: Path


@dataclass(frozen=True)
class Answered:
    """The outside system has read the file; `reference` is what it calls it."""

    reference: str
    metrics: dict[str, object] = field(default_factory=dict)


class Outside(Protocol):
    """An outside system."""

    @property
    def at_once(self) -> int:
        """How many files it is given at once."""

    async def ask(self, errand: Errand) -> Answered:
        """Have a file read by `errand.until`; raises Refused, with the code that says why not.

        Whatever happens, what it answered lies at `errand.answer` then, where it answered at all.
        Cancelled, it lets the outside system know that nobody waits any more.
        """


# Entered when the service starts, left when it stops. Raises NotSetUp.
Outsides = Callable[[], AbstractAsyncContextManager[Outside]]
