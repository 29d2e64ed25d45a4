"""What the author of a recognition service writes: a handler, and what it says of a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from armka.contract.result import Document
from armka.contract.vocabulary import ErrorCode, FileType, Severity


@dataclass(frozen=True)
class Answer:
    """What an outside system answered about a file, byte for byte, under the name it gave it."""

    path: Path
    reference: str


@dataclass(frozen=True)
class Source:
    """The file to recognise, fetched to local disk; `original_name` is data, never a path.

    `answer` is there where the service has such files read by an outside system.
    """

    path: Path
    file_type: FileType
    original_name: str
    sha256: str
    size_bytes: int
    deadline: datetime
    answer: Answer | None = None


@dataclass(frozen=True)
class Recognition:
    """What was read. `metrics` go into the envelope as they are."""

    documents: Sequence[Document]
    warnings: Sequence[str] = ()
    metrics: dict[str, object] = field(default_factory=dict)

    @property
    def needs_check(self) -> bool:
        """Whether an analyst must look: an error-level check failed or a value is unknown."""
        return any(
            any(check.severity is Severity.ERROR for check in document.checks)
            or any(line.unknown for line in document.lines)
            for document in self.documents
        )


class Refused(Exception):
    """The file cannot be recognised; `message` tells a person what is wrong and what to do."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


# A handler is a plain function: it runs in a child process with limits on time and memory.
Handler = Callable[[Source], Recognition]
