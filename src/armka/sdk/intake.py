"""Requests in, answers out: what a service owes to every request that it takes (C4)."""

import asyncio
import random
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
# What is given back goes to whoever is free, and not at once to one who is about to stop too.
_PUT_BACK_SECONDS = 1.0
_NOT_MET_SECONDS = 30.0


@dataclass
class _Job:
    """`incoming`: its request, and the repeats that came while it is in work."""

    request: RecognitionRequest
    incoming: list[Incoming]
    acked: asyncio.Future[None]
    has_verdict: bool = False
    is_lost: bool = False


@dataclass(frozen=True)
class _Refusal:
    incoming: Incoming
    task: asyncio.Task[None]


class Intake:
    """Takes requests while there is room, and sees every job through to its answer.

    Beyond the room nothing is taken. Where requests are redelivered, room is one job for each
    child process, or for each file that the outside system has at once: the rest waits in the
    stream, for whoever is free first. Elsewhere room is `backlog` jobs and answers: a request that
    nobody acknowledges is published again and given up at last (O3), so that it is better taken on
    early.
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
        self._room_for = workshop.at_once if receiver.redelivers else settings.backlog
        self._receiver = receiver
        self._replies = replies
        self._acks = acks
        self._deliverer = deliverer
        self._workshop = workshop
        self._handled = HandledJobs(settings.remembered_jobs)
        self._jobs: dict[asyncio.Task[None], _Job] = {}
        self._in_work: dict[UUID, _Job] = {}
        self._mismatches: dict[UUID, _Refusal] = {}
        self._room = asyncio.Event()

    async def run(self) -> None:
        """Take requests, until cancelled."""
        while True:
            while (room := self._room_for - len(self._jobs) - len(self._mismatches)) <= 0:
                self._room.clear()
                await self._room.wait()
            for incoming in await self._receiver.take(min(room, _BATCH)):
                try:
                    await self._meet(incoming)
                except Exception:  # one request must not keep the others from being met
                    log.exception("a request was not met", size=len(incoming.body))
                    await self._receiver.put_back(incoming, _NOT_MET_SECONDS)
            await asyncio.sleep(0)  # a flood of requests must not keep acks waiting

    async def drain(self, seconds: float) -> None:
        """Finish what was taken on; what is not done in time goes to another instance where
        requests are redelivered, and is answered as not done elsewhere.

        There nobody asks for an acknowledged job again: silence would keep its file waiting until
        the deadline.
        """
        under_way = {*self._jobs, *(it.task for it in self._mismatches.values())}
        if under_way:
            await asyncio.wait(under_way, timeout=seconds)
        left = list(self._jobs.values())
        undone = [job for job in left if not job.has_verdict]
        taken = [*(one for job in left for one in job.incoming)]
        taken += [it.incoming for it in self._mismatches.values()]
        if left:
            log.warning("work is left", undone=len(undone), unanswered=len(left) - len(undone))
        await self.abandon()
        if self._receiver.redelivers:
            await self._put_back(taken)
        else:
            await asyncio.gather(*(self._answer_undone(job) for job in undone))

    async def _put_back(self, taken: list[Incoming]) -> None:
        while self._receiver.has_waiting():
            taken += await self._receiver.take(_BATCH)
        for incoming in taken:
            seconds = _PUT_BACK_SECONDS * random.uniform(0.5, 1.5)
            await self._receiver.put_back(incoming, seconds)

    async def abandon(self) -> None:
        """Stop all work at once."""
        tasks = {*self._jobs, *(it.task for it in self._mismatches.values())}
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
                await self._take_on(request, incoming)
                return  # settled when it is done
            case AckAgain(request):
                log.info("a repeat", job=str(request.job), attempt=request.attempt)
                _ = self._acks.send(self._replies.ack(request))
                if request.job in self._in_work:
                    self._in_work[request.job].incoming.append(incoming)
                    return
            case Mismatch():
                await self._answer_mismatch(decision, incoming)
                return
            case Drop(reason):
                log.warning("a request is dropped", reason=reason, size=len(incoming.body))
        await self._settle(incoming)

    async def _take_on(self, request: RecognitionRequest, incoming: Incoming) -> None:
        # A refusal's id would now collide with the real result's.
        await self._withdraw_refusal(request.job)
        log.info("a job is taken on", job=str(request.job), file=request.file_id)
        job = _Job(request, [incoming], self._acks.send(self._replies.ack(request)))
        self._handled.take_on(request.job)
        task = asyncio.create_task(self._see_through(job), name=f"job:{request.job}")
        self._jobs[task] = self._in_work[request.job] = job
        task.add_done_callback(self._done)

    async def _see_through(self, job: _Job) -> None:
        try:
            await self._finish(job)
        except Exception:  # whoever redelivers it may fare better, and so may this instance
            job.is_lost = True
            log.exception("a job was lost", job=str(job.request.job))
            for incoming in job.incoming:
                await self._receiver.put_back(incoming, _NOT_MET_SECONDS)

    async def _finish(self, job: _Job) -> None:
        work = await self._workshop.do(job.request)
        job.has_verdict = True
        deadline = job.request.deadline.timestamp()
        # The core shall hear of the beginning before it hears of the end.
        await asyncio.wait({job.acked}, timeout=max(deadline - time.time(), 0))
        job.acked.cancel()
        result = self._replies.result(job.request, work.verdict, work.metrics, work.raw_s3_key)
        await self._deliver(result, job.request.job, until=deadline)
        for incoming in job.incoming:
            await self._settle(incoming)

    def _done(self, task: asyncio.Task[None]) -> None:
        job = self._jobs.pop(task)
        del self._in_work[job.request.job]
        if job.is_lost:
            self._handled.forget(job.request.job)
        else:
            deadline = job.request.deadline.timestamp()
            self._handled.answered(job.request.job, deadline=deadline, now=time.time())
        self._room.set()

    async def _answer_mismatch(self, mismatch: Mismatch, incoming: Incoming) -> None:
        job = mismatch.job_id
        log.warning("an invalid request", job=str(job), reason=mismatch.reason)
        await self._withdraw_refusal(job)
        task = asyncio.create_task(self._refuse(mismatch, incoming))
        self._mismatches[job] = _Refusal(incoming, task)
        task.add_done_callback(lambda done: self._refused(job, done))

    async def _refuse(self, mismatch: Mismatch, incoming: Incoming) -> None:
        job, file = mismatch.job_id, mismatch.file_id
        result = self._replies.mismatch(job, file, mismatch.attempt, mismatch.reason)
        await self._deliver(result, job, until=time.time() + _MISMATCH_SECONDS)
        await self._settle(incoming)

    async def _withdraw_refusal(self, job: UUID) -> None:
        refusal = self._mismatches.pop(job, None)
        if refusal is not None:
            refusal.task.cancel()
            await self._settle(refusal.incoming)

    def _refused(self, job: UUID, task: asyncio.Task[None]) -> None:
        refusal = self._mismatches.get(job)
        if refusal is not None and refusal.task is task:
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
        # A request asks for envelopes, not for an outcome.
        await self._receiver.settle([(incoming, None)])
