"""The stack as its user meets it: a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAM = "import typer; from armka.cli.stack import stack; typer.run(stack)"
SOURCE = Path(__file__).parents[2] / "src"
BOUND_SECONDS = 60.0


def wait_for(condition: Callable[[], bool], what: str, seconds: float = BOUND_SECONDS) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"waited {seconds} s in vain for: {what}"
        time.sleep(0.02)


def exists(pid: int) -> bool:
    """Whether the process lives; one that is only to be collected by its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


class Running:
    """An `armka stack --data DIR` process; what it says goes to files beside the data."""

    def __init__(self, data: Path, outputs: Path, *, python: str = sys.executable, **popen: object):
        self.data = data
        self.out, self.err = outputs / f"{time.monotonic_ns()}.out", outputs / "stack.err"
        with self.out.open("wb") as out, self.err.open("ab") as err:
            self.process = subprocess.Popen(  # type: ignore[call-overload]
                [python, "-c", PROGRAM, "--data", str(data)],
                stdout=out,
                stderr=err,
                env={"PATH": os.defpath, "PYTHONPATH": str(SOURCE)} | popen.pop("env", {}),  # type: ignore[operator]
                **popen,
            )

    @property
    def env_file(self) -> Path:
        return self.data / "env"

    def ready(self) -> dict[str, str]:
        """Wait until all servers serve; their settings."""
        wait_for(lambda: self.env_file.exists() or self.process.poll() is not None, "DIR/env")
        assert self.process.poll() is None, self.err.read_text()
        return dict(line.split("=", 1) for line in self.env_file.read_text().splitlines())

    def says_ready(self) -> bool:
        assert self.process.poll() is None, self.err.read_text()
        return "ready: " in self.out.read_text()

    def descendants(self) -> dict[int, str]:
        """All processes below the stack: pid → command line."""
        listing = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError):
                continue
            listing[int(entry.name)] = (parent, command)
        found: dict[int, str] = {}
        level = {self.process.pid}
        while level:
            level = {pid for pid, (parent, _) in listing.items() if parent in level}
            found |= {pid: listing[pid][1] for pid in level}
        return found

    def pid_of(self, program: str) -> int:
        """The server whose command line starts with `…/program`."""
        (pid,) = (
            pid
            for pid, line in self.descendants().items()
            if line.split(" ")[0].endswith(f"/{program}")
        )
        return pid

    def end(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its exit; the exit status."""
        self.process.send_signal(number)
        return int(self.process.wait(BOUND_SECONDS))


def assert_gone(pids: dict[int, str]) -> None:
    """Wait until none of the processes lives."""
    wait_for(
        lambda: not any(exists(pid) for pid in pids),
        f"the end of { {pid: line for pid, line in pids.items() if exists(pid)} }",
    )


@pytest.fixture
def run_stack(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start a stack on a folder; whatever still runs at the end is killed."""
    started: list[Running] = []

    def start(data: Path | None = None, **options: object) -> Running:
        started.append(Running(data or tmp_path / "data", tmp_path, **options))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.end(signal.SIGKILL)
