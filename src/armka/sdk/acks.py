"""`processing` envelopes: on the wire at once, and again after a lost connection."""

import asyncio
from dataclasses import dataclass

import structlog

from armka.messaging.connection import Connection, NotConfirmed, NotConnected
from armka.messaging.messages import Outgoing, Publisher

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class _Waiting:
    message: Outgoing
    sent: asyncio.Future[None]


class Acks:
    """Publishes acks in bursts: one burst is confirmed while the next one gathers."""

    def __init__(self, publisher: Publisher, connection: Connection) -> None:
        self._publisher = publisher
        self._connection = connection
        self._waiting: list[_Waiting] = []
        self._wake = asyncio.Event()

    def send(self, message: Outgoing) -> asyncio.Future[None]:
        """Publish as soon as there is a connection, which the future tells.

        Cancelling the future withdraws the ack.
        """
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(message, sent))
        self._wake.set()
        return sent

    async def run(self) -> None:
        """Publish what waits, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            burst, self._waiting = [it for it in self._waiting if not it.sent.cancelled()], []
            left = await self._publish(burst) if burst else []
            if left:
                self._waiting[:0] = left
                self._wake.set()
                await self._connection.wait_live()
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _publish(self, burst: list[_Waiting]) -> list[_Waiting]:
        """Publish, and return what must be sent again."""
        try:
            published = await self._publisher.publish([it.message for it in burst])
        except (NotConnected, NotConfirmed) as error:
            log.warning("acks are not confirmed yet", count=len(burst), error=str(error))
            return burst
        for problem in (*published.too_large.values(), *published.forbidden.values()):
            log.error("an ack is not sent", error=problem)
        for problem in set(published.unconfirmed.values()):
            log.warning("acks are not confirmed yet", error=problem)
        for index, it in enumerate(burst):
            if index not in published.unconfirmed and not it.sent.done():
                it.sent.set_result(None)
        return [burst[index] for index in published.unconfirmed]
