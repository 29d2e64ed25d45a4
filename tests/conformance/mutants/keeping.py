"""Faults of the transport that keeps messages."""

from typing import Any

from armka.core.inbox import receiver
from armka.core.inbox.write import SQL
from armka.core.outbox.publisher import Outbox
from armka.messaging import stream
from armka.messaging.jetstream import StreamReceiver, _Window
from armka.messaging.stream import Stream
from tests.conformance.mutants.mutant import edit, mutant


@mutant("stream-and-consumer-exist", "a-poisonous-message-ends-its-job")
def delivers_for_ever() -> None:
    """The consumer knows no last delivery."""
    receiver.DELIVERIES = -1


@mutant("a-poisonous-message-ends-its-job")
def ends_a_poisoned_job_without_a_fact() -> None:
    """POISON_MESSAGE leaves no quality_failure_fact."""
    edit(SQL, "write_facts", "any ($1::uuid[])", "any ($1::uuid[]) and $2 <> 'NO_ACK'")


@mutant("a-passing-fault-is-no-poison")
def takes_every_fault_for_poison() -> None:
    """The first failure ends the job."""
    StreamReceiver._is_last = lambda self, delivery: True


@mutant("a-duplicate-confirms-too")
def takes_a_duplicate_for_a_refusal() -> None:
    """A PubAck with `duplicate` confirms nothing."""
    original = _Window._refusal

    def refusal(self: _Window, index: int, message: Any) -> str | None:
        return original(self, index, message) or ("known" if index in self.duplicates else None)

    _Window._refusal = refusal


@mutant("a-lost-stream-is-made-again")
def trusts_the_stream() -> None:
    """What was published once is never looked after."""

    async def look_after(self: Outbox, kept: float | None) -> bool:
        return False

    Outbox._look_after_published = look_after


@mutant("a-lost-consumer-is-made-again")
def looks_once() -> None:
    """Stream and consumer are believed to be there for ever."""
    Stream.doubt = lambda self: None


@mutant("another-configuration-is-left-as-it-is")
def sets_it_right() -> None:
    """Changes a stream that somebody set otherwise."""
    original = Stream._look

    async def look(self: Stream, client: Any) -> None:
        await original(self, client)
        await stream._ask(
            client, f"STREAM.UPDATE.{stream.STREAM}", self._stream_config(), stream._Answer
        )

    Stream._look = look
