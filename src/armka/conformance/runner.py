"""Runs scenarios: each passes, fails, or does not apply, with the reason."""

import time
from dataclasses import dataclass

from armka.conformance.findings import Nonconformance
from armka.conformance.opening import opened
from armka.conformance.outcome import Outcome
from armka.conformance.scenario import Scenario
from armka.conformance.target import Target


@dataclass(frozen=True)
class Verdict:
    """What became of a scenario; `detail`: the finding, or why it does not apply."""

    scenario: Scenario
    outcome: Outcome
    detail: str
    seconds: float


async def judge(scenario: Scenario, target: Target) -> Verdict:
    """Run one scenario. What breaks the kit itself, such as an unreachable database, is raised."""
    reason = scenario.reason_against(target)
    if reason is not None:
        return Verdict(scenario, Outcome.NOT_APPLICABLE, reason, 0.0)
    begin = time.monotonic()
    try:
        async with opened(target) as surface:
            await scenario.check(surface)
    except Nonconformance as finding:
        detail = f"{type(finding).__name__}\n{finding}"
        return Verdict(scenario, Outcome.FAILED, detail, time.monotonic() - begin)
    return Verdict(scenario, Outcome.PASSED, "", time.monotonic() - begin)


__all__ = ["Outcome", "Verdict", "judge"]
