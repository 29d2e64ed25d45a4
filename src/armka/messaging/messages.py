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


@dataclass(slots=True, eq=False)
class Incoming:
    """A received message that waits to be settled; `arrived` is this process's monotonic clock.

    `is_last`: where deliveries are counted, nobody will deliver it again (I6).
    """

    subject: str
    body: bytes
    headers: Mapping[str, str]
    reply: str
    arrived: float
    delivery: int = 1
    is_last: bool = False
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """What became of a burst: which messages (by index) were not published, and why.

    `too_large` never will be; `forbidden` waits for the server's permission, `unconfirmed` for
    whatever its reason says. All others are confirmed; of these a stream had the `duplicates`
    already.
    """

    too_large: Mapping[int, str] = field(default_factory=dict)
    forbidden: Mapping[int, str] = field(default_factory=dict)
    unconfirmed: Mapping[int, str] = field(default_factory=dict)
    duplicates: frozenset[int] = frozenset()

    @property
    def held_back(self) -> dict[int, str]:
        """What may go out later, unchanged."""
        return {**self.forbidden, **self.unconfirmed}


_HEADER_OVERHEAD_BYTES = 64


def wire_size(message: Outgoing) -> int:
    """What counts against the server's max_payload: body and headers, generously."""
    headers = sum(len(name) + len(value.encode()) + 4 for name, value in message.headers.items())
    return len(message.body) + headers + _HEADER_OVERHEAD_BYTES


class Publisher(Protocol):
    """The way out."""

    async def publish(self, burst: list[Outgoing]) -> Published:
        """Publish a burst and wait for its confirmation.

        Raises NotConnected or NotConfirmed for the whole of it.
        """
        ...

    async def kept_seconds(self) -> float | None:
        """For how long whatever is published has been kept until a service takes it: the age of the
        stream (N4). None: nothing is kept. Raises NotConnected.
        """
        ...


class Receiver(Protocol):
    """The way in.

    `redelivers`: what is taken and not settled is delivered again, to somebody.
    """

    @property
    def redelivers(self) -> bool: ...

    async def take(self, limit: int) -> list[Incoming]:
        """Wait for at least one message, then return what is there, at most `limit`.

        Nothing comes once it is stopped and empty.
        """
        ...

    def has_waiting(self) -> bool:
        """Whether `take` would return messages at once."""
        ...

    async def settle(self, batch: list[tuple[Incoming, Outcome | None]]) -> None:
        """Be done with messages, after the commit; tell the senders who ask for it the outcome,
        where there is one.
        """
        ...

    async def put_back(self, incoming: Incoming, seconds: float) -> None:
        """Give a message away unsettled: where it is redelivered, not before `seconds`."""
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
