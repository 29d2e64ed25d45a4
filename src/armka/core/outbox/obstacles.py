"""Pipelines whose requests cannot go out: they must not hold up the others (O2), and everybody must
see why their jobs wait.
"""

import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import structlog

from armka.contract.vocabulary import Pipeline
from armka.core.database.pool import Connection
from armka.core.database.queries import load

log = structlog.get_logger(__name__)
SQL = load(__package__)

# A permission rarely comes by itself, and with most servers brings a new connection.
FORBIDDEN_SECONDS = 30.0
# What a stream does not confirm it may confirm as soon as it has a leader, or room.
UNCONFIRMED_SECONDS = 2.0


@dataclass(frozen=True)
class Obstacle:
    """Why the requests of a pipeline cannot go out, and after how long one of them is tried.

    `is_passing`: nobody needs to do anything, but for the servers to come back.
    """

    reason: str
    retry_seconds: float
    is_passing: bool


def forbidden(reason: str) -> Obstacle:
    """The server's permissions are in the way."""
    return Obstacle(reason, FORBIDDEN_SECONDS, is_passing=False)


def unconfirmed(reason: str) -> Obstacle:
    """A stream refuses the requests, or does not answer."""
    return Obstacle(reason, UNCONFIRMED_SECONDS, is_passing=True)


class Obstacles:
    """What this process has met; the table tells it to the others, who may be better off."""

    def __init__(self) -> None:
        self._reasons: dict[Pipeline, str] = {}
        self._retry_at: dict[Pipeline, tuple[float, float]] = {}
        self._passed: set[Pipeline] = set()

    def met(self) -> list[Pipeline]:
        """The pipelines that are blocked."""
        return list(self._reasons)

    def retry(self) -> list[Pipeline]:
        """Those of them that it is time to try again; their next time is later."""
        now = time.monotonic()
        due = {it: pause for it, (at, pause) in self._retry_at.items() if at <= now}
        self._retry_at |= {it: (now + pause, pause) for it, pause in due.items()}
        return list(due)

    def reconsider(self) -> None:
        """A new connection may be allowed more, or less: nothing is known any more."""
        self._retry_at = {it: (0.0, pause) for it, (_, pause) in self._retry_at.items()}
        self._passed = set()

    def soonest(self) -> float:
        """When the next one is due, by this process's clock."""
        return min((at for at, _ in self._retry_at.values()), default=float("inf"))

    async def note(
        self,
        connection: Connection,
        held: Mapping[Pipeline, Obstacle],
        passed: AbstractSet[Pipeline],
    ) -> bool:
        """What became of a burst; returns whether the pipelines to claim from are others now."""
        changed = bool(held.keys() - self._reasons.keys())
        for pipeline, obstacle in sorted(held.items()):
            await connection.execute(SQL.block, pipeline, obstacle.reason)
            self._meet(pipeline, obstacle)
        self._passed -= held.keys()
        # At the first success the table may still tell what an earlier process met.
        for pipeline in sorted(passed - self._passed):
            await connection.execute(SQL.unblock, pipeline)
            self._retry_at.pop(pipeline, None)
            if self._reasons.pop(pipeline, None) is not None:
                log.info("the requests of a pipeline go out again", pipeline=pipeline.value)
                changed = True
        self._passed |= passed
        return changed

    def _meet(self, pipeline: Pipeline, obstacle: Obstacle) -> None:
        pause = obstacle.retry_seconds
        self._retry_at[pipeline] = (time.monotonic() + pause, pause)
        if self._reasons.get(pipeline) == obstacle.reason:
            return
        self._reasons[pipeline] = obstacle.reason
        tell = log.warning if obstacle.is_passing else log.error
        tell(
            "the requests of a pipeline cannot go out, its jobs stay queued",
            pipeline=pipeline.value,
            reason=obstacle.reason,
        )
