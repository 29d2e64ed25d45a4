"""A NATS connection that outlives its server (ADR 0006)."""

import asyncio
import base64
import contextlib
import random
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
# A frozen server is noticed after PING_INTERVAL * (MAX_PINGS + 1) seconds; the library's own pace is four minutes.
PING_INTERVAL_SECONDS = 5
MAX_PINGS = 2
_BACKOFF_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0)
_LIVENESS_CHECK_SECONDS = 0.25


class NotConnected(Exception):  # noqa: N818 - errors are named as facts
    """There is no live connection to NATS right now; it is being made, try again later."""


class NotConfirmed(Exception):  # noqa: N818 - errors are named as facts
    """The connection did not confirm what was written to it; it may or may not have arrived."""


Hook = Callable[[Client], Awaitable[None]]


class Connection:
    """A succession of NATS clients, each one TCP connection, made again for as long as `run` runs.

    `on_connect` hooks run for every new client before it counts as live: subscriptions are made there.
    """

    def __init__(self, settings: NatsSettings, *, name: str) -> None:
        self._settings = settings
        self._name = name
        self._hooks: list[Hook] = []
        self._client: Client | None = None
        self._live = asyncio.Event()
        self._denied: list[str] = []

    def on_connect(self, hook: Hook) -> None:
        """Run `hook` with every client, from the next one on."""
        self._hooks.append(hook)

    @property
    def client(self) -> Client:
        """The live client; raises NotConnected."""
        if self._client is None or not self._client.is_connected:
            raise NotConnected
        return self._client

    @property
    def is_live(self) -> bool:
        """Whether a client is connected and its hooks have run."""
        return self._client is not None and self._client.is_connected

    async def wait_live(self) -> None:
        """Return once a client is live."""
        while not self.is_live:
            self._live.clear()
            await self._live.wait()

    def permission_errors(self) -> list[str]:
        """Take the permission errors that the server reported since the last call."""
        taken, self._denied = self._denied, []
        return taken

    async def run(self) -> None:
        """Keep a client connected until cancelled; then close it in order."""
        failures = 0
        while True:
            client = await self._connect()
            if client is None:
                pause = _BACKOFF_SECONDS[min(failures, len(_BACKOFF_SECONDS) - 1)]
                failures += 1
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
                continue
            failures = 0
            try:
                await self._until_closed(client)
            finally:
                self._client = None
                await _close(client)
            log.warning("nats connection lost", url=self._settings.url)

    async def _connect(self) -> Client | None:
        client = Client()
        try:
            async with asyncio.timeout(2 * CONNECT_TIMEOUT_SECONDS):
                await client.connect(**self._options())
                for hook in self._hooks:
                    await hook(client)
        except (OSError, nats.errors.Error, TimeoutError, NotConfirmed) as error:
            log.warning("nats not reachable", url=self._settings.url, error=_plain(error))
            await _close(client)
            return None
        self._client = client
        self._live.set()
        log.info("nats connected", url=self._settings.url)
        return client

    async def _until_closed(self, client: Client) -> None:
        # Polled, not called back: the library calls back only after a close that can hang on a frozen peer.
        while not client.is_closed:
            await asyncio.sleep(_LIVENESS_CHECK_SECONDS)

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "servers": [url.strip() for url in self._settings.url.split(",")],
            "name": self._name,
            "allow_reconnect": False,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "ping_interval": PING_INTERVAL_SECONDS,
            "max_outstanding_pings": MAX_PINGS,
            "error_cb": self._on_error,
        }
        if self._settings.seed is not None and self._settings.jwt is not None:
            options |= _credentials(
                self._settings.seed.get_secret_value(), self._settings.jwt.get_secret_value()
            )
        return options

    async def _on_error(self, error: Exception) -> None:
        text = _plain(error)
        if "permissions violation" in text.lower():
            self._denied.append(text)
        log.warning("nats reported an error", error=text)


async def confirm(client: Client, seconds: float = CONFIRM_TIMEOUT_SECONDS) -> None:
    """Return when the server has answered a PING sent after everything written so far; raises NotConfirmed.

    The library's `flush` alone also succeeds on a connection that has just died.
    """
    try:
        await client.flush(timeout=seconds)  # type: ignore[arg-type]
    except (OSError, nats.errors.Error, TimeoutError) as error:
        raise NotConfirmed(_plain(error)) from None
    if not client.is_connected:
        raise NotConfirmed("the connection was lost meanwhile")


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
    with contextlib.suppress(OSError, nats.errors.Error, TimeoutError):
        async with asyncio.timeout(1.0):
            await client.close()


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
