"""Every scenario of the kit holds for our core, on real servers."""

from collections.abc import Callable

import pytest

from armka.conformance.catalogue import SCENARIOS
from armka.conformance.runner import Outcome, judge
from armka.conformance.scenario import Scenario
from armka.conformance.target import Power
from tests.conformance.conftest import MakeStage, Settings, settings_for
from tests.conformance.stage import SHARED_POWERS, Stage


@pytest.mark.parametrize(
    "scenario", [one for one in SCENARIOS if not one.is_disturbing], ids=lambda one: one.id
)
async def test_a_standing_core_conforms(
    scenario: Scenario, standing: Callable[[Settings], Stage]
) -> None:
    """On one core for all of the same settings, beside what the others left."""
    stage = standing(settings_for(scenario))
    verdict = await judge(scenario, stage.target(SHARED_POWERS))
    assert verdict.outcome is Outcome.PASSED, f"{verdict.detail}\n\n{stage.said()[-5000:]}"


@pytest.mark.parametrize(
    "scenario", [one for one in SCENARIOS if one.is_disturbing], ids=lambda one: one.id
)
async def test_a_core_conforms_through_disturbances(
    scenario: Scenario, make_stage: MakeStage
) -> None:
    """On a core and servers of its own, which it stops, freezes and kills."""
    stage = await make_stage(settings_for(scenario), scenario.powers)
    verdict = await judge(scenario, stage.target(frozenset(Power)))
    assert verdict.outcome is Outcome.PASSED, verdict.detail
