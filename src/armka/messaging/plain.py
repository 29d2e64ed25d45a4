"""The `core` transport: plain NATS, at most once on the wire; the database makes it safe."""

import asyncio
import contextlib
import time
from collections import deque

import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from armka.contract import outcome as outcomes
from armka.contract.outcome import Outcome
from armka.messaging.connection import (
    CONFIRM_TIMEOUT_SECONDS,
    Connection,
    NotConfirmed,
    NotConnected,
    confirm,
)
from armka.messaging.messages import Incoming, Outgoing, Published, wire_size

log = structlog.get_logger(__name__)


class PlainPublisher:
    """Publishes bursts; a burst is confirmed by the live connection's PONG after it (§3)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def publish(self, burst: list[Outgoing]) -> Published:
        """See `Publisher.publish`. Messages too large or forbidden by the server fail alone."""
        client = self._connection.client
        self._connection.permission_errors()
        end = time.monotonic() + CONFIRM_TIMEOUT_SECONDS
        try:
            too_large = await _write_all(client, burst, end)
            await confirm(client, max(end - time.monotonic(), 0.0))
        except (OSError, nats.errors.Error, TimeoutError) as error:
            raise NotConfirmed(str(error) or type(error).__name__) from None
        return Published(too_large, forbidden(burst, self._connection.permission_errors()))

    async def kept_seconds(self) -> None:
        """See `Publisher.kept_seconds`."""
        return


class PlainReceiver:
    """A subscription in a queue group, made again on every connection; its buffer is bounded.

    When the buffer is full the callback waits, then the client library's own bound drops messages
    and reports it: a `processing` is asked for again by the republish, a result is sent again by
    its service (I8). What was dropped was not heard: `heard_seconds` starts anew.
    """

    redelivers = False

    def __init__(
        self, connection: Connection, subject: str, queue: str, *, capacity: int = 10_000
    ) -> None:
        self._connection = connection
        self._subject = subject
        self._queue = queue
        self._capacity = capacity
        self._buffer: deque[Incoming] = deque()
        self._unsettled: dict[Incoming, None] = {}  # by arrival
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._subscription: tuple[Client, Subscription] | None = None
        self._since = 0.0
        self._stopping = False
        self._stopped = False
        connection.on_connect(self._subscribe)
        connection.on_error(self._notice_drops)

    async def take(self, limit: int) -> list[Incoming]:
        """See `Receiver.take`."""
        while not self._buffer and not self._stopped:
            self._arrived.clear()
            await self._arrived.wait()
        batch = [self._buffer.popleft() for _ in range(min(limit, len(self._buffer)))]
        self._room.set()
        return batch

    def has_waiting(self) -> bool:
        """See `Receiver.has_waiting`."""
        return bool(self._buffer)

    async def settle(self, batch: list[tuple[Incoming, Outcome | None]]) -> None:
        """See `Receiver.settle`. An answer that cannot be sent is lost: the sender asks again."""
        for incoming, _ in batch:
            self._unsettled.pop(incoming, None)
        with contextlib.suppress(NotConnected, OSError, nats.errors.Error):
            client = self._connection.client
            for incoming, outcome in batch:
                if incoming.reply and outcome is not None:
                    await client.publish(incoming.reply, outcomes.encode(outcome))

    async def put_back(self, incoming: Incoming, seconds: float) -> None:  # noqa: ARG002 - the protocol's
        """See `Receiver.put_back`. Nobody keeps it but its sender, who sends it again (I8, O3)."""
        self._unsettled.pop(incoming, None)

    def heard_seconds(self) -> float:
        """See `Receiver.heard_seconds`."""
        if self._stopping or self._subscription is None or not self._connection.is_live:
            return 0.0
        is_current = self._subscription[0] is self._connection.client
        return time.monotonic() - self._since if is_current else 0.0

    def lag_seconds(self) -> float:
        """See `Receiver.lag_seconds`."""
        oldest = next(iter(self._unsettled), None)
        return time.monotonic() - oldest.arrived if oldest else 0.0

    async def stop(self) -> None:
        """See `Receiver.stop`."""
        self._stopping = True
        if self._subscription is not None:
            with contextlib.suppress(OSError, nats.errors.Error, TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._subscription[1].drain()  # type: ignore[no-untyped-call]
        self._stopped = True
        self._arrived.set()

    async def _subscribe(self, client: Client) -> None:
        if self._stopping:
            return
        subscription = await client.subscribe(self._subject, queue=self._queue, cb=self._receive)
        await confirm(client)
        self._subscription = (client, subscription)
        self._since = time.monotonic()
        log.info("subscribed", subject=self._subject, queue=self._queue)

    def _notice_drops(self, error: Exception) -> None:
        if isinstance(error, nats.errors.SlowConsumerError):
            self._since = time.monotonic()

    async def _receive(self, message: Msg) -> None:
        while len(self._buffer) >= self._capacity:
            self._room.clear()
            await self._room.wait()
        headers = message.headers or {}
        incoming = Incoming(message.subject, message.data, headers, message.reply, time.monotonic())
        self._buffer.append(incoming)
        self._unsettled[incoming] = None
        self._arrived.set()


async def _write_all(client: Client, burst: list[Outgoing], end: float) -> dict[int, str]:
    too_large: dict[int, str] = {}
    for index, message in enumerate(burst):
        # The library checks the body alone; the server counts headers too, and hangs up.
        if wire_size(message) > client.max_payload:
            too_large[index] = f"larger than the server's max_payload of {client.max_payload} bytes"
            continue
        await client.publish(message.subject, message.body, headers=dict(message.headers))
        if time.monotonic() > end:
            raise NotConfirmed("the server takes the burst too slowly")
    return too_large


def forbidden(burst: list[Outgoing], errors: list[str]) -> dict[int, str]:
    """Which messages of a burst these permission errors are about."""
    return {
        index: error
        for error in errors
        for index, message in enumerate(burst)
        if f'publish to "{message.subject}"'.lower() in error.lower()
    }
