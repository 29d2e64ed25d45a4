"""One cycle of the outbox: publish what is queued, publish again what nobody took, give up on the
rest.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import UUID

import structlog

from armka.contract.codec import InvalidMessage
from armka.contract.subjects import Subjects
from armka.contract.vocabulary import Pipeline
from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.outbox.obstacles import Obstacles, forbidden, unconfirmed
from armka.core.outbox.requests import Request, RequestInvalid, build
from armka.core.settings import ExchangeSettings
from armka.messaging.connection import NotConfirmed, NotConnected
from armka.messaging.messages import Publisher, Receiver

log = structlog.get_logger(__name__)
SQL = load(__package__)

# Nearer than this counts as overdue.
_SOONEST_SECONDS = 0.05
# Where requests are kept none is given up: nothing is published so often.
_NEVER = 2**31 - 1
# Where requests are kept, so often is looked whether they still are.
_KEPT_LOOK_SECONDS = 10.0


@dataclass(frozen=True)
class OutboxConfig:
    """Limits of the loop, in seconds and rows."""

    poll_seconds: float
    batch_size: int
    ack_timeout_seconds: float
    max_republish: int
    reply_seconds_tabular: float
    reply_seconds_image: float

    @classmethod
    def of(cls, settings: ExchangeSettings) -> "OutboxConfig":
        """Take the loop's part of the settings."""
        return cls(
            poll_seconds=settings.outbox_poll_seconds,
            batch_size=settings.outbox_batch_size,
            ack_timeout_seconds=settings.ack_timeout_seconds,
            max_republish=settings.outbox_max_republish,
            reply_seconds_tabular=settings.reply_timeout_seconds_tabular,
            reply_seconds_image=settings.reply_timeout_seconds_image,
        )


