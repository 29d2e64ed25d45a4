"""Every mutant, and the scenarios that need none."""

from tests.conformance.mutants import exchange, inbox, keeping, mapping, outbox, watchdog
from tests.conformance.mutants.mutant import Mutant

ROOMS = (outbox, inbox, watchdog, mapping, exchange, keeping)

MUTANTS = tuple(
    member for room in ROOMS for member in vars(room).values() if isinstance(member, Mutant)
)
BY_ID = {mutant.id: mutant for mutant in MUTANTS}

# Scenario: why no mutant is aimed at it.
EXEMPT: dict[str, str] = {}
