"""The surface where a stream lies between: nobody answers an envelope, so its outcome is read off
its acknowledgement and the tables.
"""

import base64
import json
from typing import Any

from armka.conformance.job import Envelope, Job
from armka.conformance.rows import Tables
from armka.conformance.stream_wire import StreamWire
from armka.conformance.surface import Surface
from armka.conformance.target import Target
from armka.contract.outcome import Outcome, OutcomeKind
from armka.contract.subjects import CORE_RESULTS
from armka.messaging.stream import STREAM

_KINDS = {"late": OutcomeKind.LATE, "unknown_job": OutcomeKind.UNKNOWN_JOB}
# Neither leaves a trace of its own: the rows tell them apart, which the checks look at anyway.
_TRACELESS = frozenset({OutcomeKind.APPLIED.value, OutcomeKind.DUPLICATE.value})


class StreamSurface(Surface):
    """Also sees the stream and the core's consumer."""

    def __init__(self, target: Target, tables: Tables, wire: StreamWire) -> None:
        super().__init__(target, tables, wire)
        self.stream_wire = wire
        self._asked: dict[str, tuple[int, int, str | None]] = {}

    async def ask(self, *envelopes: tuple[Envelope | bytes, str | None]) -> list[str]:
        """Store envelopes; see `Surface.ask`."""
        last = await self.tables.value("last_rejected")
        numbers = await super().ask(*envelopes)
        for number, (envelope, msg_id) in zip(numbers, envelopes, strict=True):
            body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
            self._asked[number] = (last, len(body), msg_id)
        return numbers

    def answer_count(self, reply: str) -> int:
        """How often the core acknowledged the envelope."""
        return len(self.stream_wire.settled_on(reply))

    async def answer(self, reply: str, within: float | None = None) -> Outcome:
        """Wait for the acknowledgement; the tables say whether the envelope was kept aside."""
        await self.settled_on(reply, within=within)
        kept = await self.tables.one("rejected_since", *self._asked[reply])
        if kept is None:
            return Outcome(OutcomeKind.APPLIED)
        kind = _KINDS.get(kept["reason"], OutcomeKind.REJECTED)
        return Outcome(kind, f"{kept['reason']}: {kept['detail']}")

    def expect_outcome(self, expected: str, answer: Outcome) -> None:
        """See `Surface.expect_outcome`."""
        if not {expected, answer.outcome.value} <= _TRACELESS:
            super().expect_outcome(expected, answer)

    async def settled_on(self, reply: str, *, within: float | None = None) -> int:
        """Wait for the acknowledgement, and tell on which delivery it came."""

        async def look() -> list[int]:
            return self.stream_wire.settled_on(reply)

        return (await self.comes("an acknowledgement (I2)", look, within=within))[0]

    async def stream(self) -> dict[str, Any]:
        """The stream, as the server tells."""
        return await self.stream_wire.api(f"STREAM.INFO.{STREAM}")

    async def consumer(self) -> dict[str, Any]:
        """The core's consumer, as the server tells."""
        return await self.stream_wire.api(f"CONSUMER.INFO.{STREAM}.{CORE_RESULTS}")

    async def delete_stream(self) -> None:
        """Lose the stream, with its consumers and all that it kept."""
        await self.stream_wire.api(f"STREAM.DELETE.{STREAM}")
        self.trail.add(f"the stream {STREAM} is deleted")

    async def delete_consumer(self) -> None:
        """Lose the core's consumer."""
        await self.stream_wire.api(f"CONSUMER.DELETE.{STREAM}.{CORE_RESULTS}")
        self.trail.add(f"the consumer {CORE_RESULTS} is deleted")

    async def kept_requests(self, job: Job) -> int:
        """How many requests for a job the stream keeps."""
        subject = self.wire.subjects.tabular_request
        info = await self.stream_wire.api(f"STREAM.INFO.{STREAM}", {"subjects_filter": subject})
        first, last = info["state"]["first_seq"], info["state"]["last_seq"]
        found = 0
        for sequence in range(max(first, 1), last + 1):
            message = await self.stream_wire.api(f"STREAM.MSG.GET.{STREAM}", {"seq": sequence})
            stored = message.get("message", {})
            found += stored.get("subject") == subject and self._is_about(stored, job)
        return found

    @staticmethod
    def _is_about(stored: dict[str, Any], job: Job) -> bool:
        return str(job.id).encode() in base64.b64decode(stored.get("data", ""))
