"""The pool of child processes that handlers run in: warm, limited, expendable."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from typing import Self

import msgspec
import structlog

from armka.sdk import frames
from armka.sdk.frames import FrameTooLarge, Read, Ready, Report, Task
from armka.sdk.handler import Handler
from armka.sdk.settings import ServiceSettings, child_environment

log = structlog.get_logger(__name__)

_START_SECONDS = 30.0
_EXIT_SECONDS = 1.0
_PIPE_BYTES = 1024 * 1024
_STDERR_TAIL_BYTES = 2000
_RESTART_PAUSES_SECONDS = (0.2, 1.0, 5.0)
_MEBIBYTE = 1024 * 1024


class ChildDied(Exception):
    """The child process ended in the middle of a file; `said` is the end of its standard error."""

    def __init__(self, status: str, said: str) -> None:
        super().__init__(status)
        self.status = status
        self.said = said


class TimeLimitPassed(Exception):
    """The file took longer than it was given."""


class ResultTooLarge(Exception):
    """The result file is larger than is stored."""


class HandlerNotImported(Exception):
    """A child process cannot start; `reason` is what it said."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the handler cannot be imported in a child process: {reason}")
        self.reason = reason


class Child:
    """One child process. After a file that it did not read to the end, it is given no other."""

    def __init__(self, process: Process, settings: ServiceSettings) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._tasks = process.stdin
        self._reports = process.stdout
        self._said = asyncio.create_task(_tail(process.stderr))
        self._max_result_bytes = settings.max_result_bytes
        self._jobs_left = settings.jobs_per_child

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_fit(self) -> bool:
        """Whether it may be given another file."""
        return self._process.returncode is None and self._jobs_left > 0

    async def recognise(self, task: Task, seconds: float) -> tuple[Report, bytes]:
        """Have one file read; raises ChildDied, TimeLimitPassed, ResultTooLarge."""
        left, self._jobs_left = self._jobs_left - 1, 0
        try:
            async with asyncio.timeout(seconds):
                self._tasks.write(frames.encode(task))
                await self._tasks.drain()
                report = await self._report()
                result = await frames.read_frame(self._reports, self._max_result_bytes)
        except TimeoutError:
            raise TimeLimitPassed from None
        except FrameTooLarge:
            raise ResultTooLarge from None
        except (EOFError, OSError, msgspec.DecodeError):
            raise ChildDied(*await self._last_words()) from None
        if isinstance(report, Read):
            self._jobs_left = left
        return report, result

    async def wait_ready(self) -> None:
        """Return when the handler is imported; raises HandlerNotImported."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                if isinstance(await self._report(), Ready):
                    return
        except (TimeoutError, EOFError, FrameTooLarge, msgspec.DecodeError):
            log.debug("a child process did not become ready", pid=self.pid)
        raise HandlerNotImported(": ".join(await self._last_words()))

    async def end(self) -> None:
        """Kill the process, and whatever it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        self._tasks.close()
        self._said.cancel()

    async def _report(self) -> Report:
        return frames.decode_report(await frames.read_frame(self._reports, frames.REPORT_BYTES))

    async def _last_words(self) -> tuple[str, str]:
        said = ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_SECONDS):
                await self._process.wait()
                said = await self._said  # a process that it started may hold this open
        code = self._process.returncode
        return ("it talks nonsense" if code is None else _status(code)), said


class Children:
    """As many child processes as files are recognised at once."""

    def __init__(
        self,
        handler: Handler,
        settings: ServiceSettings,
        handler_sees: frozenset[str] = frozenset(),
    ) -> None:
        self._module, self._function = whereabouts(handler)
        self._settings = settings
        self._handler_sees = handler_sees
        self._idle: asyncio.Queue[Child] = asyncio.Queue()
        self._all: set[Child] = set()
        self._replacements: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Start them all; raises HandlerNotImported."""
        started = (self._start() for _ in range(self._settings.concurrency))
        try:
            for child in await asyncio.gather(*started):
                self._idle.put_nowait(child)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill them all."""
        for replacement in self._replacements:
            replacement.cancel()
        await asyncio.gather(*self._replacements, return_exceptions=True)
        await asyncio.gather(*(child.end() for child in self._all))

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[Child]:
        """Wait for a free child process and hold it; first come, first served."""
        child = await self._idle.get()
        while not child.is_fit:
            self._give_back(child)
            child = await self._idle.get()
        try:
            yield child
        finally:
            self._give_back(child)

    def _give_back(self, child: Child) -> None:
        if child.is_fit:
            self._idle.put_nowait(child)
            return
        replacement = asyncio.create_task(self._replace(child))
        self._replacements.add(replacement)
        replacement.add_done_callback(self._replacements.discard)

    async def _replace(self, child: Child) -> None:
        await child.end()
        self._all.discard(child)
        failures = 0
        while True:
            try:
                self._idle.put_nowait(await self._start())
                return
            except (HandlerNotImported, OSError) as error:
                log.error("a child process does not start", error=str(error))  # noqa: TRY400
                pause = _RESTART_PAUSES_SECONDS[min(failures, len(_RESTART_PAUSES_SECONDS) - 1)]
                failures += 1
                await asyncio.sleep(pause)

    async def _start(self) -> Child:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "armka.sdk.child", self._module, self._function),
            *(str(self._settings.memory_mb * _MEBIBYTE), str(os.getpid())),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=child_environment(self._handler_sees),
            start_new_session=True,  # Ctrl-C is for the service alone
            limit=_PIPE_BYTES,
        )
        child = Child(process, self._settings)
        self._all.add(child)
        try:
            await child.wait_ready()
        except BaseException:
            await child.end()
            self._all.discard(child)
            raise
        return child


def whereabouts(handler: Handler) -> tuple[str, str]:
    """Say how to import a handler; raises ValueError where a child process could not find it."""
    name = getattr(handler, "__qualname__", "<unnamed>")
    if "<" in name:
        msg = f"{name}: a handler stands at the top of a module, where child processes find it"
        raise ValueError(msg)
    if handler.__module__ != "__main__":
        return handler.__module__, name
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    return (spec.name if spec is not None else str(main.__file__)), name


def _status(code: int) -> str:
    return f"exit status {code}" if code >= 0 else signal.Signals(-code).name


async def _tail(stream: asyncio.StreamReader) -> str:
    tail = b""
    while chunk := await stream.read(4096):
        tail = (tail + chunk)[-_STDERR_TAIL_BYTES:]
    return tail.decode(errors="replace")
