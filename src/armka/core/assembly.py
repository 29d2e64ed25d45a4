"""The composition root: the only place that joins the core's parts, starts them in order and stops
them in order.
"""

import asyncio
import contextlib
import gc
import ipaddress
import socket
from collections.abc import AsyncIterator, Generator
from importlib.metadata import version
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI

from armka.core.carrying.store import Carrying
from armka.core.console.application import Console, ConsoleParts
from armka.core.continuity.store import Continuity
from armka.core.database import listener
from armka.core.database.listener import Listener
from armka.core.database.pool import Database
from armka.core.doctor.broker import Broker
from armka.core.doctor.doctor import Doctor
from armka.core.errors import SettingsInvalid
from armka.core.files.bulk import BulkAttempts
from armka.core.files.changes import FileChanges
from armka.core.files.store import Files
from armka.core.files.sweep import Sweep
from armka.core.history.store import Histories
from armka.core.http.app import Parts, create_app
from armka.core.http.health import LoopHealth
from armka.core.identity.identity import Identity
from armka.core.inbox.receiver import Inbox, inbound
from armka.core.loop import Loop
from armka.core.mapping.mapper import Mapper, MappingConfig
from armka.core.outbox.publisher import Outbox, OutboxConfig
from armka.core.review.documents import ReviewedDocuments
from armka.core.review.pages import PageSources
from armka.core.settings import Settings
from armka.core.watchdog.watchdog import Watchdog, WatchdogConfig
from armka.messaging.connection import Connection, connected
from armka.messaging.messages import Receiver
from armka.messaging.transport import Ends, ends
from armka.objects.store import ObjectStore
from armka.secrets.openbao import openbao

log = structlog.get_logger(__name__)

_HTTP_GRACE_SECONDS = 10
# Longer than proxies keep their end (60 s): none sends into a connection that is being closed.
_KEEP_ALIVE_SECONDS = 75
# A cycle that runs for so long does not come back; those that walk through everything may.
_STUCK_SECONDS = 300.0
_PATIENT = frozenset({"sweep", "doctor"})
_GC_OBJECTS = 50_000


