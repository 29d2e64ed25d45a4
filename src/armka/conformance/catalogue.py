"""Every scenario, in the order of a job's life."""

from types import ModuleType

from armka.conformance.scenario import Scenario
from armka.conformance.scenarios import (
    acknowledging,
    attempts,
    enduring,
    keeping,
    mapping,
    publishing,
    refusing,
    results,
    watching,
)

ROOMS = (
    publishing, acknowledging, results, refusing, watching, mapping, attempts, enduring, keeping,
)  # fmt: skip


def _of(room: ModuleType) -> list[Scenario]:
    return [member for member in vars(room).values() if isinstance(member, Scenario)]


SCENARIOS = tuple(scenario for room in ROOMS for scenario in _of(room))
BY_ID = {scenario.id: scenario for scenario in SCENARIOS}
