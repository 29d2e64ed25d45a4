"""The examination: on demand, whole; by the core itself from time to time, reading only."""

from datetime import UTC, datetime
from typing import Any

import structlog

from armka.core.database.pool import Database
from armka.core.doctor import records, stored
from armka.core.doctor.broker import Broker
from armka.core.doctor.findings import Finding, State
from armka.core.doctor.records import CHECKS, Records
from armka.core.doctor.stored import Stored
from armka.core.settings import ExchangeSettings
from armka.objects.store import ObjectStore

log = structlog.get_logger(__name__)

NEWEST = 20_000
# Between start and first look: the loops take over first what the last stop left.
_FIRST_SECONDS = 60.0
# Only with a connection to NATS may it be said that a job should have been published.
_NEEDS_NATS = "job_not_published"


class Doctor:
    """Examines one installation."""

    def __init__(
        self,
        settings: ExchangeSettings,
        database: Database,
        objects: ObjectStore,
        broker: Broker | None,
        *,
        newest: int = NEWEST,
    ) -> None:
        values = {
            "watchdog_seconds": settings.watchdog_period_seconds,
            "tabular_seconds": settings.reply_timeout_seconds_tabular,
            "image_seconds": settings.reply_timeout_seconds_image,
        }
        self._period = settings.doctor_period_seconds
        self._records = Records(database, values, newest)
        self._stored = Stored(objects, self._records, settings.sweep_grace_seconds)
        self._broker = broker
        self._looked_at: datetime | None = None
        self._started = False
        self._found: dict[str, int] = {}
        self._unreached: list[str] = []

    async def examine(self, *, whole: bool = True) -> list[Finding]:
        """Every check, in the order of the catalogue; `whole` writes a probe to the store and asks
        NATS for the permissions, too.
        """
        return [
            *await self._examine_broker(whole=whole),
            *await self._examine_records(),
            *await self._examine_store(whole=whole),
        ]

    async def run_once(self) -> float:
        """The core's own look: warns of each finding; returns the seconds until the next one."""
        if not self._started:
            self._started = True
            return min(_FIRST_SECONDS, self._period)
        findings = await self.examine(whole=False)
        for finding in findings:
            if not finding.is_well:
                _warn(finding)
        self._looked_at = datetime.now(UTC)
        self._found = {it.check: it.count for it in findings if it.state is State.DRIFT}
        self._unreached = [it.check for it in findings if it.state is State.UNREACHED]
        return self._period

    def summary(self) -> dict[str, Any]:
        """When the core last looked, and what it found, for whoever asks after its health."""
        return {
            "at": self._looked_at.isoformat() if self._looked_at else None,
            "drift": self._found,
            "unreached": self._unreached,
        }

    async def _examine_broker(self, *, whole: bool) -> list[Finding]:
        if self._broker is None:
            return []
        permitted = [await self._broker.permitted()] if whole else []
        return [*self._broker.reached(), *permitted, *await self._broker.streamed()]

    async def _examine_records(self) -> list[Finding]:
        database, clock = await self._records.reached()
        if not database.is_well:
            unknown = [asked.check.unreached("no database") for asked in CHECKS]
            return [database, clock, records.MIGRATED.unreached("no database"), *unknown]
        findings = [database, clock, await self._records.migrated()]
        for asked in CHECKS:
            if asked.check.name == _NEEDS_NATS and not (self._broker and self._broker.is_live):
                findings.append(asked.check.skipped("NATS is not connected"))
            else:
                findings.append(await self._records.examine(asked))
        return findings

    async def _examine_store(self, *, whole: bool) -> list[Finding]:
        if not whole:
            return [await self._stored.missing()]
        probe = await self._stored.probe()
        if not probe.is_well:
            rest = (stored.MISSING, stored.ORPHANED)
            return [probe, *(check.unreached("no object store") for check in rest)]
        return [probe, await self._stored.missing(), await self._stored.orphaned()]


def _warn(finding: Finding) -> None:
    log.warning(
        "the doctor found something",
        check=finding.check,
        state=finding.state.value,
        count=finding.count,
        examples=finding.examples,
        what=finding.drift,
        remedy=finding.remedy,
        reason=finding.reason,
    )