class Core:
    """One core process: the HTTP side always, the loops where NATS is enabled (N2)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._database = Database(settings.database)
        self._objects = ObjectStore(settings.objects)
        self._bulk = BulkAttempts(self._database)
        self._continuity = Continuity(self._database)
        self._loops: list[Loop] = []
        self._nats: Connection | None = None
        self._draining = False
        self._doctor: Doctor | None = None
        self._outbox: Outbox | None = None
        exchange = settings.exchange
        identity = Identity(self._database, settings.identity)
        changes = FileChanges(self._database)
        pages = PageSources(self._database, self._objects, exchange.result_max_bytes)
        shown = ConsoleParts(
            identity=identity,
            files=Files(self._database),
            histories=Histories(self._database),
            continuity=self._continuity,
            carrying=Carrying(self._database),
            changes=changes,
            documents=ReviewedDocuments(self._database),
            pages=pages,
            upload_limit=exchange.upload_max_bytes,
            version=version("arm-ka"),
        )
        self._console = Console(shown, settings.console)
        self._parts = Parts(
            database=self._database,
            objects=self._objects,
            bulk=self._bulk,
            continuity=self._continuity,
            vitals=self,
            upload_limit=exchange.upload_max_bytes,
            identity=identity,
            changes=changes,
            refusal_page=self._console.refusal,
            pages=pages,
        )

    def app(self) -> FastAPI:
        """The ASGI application; the loops run for its lifetime."""
        app = create_app(self._parts, version("arm-ka"), lambda _app: self.running())
        self._console.install(app)
        return app

    def begin_draining(self) -> None:
        """Be no longer ready, and let long polls and live pages go."""
        self._draining = True
        self._parts.stop_waiting()

    def is_draining(self) -> bool:
        """Whether this process is about to end."""
        return self._draining

    def nats_is_live(self) -> bool:
        """Whether NATS is connected, or not wanted (N2)."""
        return not self._settings.exchange.nats_enabled or (
            self._nats is not None and self._nats.is_live
        )

    def duplicates(self) -> int:
        """How many requests the stream had already."""
        return self._outbox.duplicates if self._outbox else 0

    def nats_trouble(self) -> str:
        """Why NATS is not connected; empty where nothing is wrong."""
        return "" if self._nats is None else self._nats.trouble

    def loops(self) -> list[LoopHealth]:
        """How the loops are."""
        return [
            LoopHealth(
                name=loop.name,
                is_alive=loop.name in _PATIENT or loop.seconds_in_cycle < _STUCK_SECONDS,
                is_ok=loop.state == "ok",
                seconds_since_cycle=loop.seconds_since_cycle,
            )
            for loop in self._loops
        ]

    def health(self) -> dict[str, Any]:
        """What this process knows about itself without asking anybody."""
        nats = (
            "disabled"
            if self._nats is None
            else "connected"
            if self._nats.is_live
            else "disconnected"
        )
        return {
            "status": "ok",
            "version": version("arm-ka"),
            "nats": nats,
            "loops": {loop.name: loop.state for loop in self._loops},
            "doctor": self._doctor.summary() if self._doctor else None,
        }

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the loops for the time of the block, then drain them."""
        async with self._database:
            if not self._settings.exchange.nats_enabled:
                log.info("nats is disabled, no background loop runs")
                yield
                return
            secrets = openbao(self._settings.openbao)
            async with connected(
                self._settings.nats, name="arm-ka core", role="core", secrets=secrets
            ) as connection:
                self._nats = connection
                async with self._exchange(connection):
                    yield

    @contextlib.asynccontextmanager
    async def _exchange(self, connection: Connection) -> AsyncIterator[None]:
        settings = self._settings.nats
        async with (
            ends(connection, settings, inbound(settings.subjects)) as both,
            self._loops_on(connection, both),
        ):
            yield

    @contextlib.asynccontextmanager
    async def _loops_on(self, connection: Connection, both: Ends) -> AsyncIterator[None]:
        settings, subjects = self._settings, self._settings.nats.subjects
        receiver = both.receiver
        inbox = Inbox(self._database, receiver, self._objects.bucket)
        self._outbox = outbox = Outbox(
            OutboxConfig.of(settings.exchange),
            self._database,
            both.publisher,
            receiver,
            subjects,
            lambda: connection.is_live,
        )
        publishing = Loop("outbox", outbox.run_once)
        receiving = Loop("inbox", inbox.run_once)
        mapping = Loop(
            "mapping",
            Mapper(MappingConfig.of(settings.exchange), self._database, self._objects).run_once,
        )
        watching = Loop(
            "watchdog", Watchdog(WatchdogConfig.of(settings.exchange), self._database).run_once
        )
        sweep = Sweep(self._database, self._objects, settings.exchange.sweep_grace_seconds)
        self._doctor = Doctor(
            settings.exchange,
            self._database,
            self._objects,
            Broker(connection, subjects, both.stream),
        )
        bulk = Loop("bulk", self._bulk.run_once)
        self._bulk.on_begin(bulk.wake)
        slow = [
            bulk,
            Loop("continuity", self._continuity.run_once),
            Loop("sweep", sweep.run_once),
            Loop("doctor", self._doctor.run_once),
        ]
        self._loops = [publishing, receiving, mapping, watching, *slow]
        connection.on_live(outbox.reconsider)
        connection.on_live(publishing.wake)
        hints = Listener(
            settings.database,
            {listener.JOB_QUEUED: publishing.wake, listener.JOB_MAPPABLE: mapping.wake},
        )
        listening = asyncio.create_task(hints.run(), name="listener")
        tasks = [asyncio.create_task(loop.run(), name=loop.name) for loop in self._loops]
        try:
            yield
        finally:
            await self._drain(tasks, receiver, inbox)
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _drain(
        self, tasks: list[asyncio.Task[None]], receiver: Receiver, inbox: Inbox
    ) -> None:
        """Let every cycle come to its end, settle what the inbox holds; then insist."""
        log.info("stopping")
        for loop in self._loops:
            loop.stop()
        try:
            async with asyncio.timeout(self._settings.exchange.drain_seconds):
                await receiver.stop()
                await asyncio.gather(*tasks)
                await inbox.drain()
        except TimeoutError:
            log.warning("not drained in time, what is open is rolled back")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        log.info("stopped")


def listening_socket(settings: Settings, host: str, port: int) -> socket.socket:
    """Bind where the API will listen; refuses to be open to all off the loopback. Port 0 takes a
    free one.
    """
    if settings.identity.is_open and not _is_loopback(host):
        why = f"without it (or SIGN_IN_REQUIRED, OIDC_ISSUER) it listens on loopback, not on {host}"
        raise SettingsInvalid([f"API_TOKEN is missing: {why}"])
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((host, port))
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


def _settle_memory() -> None:
    """What is built by now lives as long as the process: the collector need not walk it again, and
    the messages of a batch are no reason to look for cycles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_OBJECTS)


async def serve(settings: Settings, bound: socket.socket, stop: asyncio.Event) -> None:
    """Run a core on a bound socket until `stop` is set, then drain it."""
    core = Core(settings)
    config = uvicorn.Config(
        core.app(),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_HTTP_GRACE_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        server_header=False,
    )
    server = _Server(config)
    _settle_memory()
    host, port = bound.getsockname()[:2]
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    log.info("core listens", url=f"http://{host}:{port}")
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    core.begin_draining()
    await asyncio.wait((serving,), timeout=settings.exchange.readiness_grace_seconds)
    server.should_exit = True
    stopping.cancel()
    await serving
