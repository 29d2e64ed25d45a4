"""The composition root: settings in, a serving process out."""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import Generator

import structlog
import uvicorn
from fastapi import FastAPI

from armka.sdk.children import HandlerNotImported
from armka.services.scanning_system.api import create_app
from armka.services.scanning_system.callbacks import Caller
from armka.services.scanning_system.desk import Desk
from armka.services.scanning_system.readers import Readers
from armka.services.scanning_system.settings import ScanningSettings
from armka.services.scanning_system.store import FolderTaken, Store
from armka.services.scanning_system.tessdata import find_ocr

log = structlog.get_logger(__name__)

_HTTP_GRACE_SECONDS = 5


class TokenMissing(Exception):
    """Off the loopback, clients must show a token."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"SCANNING_TOKEN is missing: without it only the loopback is served, not {host}"
        )


class NotStarted(Exception):
    """The folder is taken, or child processes do not start; the message says which."""


def listening_socket(settings: ScanningSettings, host: str, port: int) -> socket.socket:
    """Bind where the API will listen; port 0 takes a free one. Raises TokenMissing, OSError."""
    if settings.token is None and not _is_loopback(host):
        raise TokenMissing(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Server(uvicorn.Server):
    """Leaves the signals to the command that runs it, so that SIGTERM ends in exit code 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def serve(settings: ScanningSettings, bound: socket.socket, stop: asyncio.Event) -> None:
    """Serve until `stop` is set; raises NotStarted."""
    ocr = find_ocr(settings.tessdata_dir)
    if ocr.missing is not None:
        log.warning("pictures cannot be read here, text layers can", missing=ocr.missing)
    readers = Readers(settings, None if ocr.folder is None else str(ocr.folder))
    caller = Caller(settings)
    desk = Desk(settings, Store(settings.data_dir), readers, caller)
    async with contextlib.AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(readers)
            await stack.enter_async_context(caller)
            await stack.enter_async_context(desk)
        except (FolderTaken, HandlerNotImported) as error:
            raise NotStarted(str(error)) from None
        app = create_app(settings, desk, readers, caller, ocr)
        await _serve(_Server(_config(app)), bound, desk, stop)


def _config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_HTTP_GRACE_SECONDS,
        server_header=False,
    )


async def _serve(
    server: uvicorn.Server, bound: socket.socket, desk: Desk, stop: asyncio.Event
) -> None:
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    host, port = bound.getsockname()[:2]
    log.info("scanning system listens", url=f"http://{host}:{port}")
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    desk.stop_waiting()
    server.should_exit = True
    stopping.cancel()
    await serving
