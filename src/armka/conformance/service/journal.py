"""What happened, in the order in which the kit saw it: judgements rest on the order, not on clocks.

Everything that a service says to NATS or to S3 passes through this one process, so that two events
have an order even where the machine is slow. The times are told to people.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Event:
    """One thing that was sent, heard or seen; `n` grows."""

    n: int
    at: datetime
    text: str

    def __str__(self) -> str:
        return f"{self.at:%H:%M:%S.%f} {self.text}"


class Journal:
    """The events of a session. Whoever waits for something looks again after each."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._next = asyncio.Event()

    def add(self, text: str) -> int:
        """Note an event; its number."""
        number = len(self.events)
        self.events.append(Event(number, datetime.now(UTC), text))
        passed, self._next = self._next, asyncio.Event()
        passed.set()
        return number

    async def until(self, so: Callable[[], object], seconds: float) -> bool:
        """Wait until something is so; False where it is not within so many seconds."""
        end = time.monotonic() + seconds
        while True:
            following = self._next
            if so():
                return True
            left = end - time.monotonic()
            if left <= 0:
                return False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await following.wait()

    def since(self, number: int) -> list[str]:
        """What happened from this event on, each with its time."""
        return [str(event) for event in self.events[number:]]
