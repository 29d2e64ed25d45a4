"""`armka demo`: everything on this machine, once, with real servers and real documents."""

import asyncio
import contextlib
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console

from armka.cli import api
from armka.cli.api import ApiRefused
from armka.cli.files import pages
from armka.cli.output import print_table
from armka.cli.progress import progress_bar
from armka.cli.signals import stop_event
from armka.cli.upload import Sent, found, send_all
from armka.stack import Stack, StackError
from armka.stack.errors import ServerFailed
from armka.stack.identity import AS_IS, Command
from armka.stack.supervised import Supervised

_USUAL_PORT = 8080
_LISTENING = ('"subscribed"', '"scanning system listens"')
_START_SECONDS = 120.0
_RECOGNITION_SECONDS = 300.0
_LOOK_SECONDS = 0.2
_VISITOR = "demo"
_ENDED = frozenset({"DONE", "NEEDS_CHECK", "ERROR"})


def demo(
    *,
    leave: Annotated[
        bool, typer.Option("--exit", help="End when the documents are recognised.")
    ] = False,
    samples: Annotated[
        Path | None,
        typer.Option(help="Folder of documents to upload instead of the samples.", exists=True),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Keep servers' data and logs in this folder.")
    ] = None,
) -> None:
    """Start PostgreSQL, NATS, S3, a core, the services and a scanning system; upload documents;
    show what was read of them.
    """
    documents, _ = found([samples or _samples()])
    try:
        with contextlib.ExitStack() as stack:
            folder = data or Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="armka-demo-"))
            )
            asyncio.run(_demo(folder, documents, leave))
    except (StackError, httpx.HTTPError, ApiRefused) as error:
        typer.echo(f"armka demo: {str(error) or type(error).__name__}", err=True)
        raise typer.Exit(1) from None


def _samples() -> Path:
    here = Path(__file__).parents[1]
    return next(
        folder for folder in (here / "samples", here.parents[1] / "samples") if folder.is_dir()
    )


