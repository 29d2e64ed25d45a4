"""The child process that handlers run in.

`python -m armka.sdk.child MODULE FUNCTION MEMORY_BYTES PARENT_PID` imports the handler, takes its
limits, then does one task after the other until its parent goes away.
"""

import contextlib
import ctypes
import importlib
import os
import queue
import re
import resource
import runpy
import signal
import sys
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from armka.contract.codec import InvalidMessage, decode_result, encode
from armka.contract.fields import SCHEMA_VERSION, format_instant, parse_instant
from armka.contract.result import ResultFile, SourceFile
from armka.contract.vocabulary import ErrorCode
from armka.sdk import frames
from armka.sdk.frames import Broken, Declined, OutOfMemory, Read, Ready, Report, Task
from armka.sdk.handler import Answer, Handler, Recognition, Refused, Source
from armka.sdk.wording import presentable

_METRICS_BYTES = 16 * 1024
_PR_SET_PDEATHSIG = 1
# An escaped NUL, unless its backslash is itself an escaped one.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


def main(module: str, function: str, memory_bytes: int, parent: int) -> None:
    """Serve tasks from standard input until it ends."""
    _die_with(parent)
    tasks, reports = _take_pipes()
    handler = find_handler(module, function)
    _limit_memory(memory_bytes)
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks, waiting), daemon=True).start()
    _send(reports, Ready())
    while True:
        report, result = recognise(handler, waiting.get())
        _send(reports, report, result)


def find_handler(module: str, function: str) -> Handler:
    """Import a handler by where it stands; a script is named by its path."""
    if module.endswith(".py"):
        found: Any = runpy.run_path(module, run_name="armka_handler")[function]
        return found  # type: ignore[no-any-return]
    found = importlib.import_module(module)
    for name in function.split("."):
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]


def recognise(handler: Handler, task: Task) -> tuple[Report, bytes]:
    """Run the handler on one task; the report, and the result file where there is one."""
    try:
        recognition = handler(_source(task))
        return _read(recognition, task)
    except Refused as refusal:
        return Declined(ErrorCode(refusal.code), presentable(refusal.message)), b""
    except MemoryError:
        return OutOfMemory(), b""
    except BaseException as error:  # noqa: BLE001 - a Rust panic is no Exception; all of it is reported
        return _broken(error), b""


def _source(task: Task) -> Source:
    return Source(
        path=Path(task.path),
        file_type=task.file_type,
        original_name=task.original_name,
        sha256=task.sha256,
        size_bytes=task.size_bytes,
        deadline=parse_instant(task.deadline),
        answer=Answer(Path(it.path), it.reference) if (it := task.answer) else None,
    )


def _read(recognition: Recognition, task: Task) -> tuple[Report, bytes]:
    documents = list(recognition.documents)
    if not documents:
        return Broken("the result file", "the handler returned no document"), b""
    result = ResultFile(
        schema_version=SCHEMA_VERSION,
        job_id=task.job_id,
        file_id=task.file_id,
        service=task.service,
        created_at=format_instant(datetime.now(UTC)),
        source=SourceFile(sha256=task.sha256, size_bytes=task.size_bytes, file_type=task.file_type),
        group_schema=documents[0].group_schema,
        documents=documents,
        warnings=list(recognition.warnings),
    )
    body = without_nul(encode(result))
    # What the core would refuse is found here, where it can be told apart from a damaged object.
    problem = _problem(body)
    if problem is not None:
        return Broken("the result file", problem), b""
    return Read(recognition.needs_check, _metrics(recognition.metrics)), body


def _problem(body: bytes) -> str | None:
    try:
        return next(decode_result(body).problems(), None)
    except InvalidMessage as error:
        return error.reason


def _metrics(metrics: dict[str, object]) -> msgspec.Raw:
    encoded = without_nul(msgspec.json.encode(metrics))
    return msgspec.Raw(encoded if len(encoded) <= _METRICS_BYTES else b"{}")


def without_nul(encoded: bytes) -> bytes:
    """Take NUL characters out of JSON: PostgreSQL stores none."""
    return _NUL.sub(rb"\1", encoded) if rb"\u0000" in encoded else encoded


def _broken(error: BaseException) -> Broken:
    frames_of = traceback.extract_tb(error.__traceback__)[-8:]
    steps = " > ".join(f"{Path(step.filename).name}:{step.lineno}" for step in frames_of)
    return Broken(f"{type(error).__name__} at {steps}", presentable(_words_of(error)))


def _words_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - an error's own words may fail in any way
        return f"unreadable: {type(another).__name__}"


def _send(stream: BinaryIO, report: Report, result: bytes | None = None) -> None:
    stream.write(frames.encode(report))
    if result is not None:
        stream.write(frames.frame(result))
    stream.flush()


def _listen(stream: BinaryIO, waiting: "queue.SimpleQueue[Task]") -> None:
    while (task := frames.read_task(stream)) is not None:
        waiting.put(task)
    os._exit(0)  # the parent is gone, and with it whoever wanted the work in hand


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    # What a handler prints must not end up among the frames.
    tasks, reports = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return tasks, reports


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # Where memory runs out on the whole machine, the file is at fault and not its service.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
    if os.getppid() != parent:
        os._exit(0)


def _limit_memory(beyond: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS knows the limit and refuses to set it
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + beyond
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
