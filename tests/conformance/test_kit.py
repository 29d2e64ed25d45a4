"""The kit itself: it says what does not apply, and its page and the specification agree with it."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from armka.conformance.catalogue import BY_ID, SCENARIOS
from armka.conformance.findings import Contradicted, Trail
from armka.conformance.runner import Outcome, judge
from armka.conformance.scenario import Demand
from armka.conformance.target import Power, Target
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from tests.conformance.specification import CHANGES

ROOT = Path(__file__).parents[2]
STRANGER = Target("postgresql://nobody@127.0.0.1:9/none", NatsSettings(), ObjectSettings())


def test_ids_are_unique_and_summaries_told() -> None:
    """An id is what a report and a request for one scenario name."""
    assert len(BY_ID) == len(SCENARIOS)
    assert all(scenario.summary and scenario.promises for scenario in SCENARIOS)


async def test_what_a_strangers_core_cannot_be_asked_does_not_apply() -> None:
    """Not applicable, with the reason, without touching the core; never silently passed."""
    for scenario in SCENARIOS:
        if scenario.powers:
            verdict = await judge(scenario, STRANGER)
            assert verdict.outcome is Outcome.NOT_APPLICABLE
            assert verdict.detail.startswith("needs somebody who can ")


def test_most_scenarios_apply_to_any_core() -> None:
    """A stranger's run with the default settings proves the greater part."""
    applicable = [one for one in SCENARIOS if one.reason_against(STRANGER) is None]
    assert len(applicable) > len(SCENARIOS) / 2


@pytest.mark.parametrize(
    ("demand", "settings", "meets"),
    [
        (Demand("ACK_TIMEOUT_SECONDS", 1, at_most=60), {}, True),
        (Demand("ACK_TIMEOUT_SECONDS", 1, at_most=10), {}, False),
        (Demand("ACK_TIMEOUT_SECONDS", 1, at_most=10), {"ACK_TIMEOUT_SECONDS": 2}, True),
        (Demand("OUTBOX_POLL_SECONDS", 60, at_least=15), {}, False),
        (Demand("OUTBOX_MAX_REPUBLISH", 3), {}, True),
        (Demand("OUTBOX_MAX_REPUBLISH", 0), {}, False),
        (Demand("NATS_ENABLED", "false"), {}, False),
        (Demand("NATS_ENABLED", "false"), {"NATS_ENABLED": "false"}, True),
    ],
)
def test_a_demand_is_held_against_the_cores_settings(
    demand: Demand, settings: dict[str, float | str], meets: bool
) -> None:
    """Those that are told, else the defaults of the requirements."""
    reason = demand.reason_against(replace(STRANGER, settings=settings))
    assert (reason is None) == meets
    assert reason is None or demand.setting in reason


def test_a_finding_says_what_was_sent_expected_and_seen() -> None:
    """And leaves out the first of very many things that were done."""
    trail = Trail()
    for number in range(100):
        trail.add(f"message {number}")
    text = str(Contradicted("the job is done", "status=error", trail.lines))
    assert "sent:     message 99\nexpected: the job is done\nseen:     status=error" in text
    assert "message 1\n" not in text


def test_every_scenario_of_the_specification_is_proven() -> None:
    """By scenarios of the kit, or by tests that exist."""
    told = {one.title: one for change in CHANGES.values() for one in change}
    ours = {title for scenario in SCENARIOS for title in scenario.titles}
    assert ours <= set(told)
    assert [title for title, one in told.items() if title not in ours and not one.elsewhere] == []
    for where in (where for one in told.values() for where in one.elsewhere if "::" in where):
        path, _, name = where.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text()


def test_every_promise_of_the_exchange_has_a_scenario() -> None:
    """§3-§7, but for credentials (N3) and what is no exchange."""
    promised = {promise for scenario in SCENARIOS for promise in scenario.promises}
    expected = {
        "C1",
        "C2",
        "C3",
        "N1",
        "N2",
        "N4",
        "N5",
        "W1",
        "A1",
        "M1",
        "Q1",
        "OQ-71",
        "§1",
        "§3",
        "§8",
    }
    expected |= {f"O{n}" for n in range(1, 6)} | {f"I{n}" for n in range(1, 9)}
    assert expected == promised


def test_the_powers_are_all_used() -> None:
    """A power that no scenario asks for is none."""
    assert {power for scenario in SCENARIOS for power in scenario.powers} == set(Power)


def test_the_page_is_what_the_code_says() -> None:
    """`make reference` writes it."""
    command = [sys.executable, "-m", "tests.conformance.page"]
    environment = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin"}
    fresh = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        encoding="utf-8", timeout=60,
    ).stdout  # fmt: skip
    assert (ROOT / "docs/reference/scenarios.md").read_text() == fresh, "run `make reference`"
