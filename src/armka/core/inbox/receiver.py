"""One cycle of the inbox: take what is there, write it in one transaction, tell the senders."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from armka.contract import codec, message_ids
from armka.contract.codec import InvalidMessage
from armka.contract.envelope import Envelope
from armka.contract.outcome import Outcome, OutcomeKind
from armka.contract.subjects import CORE_RESULTS, Subjects
from armka.core.database.pool import (
    Connection,
    Database,
    is_bad_value,
    is_unavailable,
    lost_race,
    parse_id,
)
from armka.core.inbox import write
from armka.core.inbox.decide import Acknowledge, Apply, Decision, Ignore, Reject, decide, header
from armka.core.inbox.lanes import LANES, Lanes
from armka.core.inbox.write import Rejected
from armka.core.jobs.states import JobStatus
from armka.messaging.messages import Incoming, Receiver
from armka.messaging.transport import Inbound

log = structlog.get_logger(__name__)

BATCH_SIZE = 2000
# As often a stream delivers an envelope at most (I6).
DELIVERIES = 5
_LANES_FROM = 500
_RETRY_SECONDS = 0.5
_TRIES_ALONE = 5
_ASIDE_AT_ONCE = 4
# Before the second, third, … delivery of a message that could not be written.
_PUT_BACK_SECONDS = (0.5, 1.0, 2.0, 4.0)


def inbound(subjects: Subjects) -> Inbound:
    """What the core receives, shared by its replicas."""
    return Inbound(subjects.result, CORE_RESULTS, tries=DELIVERIES)


@dataclass(frozen=True, slots=True)
class _Read:
    """A message that is an envelope by its schema."""

    incoming: Incoming
    envelope: Envelope
    job: UUID
    msg_id: str | None


@dataclass(frozen=True)
class _Part:
    """What is written in one transaction."""

    read: Sequence[_Read]
    rejected: Sequence[Rejected]

    @property
    def incoming(self) -> list[Incoming]:
        return [
            *(item.incoming for item in self.read),
            *(item.incoming for item in self.rejected),
        ]


class Inbox:
    """Applies envelopes to jobs. What was taken stays in this process until it is settled."""

    def __init__(self, database: Database, receiver: Receiver, bucket: str) -> None:
        self._database = database
        self._receiver = receiver
        self._bucket = bucket
        self._aside: set[asyncio.Task[None]] = set()
        self._lanes: Lanes[_Part] = Lanes(self._bring_to_end)
        self._aside_limit = asyncio.Semaphore(_ASIDE_AT_ONCE)

    async def run_once(self) -> float:
        """Wait for envelopes, then bring one batch to its end, however long the database takes to
        return.
        """
        if self._receiver.redelivers:
            # What would only be held is better left to whoever can write it.
            await self._database.run(write.reach)
        await self._take_and_settle()
        return 0.0

    async def _take_and_settle(self) -> None:
        batch = await self._receiver.take(BATCH_SIZE)
        read, rejected = _read_all(batch)
        if len(read) < _LANES_FROM:
            await self._lanes.emptied()
            await self._bring_to_end(_Part(read, rejected))
        else:
            log.info("a large batch is written in parts", envelopes=len(read), parts=LANES)
            await self._lanes.begin(_Part(_of_lane(read, lane), ()) for lane in range(LANES))
            await self._bring_to_end(_Part([], rejected))
        if not self._receiver.has_waiting():
            await self._lanes.emptied()

    async def drain(self) -> None:
        """After the receiver was stopped: bring everything that is in this process's hands to its
        end.
        """
        while self._receiver.has_waiting():
            await self._take_and_settle()
        await self._lanes.emptied()
        await asyncio.gather(*self._aside)

    async def _bring_to_end(self, part: _Part) -> None:
        while part.read or part.rejected:
            try:
                await self._settle(part.read, part.rejected)
                break
            except Exception as error:  # noqa: BLE001 - nothing that was taken may be lost
                if not is_unavailable(error):
                    self._take_apart(part.incoming, error)
                    break
                log.warning(
                    "envelopes wait for the database",
                    envelopes=len(part.incoming),
                    error=type(error).__name__,
                )
                await asyncio.sleep(_RETRY_SECONDS)

    def _take_apart(self, batch: Sequence[Incoming], error: Exception) -> None:
        # Beside the loop: an envelope whose job somebody else holds locked must not hold back those
        # that come after.
        log.warning(
            "batch refused, taking it apart",
            envelopes=len(batch),
            error=type(error).__name__,
        )
        for incoming in batch:
            task = asyncio.create_task(self._settle_alone(incoming))
            self._aside.add(task)
            task.add_done_callback(self._aside.discard)

    async def _settle(self, read: Sequence[_Read], rejected: Sequence[Rejected]) -> None:
        decisions = await self._database.run(
            lambda connection: self._write(connection, read, rejected)
        )
        settled: list[tuple[Incoming, Outcome | None]] = [
            (item.incoming, _outcome(item.why)) for item in rejected
        ]
        settled += [
            (item.incoming, _outcome(decision))
            for item, decision in zip(read, decisions, strict=True)
        ]
        await self._receiver.settle(settled)
        if any(_is_mappable(decision) for decision in decisions):
            await self._wake_mapping()
        _report(read, decisions, rejected)

    async def _wake_mapping(self) -> None:
        try:
            async with self._database.connection() as connection:
                await write.tell_mapping(connection)
        except Exception as error:
            if not is_unavailable(error):
                raise
            log.info("the mapping cycle was not woken, it looks by itself")

    async def _write(
        self, connection: Connection, read: Sequence[_Read], rejected: Sequence[Rejected]
    ) -> list[Decision]:
        jobs = await write.lock_jobs(connection, {item.job for item in read})
        decisions = [
            decide(item.envelope, item.msg_id, jobs.get(item.job), self._bucket) for item in read
        ]
        acks = {d.job: d for d in decisions if isinstance(d, Acknowledge)}
        results = {d.job: d for d in decisions if isinstance(d, Apply)}
        alone = [ack for job, ack in acks.items() if job not in results]
        await write.acknowledge(connection, alone)
        await write.apply(connection, list(results.values()), acks.keys(), self._bucket)
        kept = [
            Rejected(item.incoming, d)
            for item, d in zip(read, decisions, strict=True)
            if isinstance(d, Reject)
        ]
        await write.keep_rejected(connection, [*rejected, *kept])
        return decisions

    async def _settle_alone(self, incoming: Incoming) -> None:
        """Bring one envelope to its end, or give it back to be delivered again."""
        read, rejected = _read_all([incoming])
        failures = 0
        while True:
            try:
                async with self._aside_limit:
                    return await self._settle(read, rejected)
            except Exception as error:
                if is_unavailable(error) or lost_race(error):
                    log.warning(
                        "envelope waits for the database",
                        job_id=_job_id(read),
                        error=type(error).__name__,
                    )
                elif self._receiver.redelivers:
                    log.exception("envelope cannot be written", delivery=incoming.delivery)
                    return await self._not_written(incoming, read, error)
                else:
                    failures += 1
                    if is_bad_value(error) or failures >= _TRIES_ALONE:
                        log.exception("envelope cannot be written", job_id=_job_id(read))
                        rejected = [Rejected(incoming, _unwritable(error, read))]
                        read, failures = [], 0
                await asyncio.sleep(_RETRY_SECONDS)

    async def _not_written(
        self, incoming: Incoming, read: Sequence[_Read], error: Exception
    ) -> None:
        """Have it delivered again; after the last time the job ends (I6)."""
        if not incoming.is_last:
            pause = _PUT_BACK_SECONDS[min(incoming.delivery, len(_PUT_BACK_SECONDS)) - 1]
            await self._receiver.put_back(incoming, pause)
            return
        for item in read:
            await self._end_poisoned(item, incoming.delivery, error)
        await self._receiver.settle([(incoming, None)])

    async def _end_poisoned(self, item: _Read, delivery: int, error: Exception) -> None:
        why = f"The result could not be written on {delivery} deliveries. {_describe(error)}"
        file, failures = parse_id(item.envelope.file_id), 0
        while failures < _TRIES_ALONE:
            try:
                ended = await self._database.run(
                    lambda connection: write.end_poisoned(connection, item.job, file, why)
                )
            except Exception as again:
                failures += not (is_unavailable(again) or lost_race(again))
                log.exception("a poisoned job is not ended yet", job_id=str(item.job))
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                log.error("poisonous message", job_id=str(item.job), job_ended=ended)
                return
        log.error("a poisoned job cannot be ended: its deadline will", job_id=str(item.job))


def _read_all(batch: Sequence[Incoming]) -> tuple[list[_Read], list[Rejected]]:
    read: list[_Read] = []
    rejected: list[Rejected] = []
    for incoming in batch:
        try:
            envelope = codec.decode_envelope(incoming.body)
        except InvalidMessage as error:
            rejected.append(
                Rejected(incoming, Reject("invalid", error.reason, _known_job(incoming.body)))
            )
        else:
            msg_id = header(incoming.headers, message_ids.HEADER)
            read.append(_Read(incoming, envelope, parse_id(envelope.job_id), msg_id))
    return read, rejected


def _of_lane(read: Sequence[_Read], lane: int) -> list[_Read]:
    # A job's lane never changes, so its envelopes keep their order.
    return [item for item in read if item.job.int % LANES == lane]


def _known_job(body: bytes) -> UUID | None:
    address = codec.address_of(body)
    return address.job_id if address else None


def _is_mappable(decision: Decision) -> bool:
    return isinstance(decision, Apply) and decision.status is not JobStatus.ERROR


def _outcome(decision: Decision) -> Outcome:
    match decision:
        case Acknowledge() | Apply():
            return Outcome(OutcomeKind.APPLIED)
        case Ignore(outcome, reason):
            return Outcome(outcome, reason)
        case Reject():
            return Outcome(decision.outcome, f"{decision.reason}: {decision.detail}")


def _report(
    read: Sequence[_Read], decisions: Sequence[Decision], rejected: Sequence[Rejected]
) -> None:
    # A line an envelope is for debugging; what it would say is not even gathered otherwise.
    tells_all = log.is_enabled_for(logging.DEBUG)
    for item, decision in zip(read, decisions, strict=True):
        if tells_all or isinstance(decision, Reject):
            _report_one(item, decision)
    log.info("envelopes settled", count=len(read) + len(rejected), applied=_applied(decisions))
    for kept in rejected:
        log.warning(
            "envelope not applied",
            reason=kept.why.reason,
            detail=kept.why.detail,
            job_id=str(kept.why.job),
        )


def _report_one(item: _Read, decision: Decision) -> None:
    facts = {
        "job_id": item.envelope.job_id,
        "file_id": item.envelope.file_id,
        "service": item.envelope.service.name,
        "msg_id": item.msg_id,
    }
    match decision:
        case Acknowledge():
            log.debug("job acknowledged", **facts)
        case Apply():
            log.debug("result applied", status=decision.status.value, **facts)
        case Ignore(outcome, reason):
            log.debug("envelope changes nothing", outcome=outcome.value, reason=reason, **facts)
        case Reject(reason, detail):
            log.warning("envelope not applied", reason=reason, detail=detail, **facts)


def _applied(decisions: Sequence[Decision]) -> int:
    return sum(isinstance(decision, Acknowledge | Apply) for decision in decisions)


def _job_id(read: Sequence[_Read]) -> str | None:
    return read[0].envelope.job_id if read else None


def _unwritable(error: Exception, read: Sequence[_Read]) -> Reject:
    return Reject("invalid", _describe(error), read[0].job if read else None)


def _describe(error: Exception) -> str:
    return f"the database cannot take it: {type(error).__name__}: {error}"