async def _demo(folder: Path, documents: Sequence[Path], leave: bool) -> None:
    """Run the demo until it is done, Ctrl-C comes, or one of its processes ends."""
    stop = stop_event()
    work = asyncio.create_task(_show_all(folder, documents, leave))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait((work, stopped), return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        typer.echo("stopping …", err=True)
        work.cancel()
    stopped.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work


async def _show_all(folder: Path, documents: Sequence[Path], leave: bool) -> None:
    begun = time.monotonic()
    async with _running(folder) as (url, ended), api.client(url) as http:
        seconds = time.monotonic() - begun
        typer.echo(f"all runs after {seconds:.1f} s; {len(documents)} documents to go")
        shown = asyncio.create_task(_recognise(http, documents))
        await asyncio.wait((shown, ended), return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            shown.cancel()
            raise ended.result()
        uploaded, files = shown.result()
        _show(uploaded, files)
        seconds = time.monotonic() - begun
        refused = len(uploaded) - len(files)
        typer.echo(f"{len(files)} came to an end, {refused} refused, {seconds:.1f} s in all")
        if leave:
            return
        typer.echo(f"The API listens at {url}/api/v1; logs are in {folder}. Ctrl-C ends it all.")
        typer.echo(f"Try: {Path(sys.executable).with_name('armka')} files list --url {url}")
        typer.echo(f"The console opens once, within an hour, at {await _console_link(http, url)}")
        raise await ended


@contextlib.asynccontextmanager
async def _running(folder: Path) -> AsyncIterator[tuple[str, "asyncio.Task[ServerFailed]"]]:
    """The servers, a core and what recognises: the API's address, and who ended too early."""
    console = Console(stderr=True)
    async with contextlib.AsyncExitStack() as stack:
        with _status(console, "Starting PostgreSQL, NATS and S3 …"):
            servers = await stack.enter_async_context(Stack(folder))
        with _status(console, "Starting the core, the services and the scanning system …"):
            port, scanning_port = _free_port(_USUAL_PORT), _free_port(0)
            env = _environment(servers.env() | _scanning(folder, scanning_port))
            await _run_once("migrate", ["migrate"], folder, env)
            started = [
                await stack.enter_async_context(_process(name, arguments, folder, env))
                for name, arguments in (
                    ("scanning-system", ["scanning-system", "--port", str(scanning_port)]),
                    ("core", ["core", "--port", str(port)]),
                    ("tabular-parser", ["service", "tabular-parser"]),
                    ("scan-gateway", ["service", "scan-gateway"]),
                )
            ]
            url = f"http://127.0.0.1:{port}"
            ended = asyncio.create_task(_first_ended(started))
            stack.callback(ended.cancel)
            await _ready(url, started)
        yield url, ended


async def _first_ended(processes: Sequence[Supervised]) -> ServerFailed:
    waits = {asyncio.create_task(process.ended()): process for process in processes}
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    process = waits[done.pop()]
    return ServerFailed(process.name, "ended by itself", process.log, process.log_tail())


def _status(console: Console, text: str) -> contextlib.AbstractContextManager[object]:
    return console.status(text) if console.is_terminal else contextlib.nullcontext()


def _environment(servers: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """What the processes see: the demo's own servers, and of the caller's settings none that point
    elsewhere.
    """
    wanted = {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "HOME", "TMPDIR", "LOG_LEVEL", "NATS_TRANSPORT", "NATS_MANAGE_STREAM"}
    }
    return tuple((wanted | servers).items())


async def _run_once(
    name: str, arguments: Sequence[str], folder: Path, env: tuple[tuple[str, str], ...]
) -> None:
    process = Supervised(name, _command(name, arguments, folder, env).plan(AS_IS))
    await process.started()
    status = await process.ended()
    if status != 0:
        raise ServerFailed(
            name, f"ended with exit status {status}", process.log, process.log_tail()
        )


@contextlib.asynccontextmanager
async def _process(
    name: str, arguments: Sequence[str], folder: Path, env: tuple[tuple[str, str], ...]
) -> AsyncIterator[Supervised]:
    process = Supervised(name, _command(name, arguments, folder, env).plan(AS_IS))
    try:
        await process.started()
        yield process
    finally:
        await process.stop()


def _command(
    name: str, arguments: Sequence[str], folder: Path, env: tuple[tuple[str, str], ...]
) -> Command:
    argv = (sys.executable, "-m", "armka.cli", *arguments)
    return Command(argv, cwd=folder, log=folder / f"{name}.log", env=env, grace_seconds=30)


def _scanning(folder: Path, port: int) -> dict[str, str]:
    """Where the scanning system is, and the token that the gateway shows it."""
    return {
        "SCANNING_URL": f"http://127.0.0.1:{port}",
        "SCANNING_TOKEN": secrets.token_urlsafe(),
        "SCANNING_DATA_DIR": str(folder / "scanning"),
    }


def _free_port(usual: int) -> int:
    for port in (usual, 0):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise AssertionError


async def _ready(url: str, processes: Sequence[Supervised]) -> None:
    """The API answers and every process listens: no request would wait for a repeat."""
    async with asyncio.timeout(_START_SECONDS), api.client(url) as http:
        while not await _answers(http) or not all(
            any(map(process.has_said, _LISTENING)) for process in processes
        ):
            for process in processes:
                if process.exit_status is not None:
                    raise ServerFailed(process.name, "ended", process.log, process.log_tail())
            await asyncio.sleep(_LOOK_SECONDS)


async def _answers(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/healthcheck")).is_success
    except httpx.HTTPError:
        return False


async def _recognise(
    http: httpx.AsyncClient, documents: Sequence[Path]
) -> tuple[list[Sent], dict[str, dict[str, Any]]]:
    """Upload everything and wait until every file has come to its end."""
    with progress_bar() as bar:
        sending = bar.add_task("uploaded", total=len(documents))
        reading = bar.add_task("recognised", total=len(documents))
        sent = await send_all(http, documents, None, lambda _: bar.advance(sending))
        wanted = {item.file_id for item in sent if item.file_id}
        bar.update(reading, total=len(wanted))
        async with asyncio.timeout(_RECOGNITION_SECONDS):
            while True:
                items = await pages(http, "/files", {}, len(wanted) + 1)
                files = {
                    item["id"]: item
                    for item in items
                    if item["id"] in wanted and item["status"] in _ENDED
                }
                bar.update(reading, completed=len(files))
                if len(files) == len(wanted):
                    return list(sent), files
                await asyncio.sleep(_LOOK_SECONDS)


async def _console_link(http: httpx.AsyncClient, url: str) -> str:
    """A link that lets in somebody who may do everything; made anew where the data was kept."""
    found = (await api.call(http, "GET", "/users", params={"name": _VISITOR}))["items"]
    visitor = {
        "name": _VISITOR,
        "roles": ["analyst", "operator", "manager", "admin"],
        "password": secrets.token_urlsafe(32),
    }
    user = found[0] if found else await api.call(http, "POST", "/users", json=visitor)
    link = await api.call(http, "POST", f"/users/{user['id']}/sign-in-link")
    return f"{url}{link['path']}"


def _show(uploaded: Sequence[Sent], files: dict[str, dict[str, Any]]) -> None:
    columns = ("file", "status", "organisation", "period", "lines", "checks", "seconds")
    rows = [(item, files.get(item.file_id or "")) for item in uploaded]
    print_table(columns, (_row(sent, file) for sent, file in rows), status=1)
    for sent, file in rows:
        reason = sent.refusal if file is None else file["error_message"]
        if reason:
            typer.echo(f"{sent.path.name}: {reason}\n")


def _row(sent: Sent, file: dict[str, Any] | None) -> tuple[object, ...]:
    if file is None:
        return (sent.path.name, "REFUSED", None, None, None, sent.code, None)
    documents = file["documents"]
    if not documents:
        return (
            sent.path.name,
            file["status"],
            None,
            None,
            None,
            file["error_code"],
            _seconds(file),
        )
    return (
        sent.path.name,
        file["status"],
        documents[0]["organisation_name"],
        documents[0]["period_text"],
        sum(document["line_count"] for document in documents),
        _checks(documents),
        _seconds(file),
    )


def _checks(documents: Sequence[dict[str, Any]]) -> str:
    counts = {
        name: sum(document[f"{name}_count"] for document in documents)
        for name in ("error", "warning", "unknown")
    }
    said = [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join(said) or "all passed"


def _seconds(file: dict[str, Any]) -> str:
    taken = datetime.fromisoformat(file["updated_at"]) - datetime.fromisoformat(file["created_at"])
    return f"{taken.total_seconds():.2f}"
