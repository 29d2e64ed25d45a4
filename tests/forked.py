"""Processes of `armka`, forked from one that has imported everything: a start costs a tenth of what
it does on the command line, so that hundreds of them can be judged.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "armka.cli.main",
        "armka.core.assembly",
        "armka.services.tabular_parser.recognise",
        "tests.conformance.service.faults",
        "pydantic.v1",
        "uvloop",
    ]
)


class Forked:
    """A running `armka`; its names are those of `asyncio.subprocess.Process`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal; one that has ended gets none."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.send_signal(signal.SIGKILL)

    def join(self, seconds: float) -> None:
        """Return when it has ended, or when that takes longer."""
        self._process.join(seconds)

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(self._process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        assert self.returncode is not None
        return self.returncode


def start(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path, mutant: str | None = None
) -> Forked:
    """Start `armka` with these arguments; it adds what it says to `log`. `mutant`: the fault that
    it gets before.
    """
    log.touch()
    process = CONTEXT.Process(
        target=_run, args=(list(arguments), dict(environment), log, mutant), daemon=True
    )
    process.start()
    return Forked(process)


def speaks_to(log: Path) -> None:
    """From now on, what this process says is added to the file."""
    with log.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)


def _run(arguments: list[str], environment: dict[str, str], log: Path, mutant: str | None) -> None:
    speaks_to(log)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["armka", *arguments]
    if mutant is not None:
        from tests.conformance.mutants.register import BY_ID  # noqa: PLC0415 - for mutants only

        BY_ID[mutant].apply()
    from armka.cli.main import main  # noqa: PLC0415 - patched first

    main()
