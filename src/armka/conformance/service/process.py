"""The service as a process of the kit's."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_END_SECONDS = 40.0


class CommandNotStarted(Exception):
    """The command does not start the service."""

    def __init__(self, command: Sequence[str], reason: str) -> None:
        super().__init__(f"{' '.join(command)}: {reason}")


class ServiceProcess:
    """One process of the service; its output is appended to `log`."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    def stop(self) -> None:
        """Send SIGTERM."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()

    async def ended(self, seconds: float) -> int | None:
        """Its exit code; None where it still runs after so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._process.wait()
        return None

    async def end(self) -> None:
        """End it, in order if it can, and whatever it started."""
        self.stop()
        await self.ended(_END_SECONDS)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def last_words(self) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-2000:]


class Processes:
    """The processes of the service that the kit has started and not yet ended."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._command = command
        self._environment = environment
        self._log = log
        self._running: list[ServiceProcess] = []

    def __iter__(self) -> Iterator[ServiceProcess]:
        return iter(self._running)

    async def start(self) -> ServiceProcess:
        """Start one more; raises CommandNotStarted."""
        process = await _start(self._command, self._environment, self._log)
        self._running.append(process)
        return process

    async def end(self, process: ServiceProcess) -> None:
        """End one of them, in order if it can."""
        await process.end()
        self._running.remove(process)

    async def end_all(self) -> None:
        """End them all at once."""
        await asyncio.gather(*(self.end(one) for one in list(self._running)))


async def _start(
    command: Sequence[str], environment: Mapping[str, str], log: Path
) -> ServiceProcess:
    with log.open("ab") as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *command, env=dict(environment), stdin=asyncio.subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CommandNotStarted(command, str(error)) from None
    return ServiceProcess(process, log)
