"""A NATS connection that outlives its server (ADR 0006)."""

import asyncio
import base64
import contextlib
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import nats
import nkeys
import structlog
from nats.aio.client import Client

from armka.messaging.settings import NatsSettings

log = structlog.get_logger(__name__)

CONNECT_TIMEOUT_SECONDS = 5.0
CONFIRM_TIMEOUT_SECONDS = 5.0
# A frozen server is noticed after PING_INTERVAL * (MAX_PINGS + 1) seconds; by itself the library
# would take four minutes.
PING_INTERVAL_SECONDS = 5
MAX_PINGS = 2
_BACKOFF_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0)
_LIVENESS_CHECK_SECONDS = 0.25
_CLOSE_SECONDS = 1.0
_BUFFER_BYTES = 16 * 1024 * 1024
# Longer than a frozen connection can live.
_FLUSH_SECONDS = 60
# Of the permission errors that nobody asked for, so many different ones are kept.
_MAX_DENIED = 1000


class NotConnected(Exception):
    """There is no live connection to NATS right now; it is being made, try again later."""


class NotConfirmed(Exception):
    """The connection did not confirm what was written to it; it may or may not have arrived."""


_CONNECT_ERRORS = (OSError, nats.errors.Error, TimeoutError, NotConfirmed, nkeys.NkeysError)


Hook = Callable[[Client], Awaitable[None]]
ErrorHook = Callable[[Exception], None]


class Connection:
    """A succession of NATS clients, each one TCP connection, made again for as long as `run` runs.

    `on_connect` hooks run for every new client before it counts as live: subscriptions are made
    there.
    """

    def __init__(self, settings: NatsSettings, *, name: str) -> None:
        self._settings = settings
        self._url = _without_credentials(settings.url)
        self._name = name
        self._hooks: list[Hook] = []
        self._error_hooks: list[ErrorHook] = []
        self._client: Client | None = None
        self._live = asyncio.Event()
        self._denied: dict[str, None] = {}

    def on_connect(self, hook: Hook) -> None:
        """Run `hook` with every client, from the next one on."""
        self._hooks.append(hook)

    def on_error(self, hook: ErrorHook) -> None:
        """Call `hook` with every error that a client reports."""
        self._error_hooks.append(hook)

    @property
    def client(self) -> Client:
        """The live client; raises NotConnected."""
        if self._client is None or not _is_alive(self._client):
            raise NotConnected
        return self._client

    @property
    def is_live(self) -> bool:
        """Whether a client is connected and its hooks have run."""
        return self._client is not None and _is_alive(self._client)

    async def wait_live(self) -> None:
        """Return once a client is live."""
        while not self.is_live:
            self._live.clear()
            await self._live.wait()

    def permission_errors(self) -> list[str]:
        """Take the permission errors that the server reported since the last call, each once."""
        taken, self._denied = list(self._denied), {}
        return taken

    async def run(self) -> None:
        """Keep a client connected until cancelled; then close it in order."""
        failures = 0
        while True:
            client = await self._connect()
            if client is None:
                pause = _BACKOFF_SECONDS[min(failures, len(_BACKOFF_SECONDS) - 1)]
                failures += 1
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                continue
            failures = 0
            try:
                await self._until_closed(client)
            finally:
                self._client = None
                await _close(client)
            log.warning("nats connection lost", url=self._url)

    async def _connect(self) -> Client | None:
        client = Client()
        try:
            async with asyncio.timeout(2 * CONNECT_TIMEOUT_SECONDS):
                await client.connect(**self._options())
                for hook in self._hooks:
                    await hook(client)
        except _CONNECT_ERRORS as error:
            log.warning("nats not reachable", url=self._url, error=_plain(error))
            await _close(client)
            return None
        except Exception:
            log.exception("nats connection failed, it is tried again", url=self._url)
            await _close(client)
            return None
        self._client = client
        self._live.set()
        log.info("nats connected", url=self._url)
        return client

    async def _until_closed(self, client: Client) -> None:
        # Polled, not called back: the library calls back only after a close that can hang on a
        # frozen peer, and not at all when its reader dies.
        while _is_alive(client):  # noqa: ASYNC110
            await asyncio.sleep(_LIVENESS_CHECK_SECONDS)

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "servers": [url.strip() for url in self._settings.url.split(",")],
            "name": self._name,
            "allow_reconnect": False,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "ping_interval": PING_INTERVAL_SECONDS,
            "max_outstanding_pings": MAX_PINGS,
            # Where the buffer is full every publish waits so long, and swallows a cancellation.
            "pending_size": _BUFFER_BYTES,
            "flush_timeout": CONFIRM_TIMEOUT_SECONDS,
            "error_cb": self._on_error,
        }
        if self._settings.seed is not None and self._settings.jwt is not None:
            options |= _credentials(
                self._settings.seed.get_secret_value(), self._settings.jwt.get_secret_value()
            )
        return options

    async def _on_error(self, error: Exception) -> None:
        text = _plain(error)
        for hook in self._error_hooks:
            hook(error)
        if "permissions violation" in text.lower():
            if text in self._denied or len(self._denied) >= _MAX_DENIED:
                return
            self._denied[text] = None
        log.warning("nats reported an error", error=text)


