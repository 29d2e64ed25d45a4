"""What goes out and what comes in, whatever the transport."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from armka.contract.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to publish."""

    subject: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(slots=True)
class Incoming:
    """A received message that waits to be settled; `arrived` is this process's monotonic clock."""

    subject: str
    body: bytes
    headers: Mapping[str, str]
    reply: str
    arrived: float


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a burst: which messages (by index) were not published, and why.

    `too_large` never will be; `forbidden` waits for the server's permission. All others are
    confirmed.
    """

    too_large: Mapping[int, str] = field(default_factory=dict)
    forbidden: Mapping[int, str] = field(default_factory=dict)


class Publisher(Protocol):
    """The way out."""

    async def publish(self, burst: list[Outgoing]) -> Published:
        """Publish a burst and wait for its confirmation.

        Raises NotConnected or NotConfirmed for the whole of it.
        """
        ...


class Receiver(Protocol):
    """The way in."""

    async def take(self, limit: int) -> list[Incoming]:
        """Wait for at least one message, then return what is there, at most `limit`.

        Nothing comes once it is stopped and empty.
        """
        ...

    def has_waiting(self) -> bool:
        """Whether `take` would return messages at once."""
        ...

    async def settle(self, batch: list[tuple[Incoming, Outcome]]) -> None:
        """Tell the senders what became of their messages, after the commit."""
        ...

    def heard_seconds(self) -> float:
        """For how long everything sent to it has been heard; 0 while it is not subscribed."""
        ...

    def lag_seconds(self) -> float:
        """The age of the oldest message that is not settled yet; 0 when there is none."""
        ...

    async def stop(self) -> None:
        """Take no more messages; those received can still be taken and settled."""
        ...
