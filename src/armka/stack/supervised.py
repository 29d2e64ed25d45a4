"""The stack's side of one guarded server process (see `guard.py`)."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from armka.stack import guard
from armka.stack.errors import ServerFailed

_TAIL_BYTES, _TAIL_LINES = 8_192, 15
_MARGIN_SECONDS = 5.0


class Supervised:
    """A running server. Bound to no event loop: it may be started in one and stopped in another."""

    def __init__(self, name: str, plan: guard.Plan, keep: tuple[int, ...] = ()) -> None:
        """`keep`: descriptors that the server inherits and so holds open as long as it lives."""
        self.name, self.log = name, Path(plan["log"])
        self.pid = 0
        self._grace = plan["grace_seconds"]
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=keep,
        )
        assert self._guard.stdin
        self._guard.stdin.write(json.dumps(plan).encode() + b"\n")
        self._guard.stdin.flush()

    async def started(self) -> None:
        """Wait until the process exists and its `pid` is known."""
        assert self._guard.stdout
        await _readable(self._guard.stdout.fileno())
        line = self._guard.stdout.readline()
        if not line:
            raise ServerFailed(self.name, "could not be started", self.log, self.log_tail())
        self.pid = int(line)

    @property
    def exit_status(self) -> int | None:
        """None while it runs; 128 + n if signal n ended it."""
        return self._guard.poll()

    async def ended(self) -> int:
        """Wait for the end, whatever its cause, and return the exit status."""
        while (status := self.exit_status) is None:
            assert self._guard.stdout
            if not self._guard.stdout.closed:
                await _readable(self._guard.stdout.fileno())
            await asyncio.sleep(
                0.005
            )  # the pipe closes a moment before the process can be waited for
        self._close()
        return status

    async def stop(self) -> int:
        """Ask it to end in its own orderly way, insist after the grace time; the exit status."""
        if self._guard.stdin:
            self._guard.stdin.close()
        try:
            async with asyncio.timeout(self._grace + _MARGIN_SECONDS):
                return await self.ended()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            self._guard.kill()
            return await self.ended()

    def signal(self, number: int) -> None:
        """Signal the server and its children, if they still run."""
        if self.pid and self.exit_status is None:
            guard.signal_tree(self.pid, number)

    def has_said(self, text: str) -> bool:
        """Whether this process's log has the text."""
        if not self.log.exists():
            return False
        with self.log.open("rb") as file:
            file.seek(self._log_start)
            return text.encode() in file.read()

    def log_tail(self) -> str:
        """The last lines that this process logged."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as file:
            file.seek(max(self._log_start, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-_TAIL_LINES:])

    def _close(self) -> None:
        for pipe in (self._guard.stdin, self._guard.stdout):
            if pipe:
                pipe.close()


async def _readable(descriptor: int) -> None:
    """Until there is something to read or the other end is closed, for any number of waiters."""
    loop, own = asyncio.get_running_loop(), os.dup(descriptor)
    seen: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        loop.remove_reader(own)
        seen.set_result(None)

    loop.add_reader(own, tell)
    try:
        await seen
    finally:
        loop.remove_reader(own)
        os.close(own)
