"""The seam between the two transports: whoever sends and receives asks here for its two ends."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from armka.contract.subjects import Transport
from armka.messaging.connection import Connection
from armka.messaging.jetstream import StreamPublisher, StreamReceiver
from armka.messaging.messages import Publisher, Receiver
from armka.messaging.plain import PlainPublisher, PlainReceiver
from armka.messaging.settings import NatsSettings
from armka.messaging.stream import Durable, Stream

_PLAIN_CAPACITY = 10_000
ENDLESSLY = -1


@dataclass(frozen=True)
class Inbound:
    """What is received, and with whom it is shared: `group` is a queue group, or the name of a
    durable consumer.

    `room`: messages that may be in hand or in a buffer at once. `tries`: as often a stream delivers
    a message at most.
    """

    subject: str
    group: str
    room: int = _PLAIN_CAPACITY
    tries: int = ENDLESSLY


@dataclass(frozen=True)
class Ends:
    """The two ends of an exchange; `stream` is where it goes through one."""

    publisher: Publisher
    receiver: Receiver
    stream: Stream | None = None


@contextlib.asynccontextmanager
async def ends(
    connection: Connection, settings: NatsSettings, inbound: Inbound
) -> AsyncIterator[Ends]:
    """Both ends on the transport in force, for the time of the block."""
    if settings.transport is Transport.CORE:
        receiver = PlainReceiver(connection, inbound.subject, inbound.group, capacity=inbound.room)
        yield Ends(PlainPublisher(connection), receiver)
        return
    stream = _stream(connection, settings, inbound)
    connection.on_connect(stream.meet)
    pulling = StreamReceiver(connection, stream)
    keeping = asyncio.create_task(pulling.keep_held(), name=f"held:{inbound.group}")
    try:
        yield Ends(StreamPublisher(connection, stream), pulling, stream)
    finally:
        keeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeping


def observed(connection: Connection, settings: NatsSettings, inbound: Inbound) -> Stream | None:
    """The stream that such ends use, for whoever only looks; None where they use none."""
    is_used = settings.transport is Transport.JETSTREAM
    return _stream(connection, settings, inbound) if is_used else None


def _stream(connection: Connection, settings: NatsSettings, inbound: Inbound) -> Stream:
    durable = Durable(inbound.group, inbound.subject, inbound.tries, inbound.room)
    return Stream(connection, settings, durable)
