"""One cycle of the watchdog."""

from dataclasses import dataclass

import structlog

from armka.core.database.pool import Database
from armka.core.database.queries import load
from armka.core.settings import ExchangeSettings

log = structlog.get_logger(__name__)
SQL = load(__package__)

BATCH_SIZE = 500
# A past deadline that is left belongs to a row that somebody holds: look again soon, but do not
# spin.
_SOONEST_SECONDS = 1.0


@dataclass(frozen=True)
class WatchdogConfig:
    """The period and the budgets of jobs without a deadline, in seconds."""

    period_seconds: float
    reply_seconds_tabular: float
    reply_seconds_image: float

    @classmethod
    def of(cls, settings: ExchangeSettings) -> "WatchdogConfig":
        """Take the loop's part of the settings."""
        return cls(
            period_seconds=settings.watchdog_period_seconds,
            reply_seconds_tabular=settings.reply_timeout_seconds_tabular,
            reply_seconds_image=settings.reply_timeout_seconds_image,
        )


class Watchdog:
    """Ends overdue jobs."""

    def __init__(self, config: WatchdogConfig, database: Database) -> None:
        self._config = config
        self._database = database

    async def run_once(self) -> float:
        """One whole cycle; returns the seconds until the period or the nearest deadline, whichever
        comes first.
        """
        config = self._config
        ended = await self._database.run(
            lambda connection: connection.fetch(
                SQL.end_overdue,
                BATCH_SIZE,
                config.reply_seconds_tabular,
                config.reply_seconds_image,
            )
        )
        if ended:
            log.warning("jobs timed out", jobs=[str(row["id"]) for row in ended])
        if len(ended) >= BATCH_SIZE:
            return 0.0
        async with self._database.connection() as connection:
            nearest = await connection.fetchval(SQL.next_deadline_seconds)
        if nearest is None:
            return config.period_seconds
        return float(min(config.period_seconds, max(nearest, _SOONEST_SECONDS)))
