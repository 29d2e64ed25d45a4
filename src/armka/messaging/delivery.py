"""Envelopes that are sent until somebody answers for them (I8)."""

import asyncio
import random
import time

import msgspec
import nats
import structlog
from nats.aio.client import Client

from armka.contract import outcome as outcomes
from armka.contract.outcome import Outcome
from armka.messaging.connection import Connection, NotConnected
from armka.messaging.messages import Outgoing, wire_size

log = structlog.get_logger(__name__)

LAST_CHANCE_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 120.0
_JITTER = 0.25


class TooLargeToSend(Exception):
    """The message is above the server's max_payload: no repeat will change that."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a message of {size} bytes, the server takes {limit}")
        self.size = size
        self.limit = limit


class Captured(msgspec.Struct, frozen=True):
    """A stream took the message (its PubAck): the core will read it there."""

    stream: str
    seq: int


class _PubAck(msgspec.Struct):
    stream: str = ""
    seq: int = 0
    error: msgspec.Raw | None = None


Answer = Outcome | Captured

_puback = msgspec.json.Decoder(_PubAck)


class Deliverer:
    """Sends messages with a reply subject, and the same ones again until they are answered.

    The pause between two sendings starts at `pause_seconds` and doubles. A new connection starts it
    anew and sends at once: what the old one carried may be lost.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        pause_seconds: float,
        last_chance_seconds: float = LAST_CHANCE_SECONDS,
    ) -> None:
        self._connection = connection
        self._last_chance_seconds = last_chance_seconds
        self._pause_seconds = pause_seconds
        self._renewed = asyncio.Event()
        connection.on_connect(self._renew)

    async def deliver(self, message: Outgoing, *, until: float) -> Answer | None:
        """Send until somebody answers, or until Unix time `until`: then None.

        The first sending is owed even after `until`, and has `last_chance_seconds`. Raises
        TooLargeToSend.
        """
        try:
            async with asyncio.timeout(max(until - time.time(), self._last_chance_seconds)):
                return await self._repeat(message, until)
        except TimeoutError:
            return None

    async def _repeat(self, message: Outgoing, until: float) -> Answer | None:
        pause = self._pause_seconds
        while True:
            await self._connection.wait_live()
            renewed = self._renewed
            answer = await self._send(message, pause * random.uniform(1, 1 + _JITTER), renewed)
            if answer is not None or time.time() >= until:
                return answer
            longer = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            pause = self._pause_seconds if renewed.is_set() else longer

    async def _send(
        self, message: Outgoing, seconds: float, renewed: asyncio.Event
    ) -> Answer | None:
        asking = asyncio.create_task(self._ask(message, seconds))
        renewal = asyncio.create_task(renewed.wait())
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wait({asking, renewal}, return_when=asyncio.FIRST_COMPLETED)
                answer = asking.result() if asking.done() else None
                if answer is None:
                    await renewal  # for the rest of the pause
                return answer
        except TimeoutError:
            return None
        finally:
            asking.cancel()
            renewal.cancel()

    async def _ask(self, message: Outgoing, seconds: float) -> Answer | None:
        try:
            client = self._connection.client
            _check_size(message, client)
            reply = await client.request(
                message.subject, message.body, timeout=seconds, headers=dict(message.headers)
            )
        except (NotConnected, OSError, nats.errors.Error, TimeoutError) as error:
            log.debug("a message has no answer yet", subject=message.subject, error=repr(error))
            return None
        return _read_answer(reply.data)

    async def _renew(self, _: Client) -> None:
        self._renewed.set()
        self._renewed = asyncio.Event()


def _check_size(message: Outgoing, client: Client) -> None:
    size = wire_size(message)
    if size > client.max_payload:
        raise TooLargeToSend(size, client.max_payload)


def _read_answer(body: bytes) -> Answer | None:
    outcome = outcomes.decode(body)
    if outcome is not None:
        return outcome
    try:
        puback = _puback.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        log.warning("an answer that is neither an outcome nor a PubAck", size=len(body))
        return None
    if puback.error is not None or puback.seq < 1:
        log.warning("a stream did not take a message", stream=puback.stream)
        return None
    return Captured(puback.stream, puback.seq)
