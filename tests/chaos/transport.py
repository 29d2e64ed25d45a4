"""A transport that does what networks do. It stands for NATS alone: the database is real."""

import asyncio
from collections import deque
from enum import Enum, auto

from armka.contract.outcome import Outcome
from armka.messaging.connection import NotConfirmed
from armka.messaging.messages import Incoming, Outgoing, Published

LONG_SECONDS = 1e6


class Mood(Enum):
    """What becomes of a burst."""

    CONFIRMED = auto()
    UNCONFIRMED = auto()  # it may have arrived, nobody says so
    FORBIDDEN = auto()
    TOO_LARGE = auto()
    HELD = auto()  # it is on the wire, and nothing more happens until `released`


class Wire:
    """Publisher and receiver of one process."""

    def __init__(self) -> None:
        self.mood = Mood.CONFIRMED
        self.is_heard = True
        self.holds_settling = False
        self.sent: list[Outgoing] = []
        self.settled: list[tuple[Incoming, Outcome | None]] = []
        self.held = asyncio.Event()
        self.released = asyncio.Event()
        self._waiting: deque[Incoming] = deque()

    redelivers = False

    async def kept_seconds(self) -> float | None:
        """See `Publisher.kept_seconds`."""
        return None

    async def publish(self, burst: list[Outgoing]) -> Published:
        """See `Publisher.publish`."""
        everything = range(len(burst))
        if self.mood is Mood.FORBIDDEN:
            return Published(forbidden=dict.fromkeys(everything, "not allowed"))
        if self.mood is Mood.TOO_LARGE:
            return Published(too_large=dict.fromkeys(everything, "too large"))
        self.sent += burst
        if self.mood is Mood.UNCONFIRMED:
            raise NotConfirmed("nobody answered")
        if self.mood is Mood.HELD:
            self.held.set()
            await self.released.wait()
        return Published()

    def arrive(self, body: bytes, msg_id: str | None) -> None:
        """An envelope is there to be taken."""
        headers = {} if msg_id is None else {"Nats-Msg-Id": msg_id}
        self._waiting.append(Incoming("files.tabular_parsed", body, headers, "_INBOX.x", 0.0))

    async def take(self, limit: int) -> list[Incoming]:
        """See `Receiver.take`; here nothing is waited for."""
        return [self._waiting.popleft() for _ in range(min(limit, len(self._waiting)))]

    def has_waiting(self) -> bool:
        """See `Receiver.has_waiting`."""
        return bool(self._waiting)

    async def put_back(self, incoming: Incoming, seconds: float) -> None:
        """See `Receiver.put_back`."""

    async def settle(self, batch: list[tuple[Incoming, Outcome | None]]) -> None:
        """See `Receiver.settle`."""
        if self.holds_settling:
            self.held.set()
            await self.released.wait()
        self.settled += batch

    def heard_seconds(self) -> float:
        """See `Receiver.heard_seconds`."""
        return LONG_SECONDS if self.is_heard else 0.0

    def lag_seconds(self) -> float:
        """See `Receiver.lag_seconds`."""
        return 0.0

    async def stop(self) -> None:
        """See `Receiver.stop`."""
