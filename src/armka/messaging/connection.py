"""A NATS connection that outlives its server (ADR 0006)."""

import asyncio
import contextlib
import functools
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

import nats
import nkeys
import structlog
from nats.aio.client import Client

from armka.messaging.credentials import Credentials, SecretFields, Wallet
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
# What a client still carries when another one takes over has so long to be finished.
_HANDOVER_SECONDS = 2.0
# The same trouble is told so often.
_TELL_SECONDS = 60.0
_BUFFER_BYTES = 16 * 1024 * 1024
# Longer than a frozen connection can live.
_FLUSH_SECONDS = 60
# Of the permission errors that nobody asked for, so many different ones are kept.
_MAX_DENIED = 1000


class NotConnected(Exception):
    """There is no live connection to NATS right now; it is being made, try again later."""


class NotConfirmed(Exception):
    """The connection did not confirm what was written to it; it may or may not have arrived."""


class NotEncrypted(Exception):
    """TLS is demanded and the server offers none: nothing is said to it."""

    def __init__(self) -> None:
        super().__init__("the server offers no TLS, which NATS_URL or NATS_TLS_* demand")


class NotPermitted(Exception):
    """The server does not let this user do what it must: `permission` on `subject`."""

    def __init__(self, permission: str, subject: str) -> None:
        super().__init__(
            f"the server does not permit this user to {permission} {subject}: "
            "give it the role's permissions, see `armka nats-setup`"
        )
        self.permission = permission
        self.subject = subject


_CONNECT_ERRORS = (
    OSError,
    nats.errors.Error,
    TimeoutError,
    NotConfirmed,
    NotEncrypted,
    NotPermitted,
    nkeys.NkeysError,
)
_SUBSCRIPTION = re.compile(r'permissions violation for subscription to "([^"]*)"', re.IGNORECASE)


Hook = Callable[[Client], Awaitable[None]]
ErrorHook = Callable[[Exception], None]


