"""Every scenario of the kit holds for our core, on real servers."""

from collections.abc import Callable
from typing import Any

import pytest

from armka.conformance.catalogue import SCENARIOS
from armka.conformance.runner import Outcome, judge
from armka.conformance.scenario import Scenario
from armka.conformance.target import Power
from armka.contract.subjects import Transport
from tests.conformance.conftest import MakeStage, Settings, settings_for, transports_of
from tests.conformance.stage import SHARED_POWERS, Stage


def on_every_transport(*, disturbing: bool) -> list[Any]:
    """Every scenario on every transport that it makes sense on."""
    return [
        pytest.param(scenario, transport, id=f"{scenario.id}-{transport}")
        for transport in Transport
        for scenario in SCENARIOS
        if scenario.is_disturbing is disturbing and transport in transports_of(scenario)
    ]


@pytest.mark.parametrize(("scenario", "transport"), on_every_transport(disturbing=False))
async def test_a_standing_core_conforms(
    scenario: Scenario, transport: Transport, standing: Callable[[Settings], Stage]
) -> None:
    """On one core for all of the same settings, beside what the others left."""
    stage = standing(settings_for(scenario, transport))
    verdict = await judge(scenario, stage.target(SHARED_POWERS))
    assert verdict.outcome is Outcome.PASSED, f"{verdict.detail}\n\n{stage.said()[-5000:]}"


@pytest.mark.parametrize(("scenario", "transport"), on_every_transport(disturbing=True))
async def test_a_core_conforms_through_disturbances(
    scenario: Scenario, transport: Transport, make_stage: MakeStage
) -> None:
    """On a core and servers of its own, which it stops, freezes and kills."""
    stage = await make_stage(settings_for(scenario, transport), scenario.powers)
    verdict = await judge(scenario, stage.target(frozenset(Power)))
    assert verdict.outcome is Outcome.PASSED, verdict.detail
