"""A handler whose source files say what to do: what hostile files do to a parser, on order."""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Never

from armka.contract.result import Check, Document, DocumentSource, Line
from armka.contract.vocabulary import ErrorCode, LineKind, Severity
from armka.sdk import Recognition, Refused, Source


class PanicException(BaseException):
    """What a Rust extension raises: no Exception."""


def trial(source: Source) -> Recognition:
    order = json.loads(source.path.read_bytes())
    recognition: Recognition = ORDERS[order["do"]](order, source)
    return recognition


def _read(order: dict[str, Any], source: Source) -> Recognition:
    title = order.get("title", "Trial balance")
    return Recognition([_document(title, order.get("lines", 3), order.get("checks", []))])


def _describe(order: dict[str, Any], source: Source) -> Recognition:
    """What a child process can see, in the metrics."""
    links = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.exists()]
    metrics: dict[str, object] = {
        "pid": os.getpid(),
        "environment": sorted(os.environ),
        "sockets": [link for link in links if link.startswith("socket")],
        "suffix": source.path.suffix,
    }
    return Recognition([_document("t", 1, [])], metrics=metrics)


def _wait(order: dict[str, Any], source: Source) -> Recognition:
    """Say that work has begun, then go on when told."""
    Path(order["begun"]).touch()
    while not Path(order["until"]).exists():
        time.sleep(0.01)
    return _read(order, source)


def _write_pid_and_hang(order: dict[str, Any], source: Source) -> Never:
    Path(order["pid_file"] + ".new").write_text(str(os.getpid()))
    Path(order["pid_file"] + ".new").rename(order["pid_file"])
    while True:
        time.sleep(1)


def _loop(order: dict[str, Any], source: Source) -> Never:
    if "begun" in order:
        Path(order["begun"]).touch()
    while True:
        pass


def _hold(order: dict[str, Any], source: Source) -> Never:
    """Compute inside one call of C, which no thread of the process interrupts."""
    Path(order["begun"]).touch()
    re.match(r"(a+)+$", "a" * 50 + "b")
    sys.exit(1)


def _allocate(order: dict[str, Any], source: Source) -> Never:
    hoard = []
    while True:
        hoard.append(bytearray(16 * 1024 * 1024))


def _exit(order: dict[str, Any], source: Source) -> Never:
    os._exit(order.get("status", 0))


def _refuse(order: dict[str, Any], source: Source) -> Never:
    code = ErrorCode(order.get("code", "INVALID_DOCUMENT"))
    raise Refused(code, order["message"] * order.get("times", 1))


def _raise(order: dict[str, Any], source: Source) -> Never:
    raise ValueError(order["message"])


def _panic(order: dict[str, Any], source: Source) -> Never:
    raise PanicException("called `Option::unwrap()` on a `None` value")


def _print(order: dict[str, Any], source: Source) -> Recognition:
    print("noise " * 20_000, flush=True)  # noqa: T201
    os.write(1, b"more noise")
    os.write(2, b"and errors " * 20_000)
    return _read(order, source)


def _nonsense(order: dict[str, Any], source: Source) -> Recognition:
    """A result that its own schema refuses."""
    return Recognition([_document("t", 1, [], amount="1e5")])


def _nothing(order: dict[str, Any], source: Source) -> Recognition:
    return Recognition([])


def _document(title: str, lines: int, checks: list[str], amount: str = "1500000.00") -> Document:
    return Document(
        kind="OSV",
        group_schema="accounts",
        title=title,
        unit=1,
        source=DocumentSource(sheet="Лист1"),
        lines=[
            Line(n=n, level=0, kind=LineKind.ACCOUNT, name="x", values=[amount, *[None] * 5], row=n)
            for n in range(1, lines + 1)
        ],
        checks=[
            Check(rule="R1", severity=Severity(it), lines=[1], message="Не сходится")
            for it in checks
        ],
    )


ORDERS: dict[str, Callable[[dict[str, Any], Source], Any]] = {
    "read": _read,
    "describe": _describe,
    "wait": _wait,
    "hang": _write_pid_and_hang,
    "loop": _loop,
    "hold": _hold,
    "allocate": _allocate,
    "exit": _exit,
    "abort": lambda order, source: os.abort(),
    "kill": lambda order, source: os.kill(os.getpid(), signal.SIGKILL),
    "leave": lambda order, source: sys.exit(1),
    "surrogate": lambda order, source: _read({"title": "\ud800"}, source),
    "hoard output": lambda order, source: _read({"lines": 1000}, source),
    "refuse": _refuse,
    "raise": _raise,
    "panic": _panic,
    "print": _print,
    "nonsense": _nonsense,
    "nothing": _nothing,
}
