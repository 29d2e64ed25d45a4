"""What a check sees and does: requests out, envelopes and S3 accesses in, every wait bounded."""

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from armka.conformance.findings import Contradicted, NotSeen
from armka.conformance.service import asked as asking
from armka.conformance.service.asked import Asked
from armka.conformance.service.documents import Document, own
from armka.conformance.service.journal import Journal
from armka.conformance.service.process import Processes
from armka.conformance.service.proxy import Access, Kind, Proxy
from armka.conformance.service.stream import Consumer
from armka.conformance.service.target import Target
from armka.conformance.service.wire import Heard, Wire
from armka.contract.vocabulary import Pipeline
from armka.objects.store import ObjectMissing, ObjectStore

_RESULT_BYTES = 1024**3
_PROBE_SECONDS = 0.5


class Surface:
    """The subjects and the S3 of one service, for one check. `jobs`: those that the session has
    asked for; `note`: what the report shall tell besides the verdict.
    """

    def __init__(
        self,
        target: Target,
        journal: Journal,
        wire: Wire,
        proxy: Proxy,
        processes: Processes,
        jobs: set[str],
    ) -> None:
        self.target = target
        self.journal = journal
        self.wire = wire
        self.proxy = proxy
        self.processes = processes
        self._jobs = jobs
        self.objects = ObjectStore(target.objects)
        self.note = ""
        self.begun = len(journal.events)

    # Asking

    @property
    def document(self) -> Document:
        """A source file: the first of the user's, else the kit's own."""
        return self.target.documents[0] if self.target.documents else own(self.target.pipeline)

    async def prepare(
        self, document: Document | None = None, *, stored: bool = True, **over: Any
    ) -> Asked:
        """Put a source into S3 and make the request for it, with these fields over it."""
        document = document or self.document
        made = asking.new(document, self.objects.bucket, self.target.pipeline, **over)
        self._jobs.add(made.job_id)
        if stored:
            await self.objects.put(made.source_key, document.content)
        return made

    async def send(self, *asked: Asked, headers: bool = True) -> None:
        """Send requests, in one burst, each with its id."""
        await self.send_raw(*((one.body, one.request_id if headers else None) for one in asked))

    async def send_raw(self, *messages: tuple[bytes, str | None]) -> None:
        """Send bodies as they are, in one burst."""
        for body, msg_id in messages:
            shown = body[:300].decode(errors="replace")
            self.journal.add(f"sent {msg_id or 'without an id'}: {shown}")
        await self.wire.send(self.wire.subjects.request(self.target.pipeline), messages)

    async def ask(self, document: Document | None = None, **over: Any) -> Asked:
        """Prepare and send."""
        asked = await self.prepare(document, **over)
        await self.send(asked)
        return asked

    # Hearing

    def of(self, asked: Asked) -> list[Heard]:
        """Everything heard of a job, in order."""
        return [one for one in self.wire.heard if one.job_id == asked.job_id]

    def acks(self, asked: Asked) -> list[Heard]:
        """Its `processing` envelopes."""
        return [one for one in self.of(asked) if one.status == "processing"]

    def ends(self, asked: Asked) -> list[Heard]:
        """Its other envelopes."""
        return [one for one in self.of(asked) if one.status != "processing"]

    def reads(self, asked: Asked) -> list[Access]:
        """The reads of its source."""
        return self.proxy.of(asked.source_key, Kind.READ)

    def writes(self, asked: Asked) -> list[Access]:
        """The writes of its result file."""
        return self.proxy.of(asked.result_key, Kind.WRITE)

    async def acked(self, *asked: Asked, number: int = 1) -> None:
        """Wait for the first (second, …) `processing` of jobs; of the first, nothing may precede
        it.
        """
        for one in asked:
            await self.comes(
                f"{one}: `processing` as {one.ack_id}"
                + (f", for the {number}th time" if number > 1 else ""),
                lambda one=one: (
                    len(self.acks(one)) >= number  # type: ignore[misc]
                    or (number == 1 and self.ends(one))
                ),
                lambda one=one: self.of(one),  # type: ignore[misc]
            )
            self.expect(f"{one}: first of all `processing`", "processing", self.of(one)[0].status)
            self.expect(f"{one}: its header", one.ack_id, self.acks(one)[-1].msg_id)

    async def ended(self, asked: Asked, *, acked: bool = True) -> Heard:
        """Wait for the result of a job, after its `processing` where it must have one."""
        await self.comes(
            f"{asked}: a result as {asked.result_id}",
            lambda: self.ends(asked),
            lambda: self.of(asked),
        )
        end = self.ends(asked)[0]
        self.expect(f"{asked}: the header of its result", asked.result_id, end.msg_id)
        first = [one.status for one in self.of(asked) if one.n < end.n]
        if acked:
            self.expect(f"{asked}: `processing` before its result", True, "processing" in first)
        else:
            self.expect(f"{asked}: no `processing` before its result", [], first)
        return end

    async def failed(self, asked: Asked, *codes: str) -> Heard:
        """Wait for a result that is an error with one of these codes, and words for a person."""
        end = await self.ended(asked)
        self.expect(f"{asked}: its status", "error", end.status)
        wanted = " or ".join(codes)
        self.judge(f"{asked}: error.code is {wanted}", end.code in codes, end.code)
        message = (end.fields.get("error") or {}).get("message")
        words = isinstance(message, str) and bool(message.strip())
        self.judge(f"{asked}: error.message tells a person what is wrong", words, message)
        return end

    async def recognised(self, asked: Asked) -> Heard:
        """Wait for a result that is `done` or `needs_check`."""
        end = await self.ended(asked)
        expected = f"{asked}: done or needs_check ({asked.document.name})"
        self.judge(expected, end.status in {"done", "needs_check"}, end)
        return end

    async def takes_part(self, alive: Callable[[], None] = lambda: None) -> None:
        """Repeat a valid request until a service that has just been started answers it; `alive`
        is called before each, and may raise.
        """
        asked = await self.prepare()
        end = time.monotonic() + self.target.start_seconds
        while not self.of(asked):
            alive()
            if time.monotonic() > end:
                raise NotSeen(f"an answer within {self.target.start_seconds:g} s", "nothing")
            await self.send(asked)
            await self.journal.until(lambda: self.of(asked), _PROBE_SECONDS)
        # What it took on meanwhile shall not meet the next check.
        await self.journal.until(lambda: self.ends(asked), self.target.start_seconds)

    async def served(self) -> None:
        """See that the service goes on: a valid request is acknowledged and answered."""
        asked = await self.ask()
        await self.acked(asked)
        await self.ended(asked)

    async def result_file(self, asked: Asked) -> bytes:
        """The result file of a job, as it lies in S3."""
        try:
            return await self.objects.get(asked.result_key, limit=_RESULT_BYTES)
        except ObjectMissing:
            raise Contradicted(f"{asked.result_key} in S3", "no such object") from None

    # Judging

    def judge(self, expected: str, so: object, seen: object) -> None:
        """It is so, or the service contradicts the contract."""
        if not so:
            raise Contradicted(expected, str(seen))

    def expect(self, what: str, expected: object, seen: object) -> None:
        """Both are equal, or the service contradicts the contract."""
        if expected != seen:
            raise Contradicted(f"{what}: {expected}", str(seen))

    async def comes(
        self,
        expected: str,
        so: Callable[[], object],
        seen: Callable[[], Sequence[object]] = tuple,
        *,
        seconds: float | None = None,
    ) -> None:
        """Wait until it is so; NotSeen if it is not in time."""
        patience = self.target.patience_seconds if seconds is None else seconds
        if not await self.journal.until(so, patience):
            came = "; ".join(map(str, seen())) or "nothing"
            raise NotSeen(f"{expected}, within {patience:g} s", came)

    async def stays(
        self,
        expected: str,
        so: Callable[[], object],
        seen: Callable[[], Sequence[object]],
        *,
        seconds: float | None = None,
    ) -> None:
        """It is so for the whole of the quiet time, or the service contradicts the contract."""
        quiet = self.target.quiet_seconds if seconds is None else seconds
        if await self.journal.until(lambda: not so(), quiet):
            raise Contradicted(expected, "; ".join(map(str, seen())))

    async def consumers(self) -> list[Consumer]:
        """Who reads the requests from the stream."""
        subject = self.wire.subjects.request(self.target.pipeline)
        return await self.wire.stream.consumers(subject)

    async def quiet(self) -> None:
        """Let the quiet time pass."""
        await self.journal.until(lambda: False, self.target.quiet_seconds)

    def strangers(self) -> list[Heard]:
        """What was heard since the check began of no job that the kit asked for validly."""
        since = [one for one in self.wire.heard if one.n >= self.begun]
        return [one for one in since if one.job_id not in self._jobs]

    def spoiled(self, asked: Asked, **over: Any) -> Asked:
        """The same request, with these fields over it."""
        return dataclasses.replace(asked, fields=asked.fields | over)


def valid_fields(pipeline: Pipeline, bucket: str) -> dict[str, Any]:
    """A valid request's fields, to be broken."""
    fields: dict[str, Any] = json.loads(asking.new(own(pipeline), bucket, pipeline).body)
    return fields
