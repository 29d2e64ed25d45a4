"""Pipelines whose requests the server forbids: they must not hold up the others (O2), and everybody
must see why their jobs wait.
"""

import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import structlog

from armka.contract.vocabulary import Pipeline
from armka.core.database.pool import Connection
from armka.core.database.queries import load

log = structlog.get_logger(__name__)
SQL = load(__package__)

# So often one job of a forbidden pipeline is tried again.
RETRY_SECONDS = 30.0


class Obstacles:
    """What this process has met; the table tells it to the others, who may be allowed."""

    def __init__(self) -> None:
        self._reasons: dict[Pipeline, str] = {}
        self._retry_at: dict[Pipeline, float] = {}
        self._passed: set[Pipeline] = set()

    def met(self) -> list[Pipeline]:
        """The pipelines that are forbidden."""
        return list(self._reasons)

    def retry(self) -> list[Pipeline]:
        """Those of them that it is time to try again; their next time is later."""
        now = time.monotonic()
        due = [pipeline for pipeline, at in self._retry_at.items() if at <= now]
        self._retry_at |= dict.fromkeys(due, now + RETRY_SECONDS)
        return due

    def reconsider(self) -> None:
        """A new connection may be allowed more, or less: nothing is known any more."""
        self._retry_at = dict.fromkeys(self._retry_at, 0.0)
        self._passed = set()

    def soonest(self) -> float:
        """When the next one is due, by this process's clock."""
        return min(self._retry_at.values(), default=float("inf"))

    async def note(
        self,
        connection: Connection,
        forbidden: Mapping[Pipeline, str],
        passed: AbstractSet[Pipeline],
    ) -> bool:
        """What became of a burst; returns whether the pipelines to claim from are others now."""
        self._retry_at |= dict.fromkeys(forbidden, time.monotonic() + RETRY_SECONDS)
        new = {it: why for it, why in forbidden.items() if self._reasons.get(it) != why}
        for pipeline, reason in sorted(forbidden.items()):
            await connection.execute(SQL.forbid, pipeline, reason)
        for pipeline, reason in new.items():
            log.error(
                "the server forbids the requests of a pipeline, its jobs stay queued",
                pipeline=pipeline.value,
                reason=reason,
            )
        changed = bool(new.keys() - self._reasons.keys())
        self._reasons |= new
        self._passed -= forbidden.keys()
        # At the first success the table may still tell what an earlier process met.
        for pipeline in sorted(passed - self._passed):
            await connection.execute(SQL.allow, pipeline)
            self._retry_at.pop(pipeline, None)
            if self._reasons.pop(pipeline, None) is not None:
                log.info("the requests of a pipeline go out again", pipeline=pipeline.value)
                changed = True
        self._passed |= passed
        return changed
