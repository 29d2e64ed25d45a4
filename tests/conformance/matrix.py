"""`make mutants`: every mutant against every scenario that disturbs no server, and against the
disturbing ones that it names. Prints for each mutant who saw it.
"""

import asyncio
from collections.abc import Iterable
from itertools import groupby

import pytest

from armka.conformance.catalogue import SCENARIOS
from armka.conformance.runner import Outcome, Verdict, judge
from armka.conformance.scenario import Scenario
from armka.conformance.target import Power, Target
from tests.conformance.conftest import MakeStage
from tests.conformance.mutants.mutant import Mutant
from tests.conformance.mutants.register import MUTANTS
from tests.conformance.test_mutants import PATIENCE_SECONDS, by_core, stage_of

_AT_ONCE = 6


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
async def test_who_sees_it(mutant: Mutant, make_stage: MakeStage) -> None:
    """At least those whom the mutant names."""
    wanted = [one for one in SCENARIOS if not one.is_disturbing or one.id in mutant.caught_by]
    seen: list[str] = []
    for _, group in groupby(sorted(wanted, key=by_core), key=by_core):
        scenarios = list(group)
        stage = await stage_of(mutant, scenarios[0], make_stage)
        verdicts = await _judge_together(
            scenarios, stage.target(frozenset(Power), PATIENCE_SECONDS)
        )
        seen += [one.scenario.id for one in verdicts if one.outcome is Outcome.FAILED]
        await stage.kill_cores()
    print(f"{mutant.id}: {', '.join(seen)}")  # noqa: T201 - the matrix, row by row
    assert set(mutant.caught_by) <= set(seen), mutant.fault


async def _judge_together(scenarios: Iterable[Scenario], target: Target) -> list[Verdict]:
    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(scenario: Scenario) -> Verdict:
        async with turn:
            return await judge(scenario, target)

    return await asyncio.gather(*(one(scenario) for scenario in scenarios))
