"""The `jetstream` transport: a stream keeps what is published until somebody acknowledged it."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Mapping
from itertools import count

import msgspec
import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from armka.contract.outcome import Outcome
from armka.messaging.connection import (
    CONFIRM_TIMEOUT_SECONDS,
    Connection,
    NotConfirmed,
    NotConnected,
    confirm,
)
from armka.messaging.messages import Incoming, Outgoing, Published, wire_size
from armka.messaging.plain import forbidden
from armka.messaging.stream import STREAM, Stream

log = structlog.get_logger(__name__)

# A pull that a restarted server has forgotten is blind until its own end.
_PULL_SECONDS = 4.0
_PULL_GRACE_SECONDS = 1.0
_LOOK_SECONDS = 0.5
_NO_STREAM_PAUSE_SECONDS = 1.0
_ACK_SECONDS = 5.0
_NANOSECONDS = 10**9
_NO_RESPONDERS = "503"
# Of the subject `$JS.ACK.…`: how many words stand before the delivery count, without a domain and
# with one.
_ACK_WORDS, _PLAIN_ACK_BASE, _LONG_ACK_BASE = 9, 4, 6


class _Refusal(msgspec.Struct):
    err_code: int = 0
    description: str = ""


class _PubAck(msgspec.Struct):
    seq: int = 0
    duplicate: bool = False
    error: _Refusal | None = None


_puback = msgspec.json.Decoder(_PubAck)


class _Window:
    """The PubAcks of one burst, as they come."""

    def __init__(self, size: int) -> None:
        self.waiting = set(range(size))
        self.refused: dict[int, str] = {}
        self.duplicates: set[int] = set()
        self.highest = 0
        self.complete = asyncio.Event()

    def drop(self, indices: Mapping[int, str]) -> None:
        """These will have no answer."""
        self.waiting -= indices.keys()
        self._tell()

    def answered(self, index: int, message: Msg) -> None:
        """Take an answer."""
        if index not in self.waiting:
            return
        self.waiting.discard(index)
        reason = self._refusal(index, message)
        if reason is not None:
            self.refused[index] = reason
        self._tell()

    def _refusal(self, index: int, message: Msg) -> str | None:
        if (message.headers or {}).get("Status") == _NO_RESPONDERS:
            return "no stream takes its subject"
        try:
            ack = _puback.decode(message.data)
        except msgspec.DecodeError:
            return "an answer that is no PubAck"
        if ack.error is not None or ack.seq < 1:
            error = ack.error or _Refusal()
            return f"the stream refuses it: {error.description} ({error.err_code})"
        self.highest = max(self.highest, ack.seq)
        if ack.duplicate:
            self.duplicates.add(index)
        return None

    def _tell(self) -> None:
        if not self.waiting:
            self.complete.set()


class StreamPublisher:
    """Publishes bursts; each message is confirmed by its own PubAck, and fails alone (§3)."""

    def __init__(self, connection: Connection, stream: Stream) -> None:
        self._connection = connection
        self._stream = stream
        self._inbox = ""
        self._numbers = count()
        self._windows: dict[str, _Window] = {}
        connection.on_connect(self._listen)

    async def publish(self, burst: list[Outgoing]) -> Published:
        """See `Publisher.publish`: raises where not one message was confirmed."""
        client = self._connection.client
        self._connection.permission_errors()
        number, window = str(next(self._numbers)), _Window(len(burst))
        self._windows[number] = window
        try:
            too_large, denied = await self._send(client, burst, number, window)
        except (OSError, nats.errors.Error, TimeoutError) as error:
            self._stream.doubt()
            raise NotConfirmed(str(error) or type(error).__name__) from None
        finally:
            del self._windows[number]
        self._stream.has_stored(window.highest)
        late = dict.fromkeys(window.waiting, "no PubAck came in time")
        unconfirmed = window.refused | late
        if unconfirmed:
            self._stream.doubt()
        if len(unconfirmed) == len(burst):
            raise NotConfirmed(next(iter(unconfirmed.values())))
        return Published(too_large, denied, unconfirmed, frozenset(window.duplicates))

    async def kept_seconds(self) -> float:
        """See `Publisher.kept_seconds`."""
        return await self._stream.age_seconds()

    async def _send(
        self, client: Client, burst: list[Outgoing], number: str, window: _Window
    ) -> tuple[dict[int, str], dict[int, str]]:
        end = time.monotonic() + CONFIRM_TIMEOUT_SECONDS
        async with asyncio.timeout(CONFIRM_TIMEOUT_SECONDS):
            await self._stream.ready()
            too_large = await self._write(client, burst, number)
            window.drop(too_large)
            # What the server forbids it says before it answers the PING.
            await confirm(client, max(end - time.monotonic(), 0.0))
        denied = forbidden(burst, self._connection.permission_errors())
        window.drop(denied)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(end - time.monotonic(), 0.0)):
                await window.complete.wait()
        return too_large, denied

    async def _write(self, client: Client, burst: list[Outgoing], number: str) -> dict[int, str]:
        too_large: dict[int, str] = {}
        for index, message in enumerate(burst):
            if wire_size(message) > client.max_payload:
                limit = client.max_payload
                too_large[index] = f"larger than the server's max_payload of {limit} bytes"
                continue
            await client.publish(
                message.subject,
                message.body,
                reply=f"{self._inbox}.{number}.{index}",
                headers=dict(message.headers),
            )
        return too_large

    async def _listen(self, client: Client) -> None:
        self._inbox = client.new_inbox()
        await client.subscribe(f"{self._inbox}.*.*", cb=self._answered)

    async def _answered(self, message: Msg) -> None:
        number, index = message.subject.rsplit(".", 2)[1:]
        window = self._windows.get(number)
        if window is not None:
            window.answered(int(index), message)


class StreamReceiver:
    """Pulls from a durable consumer, no more than it is asked for, and holds what it pulled: while
    a message is unsettled the server hears every third of the ack wait that it is worked on.
    """

    redelivers = True

    def __init__(self, connection: Connection, stream: Stream) -> None:
        self._connection = connection
        self._stream = stream
        self._inbox = ""
        self._subscription: Subscription | None = None
        self._pull = 0  # messages that the open pull may still bring
        self._pull_ends = 0.0
        self._pull_number = 0
        self._held: dict[int, Incoming] = {}  # by sequence in the stream
        self._buffer: deque[Incoming] = deque()
        self._arrived = asyncio.Event()
        self._renewed = asyncio.Event()
        self._since = 0.0
        self._stopped = False
        connection.on_connect(self._listen)

    async def take(self, limit: int) -> list[Incoming]:
        """See `Receiver.take`."""
        while not self._buffer and not self._stopped:
            self._arrived.clear()
            pause = await self._pull_up_to(limit)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._arrived.wait(), pause)
        return [self._buffer.popleft() for _ in range(min(limit, len(self._buffer)))]

    def has_waiting(self) -> bool:
        """See `Receiver.has_waiting`."""
        return bool(self._buffer)

    async def settle(self, batch: list[tuple[Incoming, Outcome | None]]) -> None:
        """See `Receiver.settle`. An acknowledgement that is lost costs a second delivery, which
        changes nothing.
        """
        replies = [incoming.reply for incoming, _ in batch if incoming.reply]
        for incoming, _ in batch:
            self._held.pop(incoming.sequence, None)
        if not replies:
            return
        try:
            client = self._connection.client
            for reply in replies[:-1]:
                await client.publish(reply, b"+ACK")
            # The consumer takes them in order: its answer to the last one speaks for all.
            await client.request(replies[-1], b"+ACK", timeout=_ACK_SECONDS)
        except (NotConnected, OSError, nats.errors.Error, TimeoutError) as error:
            log.warning("acknowledgements are not confirmed", count=len(replies), error=repr(error))

    async def put_back(self, incoming: Incoming, seconds: float) -> None:
        """See `Receiver.put_back`."""
        self._held.pop(incoming.sequence, None)
        body = b"-NAK " + msgspec.json.encode({"delay": int(seconds * _NANOSECONDS)})
        with contextlib.suppress(NotConnected, OSError, nats.errors.Error):
            if incoming.reply:
                await self._connection.client.publish(incoming.reply, body)

    def heard_seconds(self) -> float:
        """See `Receiver.heard_seconds`."""
        is_listening = self._since and self._connection.is_live and not self._stopped
        return time.monotonic() - self._since if is_listening else 0.0

    def lag_seconds(self) -> float:
        """See `Receiver.lag_seconds`."""
        oldest = next(iter(self._held.values()), None)
        return time.monotonic() - oldest.arrived if oldest else 0.0

    async def stop(self) -> None:
        """See `Receiver.stop`. The server drops an open pull when nobody hears it."""
        self._stopped = True
        if self._subscription is not None:
            with contextlib.suppress(OSError, nats.errors.Error, TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._subscription.drain()  # type: ignore[no-untyped-call]
        self._arrived.set()

    async def keep_held(self) -> None:
        """Tell the server of what is worked on, until cancelled."""
        while True:
            self._renewed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._renewed.wait(), self._stream.ack_wait_seconds / 3)
            with contextlib.suppress(NotConnected, OSError, nats.errors.Error):
                for incoming in list(self._held.values()):
                    if incoming.reply:
                        await self._connection.client.publish(incoming.reply, b"+WPI")

    async def _pull_up_to(self, limit: int) -> float:
        """Have a pull open; returns the seconds until somebody should look again."""
        now = time.monotonic()
        if self._pull > 0 and now < self._pull_ends:
            return min(_LOOK_SECONDS, self._pull_ends - now)
        if self._pull > 0:
            self._stream.doubt()  # nobody said that the pull had ended
        self._pull = 0
        try:
            await self._stream.ready()
            await self._open_pull(limit)
        except (NotConnected, OSError, nats.errors.Error) as error:
            if self._connection.is_live:
                log.warning("nothing can be pulled, it is tried again", error=str(error))
            return _NO_STREAM_PAUSE_SECONDS
        return _LOOK_SECONDS

    async def _open_pull(self, limit: int) -> None:
        if self._stopped or self._subscription is None:
            return
        self._pull, self._pull_number = limit, self._pull_number + 1
        self._pull_ends = time.monotonic() + _PULL_SECONDS + _PULL_GRACE_SECONDS
        asked = {"batch": limit, "expires": int(_PULL_SECONDS * _NANOSECONDS)}
        await self._connection.client.publish(
            f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{self._stream.durable.name}",
            msgspec.json.encode(asked),
            reply=f"{self._inbox}.{self._pull_number}",
        )

    async def _listen(self, client: Client) -> None:
        if self._stopped:
            return
        self._pull = 0
        self._inbox = client.new_inbox()
        self._subscription = await client.subscribe(f"{self._inbox}.*", cb=self._receive)
        durable = self._stream.durable
        if durable.max_deliver > 0:
            advisories = f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{STREAM}.{durable.name}"
            await client.subscribe(advisories, queue=durable.name, cb=self._given_up)
        await confirm(client)
        self._since = time.monotonic()
        self._renewed.set()
        log.info("subscribed", subject=durable.subject, durable=durable.name)

    async def _receive(self, message: Msg) -> None:
        if not message.reply.startswith("$JS.ACK."):
            self._pull_ended(message)
            return
        self._pull = max(0, self._pull - 1)
        sequence, delivery = _numbers(message.reply)
        held = self._held.get(sequence)
        if held is not None:  # it came again while it is worked on: its new address counts
            held.reply, held.delivery = message.reply, delivery
            held.is_last = self._is_last(delivery)
            return
        self._hold(
            Incoming(
                message.subject, message.data, message.headers or {}, message.reply,
                time.monotonic(), delivery, self._is_last(delivery), sequence,
            )
        )  # fmt: skip

    def _hold(self, incoming: Incoming) -> None:
        self._held[incoming.sequence] = incoming
        self._buffer.append(incoming)
        self._arrived.set()

    def _is_last(self, delivery: int) -> bool:
        return 0 < self._stream.max_deliver <= delivery

    def _pull_ended(self, message: Msg) -> None:
        status = (message.headers or {}).get("Status")
        if message.subject.rpartition(".")[2] != str(self._pull_number):
            return
        self._pull = 0
        if status not in (None, "404", "408"):
            self._stream.doubt()
        self._arrived.set()

    async def _given_up(self, message: Msg) -> None:
        """The server will not deliver a message again, and nobody has acknowledged it (I6)."""
        try:
            sequence = int(msgspec.json.decode(message.data)["stream_seq"])
            if sequence in self._held:
                return
            found = await self._stream.message(sequence)
        except (KeyError, ValueError, TypeError, msgspec.DecodeError, NotConnected) as error:
            log.warning("a message was given up by its stream and is not found", error=repr(error))
            return
        log.warning("a message was given up by its stream, it is tried once more", seq=sequence)
        self._hold(
            Incoming(
                found.subject, found.body, found.headers, "", time.monotonic(),
                self._stream.max_deliver, True, sequence,
            )
        )  # fmt: skip


def _numbers(reply: str) -> tuple[int, int]:
    """Sequence in the stream and delivery count, as the acknowledgement's subject tells them."""
    words = reply.split(".")
    base = _PLAIN_ACK_BASE if len(words) == _ACK_WORDS else _LONG_ACK_BASE
    return int(words[base + 1]), int(words[base])