class Connection:
    """A succession of NATS clients, each one TCP connection, made again for as long as `run` runs.

    `on_connect` hooks run for every new client before it counts as live: subscriptions are made
    there.
    """

    def __init__(
        self,
        settings: NatsSettings,
        *,
        name: str,
        role: str = "",
        secrets: SecretFields | None = None,
    ) -> None:
        """`role` names this user's inboxes, which nobody else can read; `secrets` is asked for
        credentials where the environment brings none.
        """
        self._settings = settings
        self._wallet = Wallet(settings, secrets)
        self._url = _without_credentials(settings.url)
        self._name = name
        self._inbox_prefix = settings.inbox_prefix or ".".join(filter(None, ("_INBOX", role)))
        self._hooks: list[Hook] = []
        self._live_hooks: list[Callable[[], None]] = []
        self._error_hooks: list[ErrorHook] = []
        self._client: Client | None = None
        self._live = asyncio.Event()
        self._denied: WeakKeyDictionary[Client, dict[str, bool]] = WeakKeyDictionary()
        self._used: Credentials | None = None
        self._trouble = "not connected yet"
        self._told = ("", 0.0)

    def on_connect(self, hook: Hook) -> None:
        """Run `hook` with every client, from the next one on."""
        self._hooks.append(hook)

    def on_live(self, hook: Callable[[], None]) -> None:
        """Call `hook` whenever another client has become the live one."""
        self._live_hooks.append(hook)

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

    @property
    def trouble(self) -> str:
        """Why there is no live client; empty while there is one."""
        return "" if self.is_live else self._trouble

    @property
    def credentials(self) -> Credentials | None:
        """What the newest client was let in with."""
        return self._used

    def permission_errors(self, client: Client | None = None) -> list[str]:
        """Take the permission errors that the server reported to this client (the live one) since
        the last call, each once.
        """
        asked = client or self._client
        denied = self._denied.get(asked, {}) if asked is not None else {}
        taken = [text for text, is_new in denied.items() if is_new]
        denied.update(dict.fromkeys(taken, False))
        return taken

    async def run(self) -> None:
        """Keep a client connected until cancelled; then close it in order."""
        watching = asyncio.create_task(self._wallet.watch(), name=f"nats credentials:{self._name}")
        try:
            while True:
                await self._serve(await self._persist())
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _persist(self) -> Client:
        """Try until a client is connected."""
        failures = 0
        while (client := await self._connect()) is None:
            pause = _BACKOFF_SECONDS[min(failures, len(_BACKOFF_SECONDS) - 1)]
            failures += 1
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
        return client

    async def _serve(self, client: Client) -> None:
        """Stay with a client, and with those that follow it with newer credentials, to the end."""
        try:
            while (successor := await self._successor(client)) is not None:
                former, client = client, successor
                await _hand_over(former)
        finally:
            self._client = None
            await _close(client)
        reason = str(client.last_error or "")
        self._trouble = reason or "the connection was lost"
        log.warning("nats connection lost", url=self._url, error=reason)

    async def _successor(self, client: Client) -> Client | None:
        """A client with newer credentials once there are some; None: this one has ended.

        Polled, not called back: the library calls back only after a close that can hang on a
        frozen peer, and not at all when its reader dies.
        """
        tried = self._used
        while _is_alive(client):
            known = self._wallet.known
            if known != tried:
                tried = known
                log.info("nats credentials have changed", expires=_expiry(known))
                successor = await self._connect()
                if successor is not None:
                    return successor
            await asyncio.sleep(_LIVENESS_CHECK_SECONDS)
        return None

    async def _connect(self) -> Client | None:
        try:
            credentials = await self._wallet.take()
        except OSError as error:
            self._tell(error, None)
            return None
        client = Client()
        try:
            async with asyncio.timeout(2 * CONNECT_TIMEOUT_SECONDS):
                await client.connect(**self._options(client, credentials))
                self._refuse_plain(client)
                for hook in self._hooks:
                    await hook(client)
                self._refuse_deafness(client)
        except _CONNECT_ERRORS as error:
            self._wallet.doubt()
            self._tell(error, credentials)
            await _close(client)
            return None
        except Exception:
            log.exception("nats connection failed, it is tried again", url=self._url)
            self._trouble = "unforeseen error, see the log"
            await _close(client)
            return None
        self._client, self._used = client, credentials
        self._told = ("", 0.0)
        self._live.set()
        for tell in self._live_hooks:
            tell()
        log.info("nats connected", url=self._url, credentials_expire=_expiry(credentials))
        return client

    def _tell(self, error: Exception, credentials: Credentials | None) -> None:
        """Say once, and once a minute, why there is no connection."""
        text = _plain(error)
        if credentials is not None and credentials.has_expired:
            text += f" (the JWT expired at {_expiry(credentials)}: put a fresh one in its place)"
        self._trouble = text
        now = time.monotonic()
        if text != self._told[0] or now - self._told[1] >= _TELL_SECONDS:
            self._told = (text, now)
            log.warning("nats not reachable, it is tried again", url=self._url, error=text)

    def _refuse_plain(self, client: Client) -> None:
        """Raises NotEncrypted where TLS is demanded and the client's connection has none."""
        writer = getattr(client._transport, "_io_writer", None)  # noqa: SLF001
        is_encrypted = writer is not None and writer.get_extra_info("ssl_object") is not None
        if self._settings.demands_tls and not is_encrypted:
            raise NotEncrypted

    def _refuse_deafness(self, client: Client) -> None:
        """A forbidden subscription looks like one on which nothing comes; raises NotPermitted."""
        for text in self._denied.get(client, {}):
            if found := _SUBSCRIPTION.search(text):
                raise NotPermitted("subscribe", found.group(1))

    def _options(self, client: Client, credentials: Credentials | None) -> dict[str, Any]:
        options: dict[str, Any] = {
            "servers": [url.strip() for url in self._settings.url.split(",")],
            "name": self._name,
            "inbox_prefix": self._inbox_prefix,
            "allow_reconnect": False,
            "connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "ping_interval": PING_INTERVAL_SECONDS,
            "max_outstanding_pings": MAX_PINGS,
            # Where the buffer is full every publish waits so long, and swallows a cancellation.
            "pending_size": _BUFFER_BYTES,
            "flush_timeout": CONFIRM_TIMEOUT_SECONDS,
            "error_cb": functools.partial(self._on_error, client),
        }
        if self._settings.demands_tls:
            options["tls"] = self._settings.tls_context()
            options["tls_handshake_first"] = self._settings.tls_first
        if credentials is not None:
            options |= credentials.options(lambda: self._refuse_plain(client))
        return options

    async def _on_error(self, client: Client, error: Exception) -> None:
        text = _plain(error)
        for hook in self._error_hooks:
            hook(error)
        if "permissions violation" in text.lower():
            denied = self._denied.setdefault(client, {})
            if text not in denied and len(denied) >= _MAX_DENIED:
                return
            is_told = text in denied
            denied[text] = True
            if is_told:
                return
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
async def connected(
    settings: NatsSettings, *, name: str, role: str = "", secrets: SecretFields | None = None
) -> AsyncIterator[Connection]:
    """A connection that is kept up in the background for the time of the block."""
    connection = Connection(settings, name=name, role=role, secrets=secrets)
    task = asyncio.create_task(connection.run(), name=f"nats:{name}")
    try:
        yield connection
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _hand_over(client: Client) -> None:
    """Let a client finish what it carries while its successor already serves."""
    try:
        async with asyncio.timeout(_HANDOVER_SECONDS):
            await client.drain()
    except (TimeoutError, OSError, nats.errors.Error) as error:
        log.debug("nats connection was not handed over in order", error=_plain(error))
    finally:
        await _close(client)


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


def _expiry(credentials: Credentials | None) -> str | None:
    """For the log."""
    end = credentials.expires if credentials is not None else None
    return end.isoformat() if end is not None else None


def _plain(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _without_credentials(urls: str) -> str:
    """For the log."""
    return re.sub(r"//[^@/,]*@", "//", urls)
