"""Prints docs/reference/scenarios.md: scenario × check × mutant, and where the specification's own
scenarios are proven.
"""

from collections.abc import Iterator

from armka.conformance.catalogue import SCENARIOS
from armka.conformance.scenario import Scenario
from armka.conformance.transports import MANNERS, Trait
from tests.conformance.mutants.mutant import Mutant
from tests.conformance.mutants.register import EXEMPT, MUTANTS, ROOMS
from tests.conformance.specification import CHANGES, Told

HEAD = """\
# Scenarios

What the exchange promises ([requirements](../requirements.md)), as checks that see only the tables,
the subjects and S3. They live in `src/armka/conformance` and run against any core;
`tests/conformance` runs them against ours, on real servers and on both transports, and
`armka conform core --database … --nats … --s3 …` against the one that you name: `--setting
NAME=VALUE` tells how it is set, `--transport`, `--api` and `--superuser` the rest, and what does
not apply is told with its reason. Change this page in the code, then run `make reference`.

A check that nothing can fail is no check. So each is pointed at a **mutant**: the same core with
one deliberate fault. `make test` runs every mutant against the scenarios that must catch it,
`make mutants` against all scenarios that disturb no server."""

TABLE = "| Scenario | Proves | What must be seen | Needs | Fails on |\n|---|---|---|---|---|"
FAULTS = "| Mutant | Its fault | Caught by |\n|---|---|---|"
TOLD = "| Scenario of the specification | Proven by |\n|---|---|"


def main() -> None:
    print("\n\n".join([HEAD, *_transports(), *_scenarios(), *_mutants(), *_specification()]))  # noqa: T201


def _transports() -> Iterator[str]:
    yield "## What the transports do differently"
    yield "Every scenario runs on both, but for those that need one of these."
    rows = [
        _cells(trait, *("yes" if trait in manner.traits else "no" for manner in MANNERS.values()))
        for trait in Trait
    ]
    head = _cells("It does", *(f"`{transport}`" for transport in MANNERS))
    unwritable = [f"`{status}`, kept as {reasons}" if reasons else f"`{status}`"
        for status, reasons in (
            (manner.unwritable[0], ", ".join(manner.unwritable[1])) for manner in MANNERS.values()
        )]  # fmt: skip
    rows.append(_cells("a job whose result can never be written is", *unwritable))
    yield "\n".join([head, "|" + "---|" * (1 + len(MANNERS)), *rows])


def _scenarios() -> Iterator[str]:
    for room in dict.fromkeys(scenario.room for scenario in SCENARIOS):
        rows = [_row(scenario) for scenario in SCENARIOS if scenario.room == room]
        yield "\n".join([f"## {room.capitalize()}", "", TABLE, *rows])


def _row(scenario: Scenario) -> str:
    promises = " ".join(scenario.promises)
    return _cells(
        f"`{scenario.id}`", promises, scenario.summary, _needs(scenario), _fails_on(scenario)
    )


def _needs(scenario: Scenario) -> str:
    needs = [f"`{demand}`" for demand in scenario.demands]
    needs += sorted(power.value for power in scenario.powers)
    needs += [f"a transport that does {trait}" for trait in sorted(scenario.traits)]
    return "; ".join(needs) or "–"


def _fails_on(scenario: Scenario) -> str:
    names = [f"`{mutant.id}`" for mutant in MUTANTS if scenario.id in mutant.caught_by]
    return ", ".join(names) or f"no mutant: {EXEMPT[scenario.id]}"


def _mutants() -> Iterator[str]:
    yield f"## Mutants\n\n{len(MUTANTS)} faults, each caught."
    for room in ROOMS:
        name = room.__name__.rpartition(".")[2]
        rows = [_fault(it) for it in vars(room).values() if isinstance(it, Mutant)]
        yield "\n".join([f"### Faults: {name}", "", FAULTS, *rows])


def _fault(mutant: Mutant) -> str:
    catchers = ", ".join(f"`{name}`" for name in mutant.caught_by)
    return _cells(f"`{mutant.id}`", mutant.fault, catchers)


def _specification() -> Iterator[str]:
    yield "## The specification's own scenarios"
    for change, told in CHANGES.items():
        yield "\n".join([f"### {change}", "", TOLD, *(_proof(one) for one in told)])


def _proof(told: Told) -> str:
    proofs = [f"`{one.id}`" for one in SCENARIOS if told.title in one.titles]
    proofs += [f"`{where}`" if "::" in where else where for where in told.elsewhere]
    return _cells(told.title, ", ".join(proofs))


def _cells(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    main()
