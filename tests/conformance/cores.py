"""Processes of `armka core`, forked from one that has imported everything: a start costs little, so
that a hundred of them can be judged.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["armka.cli.main", "armka.core.assembly", "uvloop"])


def start(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path, mutant: str | None
) -> BaseProcess:
    """Start `armka` with these arguments; `mutant`: the fault that it gets before."""
    process = _CONTEXT.Process(
        target=_run, args=(list(arguments), dict(environment), log, mutant), daemon=True
    )
    process.start()
    return process


def _run(arguments: list[str], environment: dict[str, str], log: Path, mutant: str | None) -> None:
    with log.open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["armka", *arguments]
    if mutant is not None:
        from tests.conformance.mutants.register import BY_ID  # noqa: PLC0415 - for mutants only

        BY_ID[mutant].apply()
    from armka.cli.main import main  # noqa: PLC0415 - patched first

    main()