async def confirm(client: Client, seconds: float = CONFIRM_TIMEOUT_SECONDS) -> None:
    """Return when the server has answered a PING sent after everything written so far.

    Raises NotConfirmed. The library's `flush` alone also succeeds on a connection that has just
    died. It is never cancelled: the library's reader dies of a PONG for a flush that was given up.
    """
    flush = asyncio.ensure_future(client.flush(timeout=_FLUSH_SECONDS))
    flush.add_done_callback(_retrieve)
    await asyncio.wait({flush}, timeout=seconds)
    if not flush.done():
        raise NotConfirmed(f"no answer to PING within {seconds:.0f} s")
    error = flush.exception()
    if error is not None:
        raise NotConfirmed(_plain(error)) from None
    if not _is_alive(client):
        raise NotConfirmed("the connection was lost meanwhile")


def _retrieve(flush: "asyncio.Future[None]") -> None:
    """A flush that nobody waits for any more may fail in silence."""
    if not flush.cancelled():
        flush.exception()


def _is_alive(client: Client) -> bool:
    """Whether the client is connected and hears: its reader can die without closing it."""
    reader = client._reading_task  # noqa: SLF001
    return client.is_connected and reader is not None and not reader.done()


@contextlib.asynccontextmanager
async def connected(settings: NatsSettings, *, name: str) -> AsyncIterator[Connection]:
    """A connection that is kept up in the background for the time of the block."""
    connection = Connection(settings, name=name)
    task = asyncio.create_task(connection.run(), name=f"nats:{name}")
    try:
        yield connection
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _close(client: Client) -> None:
    """Close within a second; a peer that takes no more bytes is dropped."""
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await client.close()
    except TimeoutError:
        writer = getattr(client._transport, "_io_writer", None)  # noqa: SLF001
        if writer is not None:
            writer.transport.abort()
    except (OSError, nats.errors.Error) as error:
        log.debug("nats connection did not close in order", error=_plain(error))


def _credentials(seed: str, jwt: str) -> dict[str, Any]:
    def sign(nonce: str) -> bytes:
        pair = nkeys.from_seed(bytearray(seed.encode()))
        try:
            return base64.b64encode(bytes(pair.sign(nonce.encode())))
        finally:
            pair.wipe()

    return {"signature_cb": sign, "user_jwt_cb": lambda: bytearray(jwt.encode())}


def _plain(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _without_credentials(urls: str) -> str:
    """For the log."""
    return re.sub(r"//[^@/,]*@", "//", urls)
