"""`armka stack`: the embedded servers, until SIGTERM or Ctrl-C."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from armka.stack import Server, Stack


def stack(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Folder for data, logs and the file `env`; made if it is not there.",
            file_okay=False,
        ),
    ],
) -> None:
    """Run real PostgreSQL, NATS and S3 servers on loopback until SIGTERM or Ctrl-C.

    While all of them serve, DIR/env holds their addresses as KEY=value lines.
    """
    from armka.stack import Stack, StackError

    try:
        asyncio.run(_run(Stack(data)))
    except StackError as error:
        print(f"armka stack: {error}", file=sys.stderr)
        raise typer.Exit(1) from None


async def _run(servers: "Stack") -> None:
    stopped = _stop_signal()
    try:
        if await _unless(stopped, _start(servers)):
            print(f"ready: {servers.env_file}", flush=True)
            await _unless(stopped, _fail_when_one_dies(servers))
    finally:
        await servers.stop()


def _stop_signal() -> asyncio.Event:
    event, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)
    return event


async def _unless(stopped: asyncio.Event, work: Coroutine[object, None, None]) -> bool:
    """Do the work to its end, True; or cancel it when the stop signal comes, False."""
    task, stop = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            return False
        await task
        return True
    finally:
        stop.cancel()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _start(servers: "Stack") -> None:
    console = Console(stderr=True)

    def ready(server: "Server", seconds: float) -> None:
        console.print(
            f"{server.name}: ready in {seconds:.1f} s on port {server.port}", highlight=False
        )

    waiting: AbstractContextManager[object] = nullcontext()
    if console.is_terminal:
        waiting = console.status("Starting PostgreSQL, NATS and S3 …")
    with waiting:
        await servers.start(ready)


async def _fail_when_one_dies(servers: "Stack") -> None:
    raise await servers.died()