class Outbox:
    """The publisher of this process. `answers` is its inbox: who has not listened may not say that
    nobody answered.
    """

    def __init__(
        self,
        config: OutboxConfig,
        database: Database,
        publisher: Publisher,
        answers: Receiver,
        subjects: Subjects,
        is_connected: Callable[[], bool],
    ) -> None:
        self._config = config
        self._database = database
        self._publisher = publisher
        self._answers = answers
        self._subjects = subjects
        self._is_connected = is_connected
        self._unanswered_at = 0.0
        self._looks_elsewhere = True
        self.duplicates = 0
        self._obstacles = Obstacles()

    def reconsider(self) -> None:
        """There is a new connection: what could not go out may go now."""
        self._obstacles.reconsider()

    async def run_once(self) -> float:
        """One whole cycle; returns the seconds until the next one is due (O1, O3)."""
        if not self._is_connected():
            raise NotConnected("the jobs stay queued until NATS is back")
        full = await self._publish_queued()
        if time.monotonic() >= self._unanswered_at:
            kept = await self._publisher.kept_seconds()
            full |= await self._look_after_published(kept)
            pause = 0.0 if full else await self._until_unanswered(kept)
            self._unanswered_at = time.monotonic() + pause
        return 0.0 if full else self._until_due()

    def _until_due(self) -> float:
        """Seconds until the next cycle: never more than a poll, for a NOTIFY can be lost (O1)."""
        soonest = min(self._unanswered_at, self._obstacles.soonest()) - time.monotonic()
        return max(0.0, min(soonest, self._config.poll_seconds))

    async def _look_after_published(self, kept: float | None) -> bool:
        if kept is None:
            return await self._republish_unanswered()
        why = "published again: the stream no longer had it"
        full = await self._resend(SQL.claim_unanswered, why, kept, _NEVER)
        if self._looks_elsewhere:  # a change of the transport needs a restart
            subjects = [self._subjects.tabular_request, self._subjects.image_request]
            why = "published again: another transport is in use"
            self._looks_elsewhere = await self._resend(SQL.claim_elsewhere, why, subjects)
        return full or self._looks_elsewhere

    async def _publish_queued(self) -> bool:
        config = self._config
        async with self._database.transaction() as connection:
            rows = await self._claim_queued(connection)
            burst = await self._burst(connection, rows)
            if burst.confirmed:
                await _mark_published(connection, burst.confirmed)
        burst.raise_outage()
        return burst.has_cleared_the_way or (len(rows) >= config.batch_size and burst.moved)

    async def _claim_queued(self, connection: Connection) -> list[Record]:
        """A batch of what may go out, and one job of each blocked pipeline that is due."""
        return await self._claim(connection, SQL.claim_queued, self._obstacles.retry())

    async def _claim(
        self,
        connection: Connection,
        claim: str,
        tried: Sequence[Pipeline],
        *own: object,
    ) -> list[Record]:
        """A batch without the blocked pipelines, and one job of each that is tried; `own`: what
        the claim asks beside that.
        """
        config = self._config
        claims = [(config.batch_size, self._obstacles.met())]
        claims += [(1, list(set(Pipeline) - {pipeline})) for pipeline in tried]
        rows: list[Record] = []
        for limit, without in claims:
            seconds = config.reply_seconds_tabular, config.reply_seconds_image
            rows += await connection.fetch(claim, limit, *seconds, without, *own)
        return rows

    async def _republish_unanswered(self) -> bool:
        config, wait = self._config, self._patience_seconds()
        if wait is None:
            return False
        async with self._database.transaction() as connection:
            limits = wait, config.max_republish
            blocked = self._obstacles.met()
            rows = await self._claim(connection, SQL.claim_unanswered, blocked, *limits)
            hopeless = [row["id"] for row in rows if row["publish_count"] > config.max_republish]
            if hopeless:
                await connection.fetch(SQL.give_up, hopeless)
            burst = await self._burst(
                connection, [row for row in rows if row["publish_count"] <= config.max_republish]
            )
            if burst.confirmed:
                await connection.execute(
                    SQL.mark_republished, [request.job_id for request in burst.confirmed]
                )
        if rows:
            given_up = [str(job) for job in hopeless]
            log.warning(
                "requests unanswered", published_again=len(burst.confirmed), given_up=given_up
            )
        burst.raise_outage()
        moved = burst.moved or bool(hopeless)
        return burst.has_cleared_the_way or (len(rows) >= config.batch_size and moved)

    async def _resend(self, claim: str, why: str, *own: object) -> bool:
        """Publish again what is not where services take it from (N4); nothing is given up on."""
        config = self._config
        async with self._database.transaction() as connection:
            rows = await self._claim(connection, claim, self._obstacles.met(), *own)
            burst = await self._burst(connection, rows)
            if burst.confirmed:
                await connection.execute(
                    SQL.mark_resent,
                    [request.job_id for request in burst.confirmed],
                    [request.message.subject for request in burst.confirmed],
                    why,
                )
        if burst.confirmed:
            log.warning("requests published again", count=len(burst.confirmed), why=why)
        burst.raise_outage()
        return burst.has_cleared_the_way or (len(rows) >= config.batch_size and burst.moved)

    def _patience_seconds(self) -> float | None:
        """How old an unanswered publication must be to count as unanswered; None: this process
        cannot say (O3).
        """
        lag = self._answers.lag_seconds()
        heard = self._answers.heard_seconds()
        wait = self._config.ack_timeout_seconds + lag
        return wait if heard >= wait else None

    async def _burst(self, connection: Connection, rows: list[Record]) -> "_Burst":
        """Publish the claimed jobs' requests; a job that can have none ends here (O2)."""
        requests, refusals = _build_all(rows, self._subjects)
        burst = await self._publish(connection, requests)
        refusals |= burst.too_large
        if refusals:
            await connection.fetchval(SQL.refuse, list(refusals), list(refusals.values()))
            log.warning("requests refused", jobs=[str(job) for job in refusals])
        return replace(burst, moved=bool(burst.confirmed or refusals))

    async def _publish(self, connection: Connection, requests: list[Request]) -> "_Burst":
        if not requests:
            return _Burst()
        try:
            published = await self._publisher.publish([request.message for request in requests])
        except (NotConnected, NotConfirmed) as error:
            return _Burst(outage=error)
        self.duplicates += len(published.duplicates)
        held = {
            requests[it].pipeline: unconfirmed(why) for it, why in published.unconfirmed.items()
        }
        held |= {requests[it].pipeline: forbidden(why) for it, why in published.forbidden.items()}
        lost = published.too_large.keys() | published.held_back.keys()
        confirmed = [request for index, request in enumerate(requests) if index not in lost]
        passed = {request.pipeline for request in confirmed} - held.keys()
        reason = next(iter(published.unconfirmed.values()), None)
        return _Burst(
            confirmed=confirmed,
            outage=NotConfirmed(reason) if reason and not confirmed else None,
            has_cleared_the_way=await self._obstacles.note(connection, held, passed),
            too_large={
                requests[index].job_id: reason for index, reason in published.too_large.items()
            },
        )

    async def _until_unanswered(self, kept: float | None) -> float:
        if kept is not None:
            return _KEPT_LOOK_SECONDS
        wait, heard = self._config.ack_timeout_seconds, self._answers.heard_seconds()
        async with self._database.connection() as connection:
            due = await connection.fetchval(SQL.next_unanswered_seconds, wait)
        if due is None or heard == 0.0:
            return self._config.poll_seconds
        # What is overdue and was left alone (its deadline is past, or it is locked) must not make
        # the loop spin.
        soonest = max(due, wait - heard)
        return min(
            self._config.poll_seconds,
            soonest if soonest > _SOONEST_SECONDS else self._config.poll_seconds,
        )


@dataclass(frozen=True)
class _Burst:
    """What became of a burst, told in jobs; after an outage all of them stay as they were."""

    confirmed: list[Request] = field(default_factory=list)
    too_large: dict[UUID, str] = field(default_factory=dict)
    outage: NotConnected | NotConfirmed | None = None
    moved: bool = False
    has_cleared_the_way: bool = False

    def raise_outage(self) -> None:
        """After the commit: let the loop slow down until NATS is back."""
        if self.outage is not None:
            raise self.outage


def _build_all(rows: list[Record], subjects: Subjects) -> tuple[list[Request], dict[UUID, str]]:
    requests: list[Request] = []
    refusals: dict[UUID, str] = {}
    for row in rows:
        try:
            requests.append(build(cast("Mapping[str, Any]", row), subjects))
        except (RequestInvalid, InvalidMessage) as error:
            refusals[row["id"]] = error.reason
    return requests, refusals


async def _mark_published(connection: Connection, requests: list[Request]) -> None:
    await connection.fetchval(
        SQL.mark_published,
        [request.job_id for request in requests],
        [request.msg_id for request in requests],
        [request.message.subject for request in requests],
        [request.reply_deadline for request in requests],
    )
