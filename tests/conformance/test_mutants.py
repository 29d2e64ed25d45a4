"""The checks can fail: each mutant is caught by the scenarios that it names, and every scenario is
named by a mutant, or has a reason.
"""

import asyncio
from itertools import groupby

import pytest

from armka.conformance.catalogue import BY_ID, SCENARIOS
from armka.conformance.runner import Outcome, Verdict, judge
from armka.conformance.scenario import Scenario
from armka.conformance.target import Power
from tests.conformance.conftest import MakeStage, Settings, settings_for, transports_of
from tests.conformance.mutants.mutant import Mutant
from tests.conformance.mutants.register import EXEMPT, MUTANTS
from tests.conformance.stage import Stage

# A core that does what it should does it in less; see the scenarios' own test.
PATIENCE_SECONDS = 5.0


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
async def test_a_mutant_is_caught(mutant: Mutant, make_stage: MakeStage) -> None:
    """A core with this fault does not conform, as each of its catchers tells."""
    catchers = sorted((BY_ID[name] for name in mutant.caught_by), key=by_core)
    groups = [list(group) for _, group in groupby(catchers, key=by_core)]
    verdicts = await asyncio.gather(*(_judge(mutant, group, make_stage) for group in groups))
    ended = {one.scenario.id: one.outcome for some in verdicts for one in some}
    assert ended == dict.fromkeys(ended, Outcome.FAILED), mutant.fault


def by_core(scenario: Scenario) -> str:
    """What may share a core."""
    return scenario.id if scenario.is_disturbing else str(sorted(_settings(scenario).items()))


def _settings(scenario: Scenario) -> Settings:
    """On the first transport that the scenario makes sense on."""
    return settings_for(scenario, transports_of(scenario)[0])


async def stage_of(mutant: Mutant, scenario: Scenario, make_stage: MakeStage) -> Stage:
    """A core with the fault, and the settings that the scenario asks for."""
    return await make_stage(_settings(scenario), scenario.powers, mutant)


async def _judge(mutant: Mutant, group: list[Scenario], make_stage: MakeStage) -> list[Verdict]:
    stage = await stage_of(mutant, group[0], make_stage)
    target = stage.target(frozenset(Power), PATIENCE_SECONDS)
    return [await judge(scenario, target) for scenario in group]


def test_every_scenario_can_fail() -> None:
    """A check that no fault fails is no check."""
    caught = {scenario for mutant in MUTANTS for scenario in mutant.caught_by}
    assert {scenario.id for scenario in SCENARIOS} - caught == set(EXEMPT)


def test_the_mutants_are_told_apart() -> None:
    """Ids are unique, faults are told, catchers exist."""
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.fault and mutant.caught_by for mutant in MUTANTS)
    assert {one for mutant in MUTANTS for one in mutant.caught_by} <= set(BY_ID)
