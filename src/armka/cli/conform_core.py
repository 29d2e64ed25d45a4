"""`armka conform core`: from options to a report."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import httpx

from armka.cli import api, verdicts
from armka.cli.verdicts import NothingJudged
from armka.conformance import rows
from armka.conformance.outcome import Outcome
from armka.conformance.report.entry import Entry, Report
from armka.conformance.runner import Verdict, judge
from armka.conformance.scenario import Scenario
from armka.conformance.target import Operator, Power, Target
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import StoreUnavailable


class ApiOperator:
    """What the core's API lets the kit do."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def health(self) -> int:
        """See Operator."""
        async with api.client(self._url) as http:
            return (await http.get("/healthcheck")).status_code

    async def retry(self, file_id: UUID) -> int:
        """See Operator."""
        async with api.client(self._url) as http:
            return (await http.post(f"/api/v1/files/{file_id}/attempts")).status_code


def target(
    database: str | None,
    nats: NatsSettings,
    objects: ObjectSettings,
    settings: Sequence[str],
    api_url: str | None,
    *,
    superuser: bool,
    patience: float,
) -> Target:
    """The core as the options tell of it; raises NothingJudged."""
    if not database:
        raise NothingJudged("no database: give --database, or DATABASE_URL")
    powers = {Power.SUPERUSER} if superuser else set()
    if api_url:
        powers |= {Power.HEALTH, Power.RETRY}
    # It has the methods that these powers name, and no scenario without them calls another.
    operator = cast("Operator", ApiOperator(api_url)) if api_url else None
    told = dict(_setting(text) for text in settings)
    return Target(database, nats, objects, told, frozenset(powers), operator, patience)


def _setting(text: str) -> tuple[str, float | str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise NothingJudged(f"--setting {text}: give NAME=VALUE")
    try:
        return name, float(value)
    except ValueError:
        return name, value


async def judged(target: Target, chosen: Sequence[Scenario], at_once: int) -> Report:
    """Run the scenarios, some at the same time; raises NothingJudged."""
    begun, turn = datetime.now(UTC), asyncio.Semaphore(at_once)

    async def one(scenario: Scenario) -> Entry:
        async with turn:
            entry = _of_scenario(await judge(scenario, target))
        verdicts.print_line(entry)
        return entry

    try:
        await rows.reached(target.database_url)
        entries = await asyncio.gather(*map(one, chosen))
    except (
        rows.DatabaseUnusable, TimeoutError, StoreUnavailable, httpx.HTTPError
    ) as error:  # fmt: skip
        raise NothingJudged(str(error) or "NATS does not answer") from None
    about = {
        "settings": ", ".join(f"{k}={v}" for k, v in target.settings.items()) or "the defaults",
        "powers": ", ".join(sorted(target.powers)) or "none beside SQL, NATS and S3",
        "patience": f"{target.patience_seconds:g} s",
    }
    return Report("A core", about, begun, tuple(entries))


def _of_scenario(verdict: Verdict) -> Entry:
    one, failed = verdict.scenario, verdict.outcome is Outcome.FAILED
    detail, note = (verdict.detail, "") if failed else ("", verdict.detail)
    return Entry(
        one.id, one.room, one.promises, one.summary, verdict.outcome, detail, note, (),
        verdict.seconds,
    )  # fmt: skip
