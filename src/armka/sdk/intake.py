"""Requests in, answers out: what a service owes to every request that it takes (C4)."""

import asyncio
import dataclasses
import time
from dataclasses import dataclass
from uuid import UUID

import structlog

from armka.contract.outcome import Outcome, OutcomeKind
from armka.contract.request import RecognitionRequest
from armka.contract.vocabulary import ErrorCode
from armka.messaging.delivery import Deliverer, TooLargeToSend
from armka.messaging.messages import Incoming, Outgoing, Receiver
from armka.sdk import wording
from armka.sdk.acks import Acks
from armka.sdk.decision import AckAgain, Drop, Mismatch, Process, decide
from armka.sdk.memory import HandledJobs
from armka.sdk.replies import NotRecognised, Replies
from armka.sdk.service import Service
from armka.sdk.settings import ServiceSettings
from armka.sdk.work import Workshop

log = structlog.get_logger(__name__)

_BATCH = 100
# An invalid request has no deadline that could be trusted.
_MISMATCH_SECONDS = 600.0


@dataclass
class _Job:
    request: RecognitionRequest
    incoming: Incoming
    acked: asyncio.Future[None]
    has_verdict: bool = False


class Intake:
    """Takes requests while there is room, and sees every job through to its answer.

    Room is `backlog` jobs and answers. Beyond it nothing is taken: requests stay with the receiver,
    whose buffer is bounded too, and a request that is not acknowledged is published again, perhaps
    to a freer instance (O3).
    """

    def __init__(
        self,
        service: Service,
        settings: ServiceSettings,
        receiver: Receiver,
        replies: Replies,
        acks: Acks,
        deliverer: Deliverer,
        workshop: Workshop,
    ) -> None:
        self._service = service
        self._backlog = settings.backlog
        self._receiver = receiver
        self._replies = replies
        self._acks = acks
        self._deliverer = deliverer
        self._workshop = workshop
        self._handled = HandledJobs(settings.remembered_jobs)
        self._jobs: dict[asyncio.Task[None], _Job] = {}
        self._mismatches: dict[UUID, asyncio.Task[None]] = {}
        self._room = asyncio.Event()

    async def run(self) -> None:
        """Take requests, until cancelled."""
        while True:
            while (room := self._backlog - len(self._jobs) - len(self._mismatches)) <= 0:
                self._room.clear()
                await self._room.wait()
            for incoming in await self._receiver.take(min(room, _BATCH)):
                try:
                    await self._meet(incoming)
                except Exception:  # one request must not keep the others from being met
                    log.exception("a request was not met", size=len(incoming.body))
            await asyncio.sleep(0)  # a flood of requests must not keep acks waiting

    async def drain(self, seconds: float) -> None:
        """Finish what was taken on; what is not done in time is answered as not done.

        Nobody asks for an acknowledged job again: silence would keep its file waiting until the
        deadline.
        """
        under_way = {*self._jobs, *self._mismatches.values()}
        if under_way:
            await asyncio.wait(under_way, timeout=seconds)
        undone = [job for job in self._jobs.values() if not job.has_verdict]
        if self._jobs:
            log.warning(
                "work is left", undone=len(undone), unanswered=len(self._jobs) - len(undone)
            )
        await self.abandon()
        await asyncio.gather(*(self._answer_undone(job) for job in undone))

    async def abandon(self) -> None:
        """Stop all work at once."""
        tasks = {*self._jobs, *self._mismatches.values()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _meet(self, incoming: Incoming) -> None:
        self._handled.forget_expired(time.time())
        decision = decide(
            incoming.body,
            incoming.headers,
            self._handled,
            self._service.pipeline,
            self._service.missing_attempt,
        )
        match decision:
            case Process(request):
                self._take_on(request, incoming)
                return  # settled when it is done
            case AckAgain(request):
                log.info("a repeat", job=str(request.job), attempt=request.attempt)
                _ = self._acks.send(self._replies.ack(request))
            case Mismatch():
                self._answer_mismatch(decision)
            case Drop(reason):
                log.warning("a request is dropped", reason=reason, size=len(incoming.body))
        await self._settle(incoming)

    def _take_on(self, request: RecognitionRequest, incoming: Incoming) -> None:
        refused = self._mismatches.pop(request.job, None)
        if refused is not None:
            refused.cancel()  # its id would now collide with the real result's
        log.info("a job is taken on", job=str(request.job), file=request.file_id)
        self._handled.take_on(request.job)
        job = _Job(request, incoming, self._acks.send(self._replies.ack(request)))
        task = asyncio.create_task(self._see_through(job), name=f"job:{request.job}")
        self._jobs[task] = job
        task.add_done_callback(self._done)

    async def _see_through(self, job: _Job) -> None:
        work = await self._workshop.do(job.request)
        job.has_verdict = True
        deadline = job.request.deadline.timestamp()
        # The core shall hear of the beginning before it hears of the end.
        await asyncio.wait({job.acked}, timeout=max(deadline - time.time(), 0))
        job.acked.cancel()
        result = self._replies.result(job.request, work.verdict, work.metrics, work.raw_s3_key)
        await self._deliver(result, job.request.job, until=deadline)
        await self._settle(job.incoming)

    def _done(self, task: asyncio.Task[None]) -> None:
        job = self._jobs.pop(task)
        deadline = job.request.deadline.timestamp()
        self._handled.answered(job.request.job, deadline=deadline, now=time.time())
        self._room.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a job was lost", job=str(job.request.job), exc_info=error)

    def _answer_mismatch(self, mismatch: Mismatch) -> None:
        log.warning("an invalid request", job=str(mismatch.job_id), reason=mismatch.reason)
        earlier = self._mismatches.pop(mismatch.job_id, None)
        if earlier is not None:
            earlier.cancel()
        result = self._replies.mismatch(
            mismatch.job_id, mismatch.file_id, mismatch.attempt, mismatch.reason
        )
        until = time.time() + _MISMATCH_SECONDS
        task = asyncio.create_task(self._deliver(result, mismatch.job_id, until=until))
        self._mismatches[mismatch.job_id] = task
        task.add_done_callback(lambda done: self._mismatch_done(mismatch.job_id, done))

    def _mismatch_done(self, job: UUID, task: asyncio.Task[None]) -> None:
        if self._mismatches.get(job) is task:
            del self._mismatches[job]
        self._room.set()

    async def _answer_undone(self, job: _Job) -> None:
        verdict = NotRecognised(ErrorCode.UNKNOWN_ERROR, wording.STOPPED)
        result = self._replies.result(job.request, verdict, {})
        await self._deliver(result, job.request.job, until=time.time())

    async def _deliver(self, message: Outgoing, job: UUID, *, until: float) -> None:
        try:
            answer = await self._deliverer.deliver(message, until=until)
        except TooLargeToSend as error:
            log.error("a result cannot be sent", job=str(job), error=str(error))  # noqa: TRY400
            return
        if answer is None:
            log.warning("nobody answered for a result", job=str(job))
        elif isinstance(answer, Outcome) and answer.outcome is OutcomeKind.REJECTED:
            log.error("the core rejects a result", job=str(job), reason=answer.reason)
        elif isinstance(answer, Outcome):
            log.info("a result is delivered", job=str(job), outcome=answer.outcome.value)
        else:
            log.info("a stream took a result", job=str(job), stream=answer.stream, seq=answer.seq)

    async def _settle(self, incoming: Incoming) -> None:
        # A request asks for envelopes, not for an outcome: nothing goes to its reply subject.
        silent = dataclasses.replace(incoming, reply="")
        await self._receiver.settle([(silent, Outcome(OutcomeKind.APPLIED))])
