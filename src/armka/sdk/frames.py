"""How a service and its child process speak: frames over two pipes, a length and so many bytes.

To the child goes a `Task` or a `Call`, JSON. Back come a `Report`, JSON, and the result, which is
empty where there is none.
"""

import struct
from typing import BinaryIO, Protocol

import msgspec

from armka.contract.fields import ServiceInfo
from armka.contract.vocabulary import ErrorCode, FileType

_LENGTH = struct.Struct("!Q")
REPORT_BYTES = 64 * 1024


class AnswerToRead(msgspec.Struct, frozen=True):
    """Where an outside system's answer lies, and under which name it answered."""

    path: str
    reference: str


class Call(msgspec.Struct, frozen=True, tag="call"):
    """A procedure's argument; what it returns comes back as it is."""

    argument: bytes


class Task(msgspec.Struct, frozen=True, tag="task"):
    """One file to recognise, and what the result file says of it."""

    path: str
    file_type: FileType
    original_name: str
    sha256: str
    size_bytes: int
    deadline: str
    job_id: str
    file_id: str
    service: ServiceInfo
    answer: AnswerToRead | None = None


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The child has imported the handler."""


class Read(msgspec.Struct, frozen=True, tag="read"):
    """The handler read the file; the result file follows."""

    needs_check: bool
    metrics: msgspec.Raw


class Returned(msgspec.Struct, frozen=True, tag="returned"):
    """The procedure returned; what it returned follows."""


class Declined(msgspec.Struct, frozen=True, tag="declined"):
    """The handler refused the file."""

    code: ErrorCode
    message: str


class OutOfMemory(msgspec.Struct, frozen=True, tag="out_of_memory"):
    """The memory limit was reached, and Python lived to tell."""


class Broken(msgspec.Struct, frozen=True, tag="broken"):
    """The handler failed, or its result is none. `where` holds no data of the document."""

    where: str
    detail: str


Order = Task | Call
Report = Ready | Read | Returned | Declined | OutOfMemory | Broken

_report = msgspec.json.Decoder(Report)
_order = msgspec.json.Decoder(Order)


class FrameTooLarge(Exception):
    """The other side announced more than is accepted."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a frame of {size} bytes, more than {limit}")
        self.size = size


def frame(payload: bytes) -> bytes:
    """Put the length in front."""
    return _LENGTH.pack(len(payload)) + payload


def encode(message: Order | Report) -> bytes:
    """Write a message as one frame."""
    return frame(msgspec.json.encode(message))


def decode_report(payload: bytes) -> Report:
    """Read what a child reports; raises msgspec.DecodeError."""
    report: Report = _report.decode(payload)
    return report


def read_order(stream: BinaryIO) -> Order | None:
    """Wait for the next task or call; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    order: Order = _order.decode(stream.read(_LENGTH.unpack(head)[0]))
    return order


class Stream(Protocol):
    """What frames are read from; asyncio itself is not named: a child starts without it."""

    async def readexactly(self, n: int) -> bytes: ...


async def read_frame(stream: Stream, limit: int) -> bytes:
    """Read one frame of at most `limit` bytes; raises FrameTooLarge, IncompleteReadError."""
    (size,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    if size > limit:
        raise FrameTooLarge(size, limit)
    return await stream.readexactly(size)
