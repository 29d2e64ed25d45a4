"""A verdict is given on medians and ratios of several rounds, or not at all."""

import pytest

from bench.contest import Round
from bench.exchange import Latency
from bench.meter import Cost
from bench.report import Floor, Row, TooFewRounds, floors, percentile, ratios, spread


def row(*rates: float, name: str = "a") -> Row:
    cost = Cost({"worker": 1.0, "postgres": 2.0, "others": 0.0}, statements=50, wal_bytes=1024)
    return Row(name, "", [Round(1000, 1.0, 1000 / rate, cost, 80.0) for rate in rates])


def test_a_ratio_is_of_the_same_round() -> None:
    """A slow minute slows both, so it does not show."""
    assert ratios(row(100, 10, 1000), row(200, 20, 2000)) == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0]])
def test_too_few_rounds_get_no_verdict(values: list[float]) -> None:
    """Neither good nor bad."""
    with pytest.raises(TooFewRounds):
        _ = Floor("speed", values, least=0.1).holds


def test_one_bad_round_decides_nothing() -> None:
    """The median does."""
    assert Floor("speed", [0.1, 0.7, 0.9], least=0.6).holds
    assert not Floor("speed", [0.1, 0.5, 9.9], least=0.6).holds
    assert Floor("time", [4.0, 4.5, 90.0], most=5.0).holds
    assert not Floor("time", [1.0, 5.5, 6.0], most=5.0).holds


def test_costs_are_told_for_a_thousand_jobs() -> None:
    """Whatever the number of jobs was."""
    measured = row(10, 20, 30)

    assert measured.cpu("postgres") == 2.0
    assert measured.statements == 50
    assert measured.wal_kib == 1.0
    assert spread([played.rate for played in measured.rounds]) == "20 (10-30)"


def test_a_percentile_is_a_value_that_was_measured() -> None:
    """Not an average of two."""
    assert percentile([5, 1, 4, 2, 3], 0.5) == 3
    assert percentile(list(range(100)), 0.99) == 99


def test_floors_are_of_those_they_name() -> None:
    """However many others take part, and in whatever order."""
    names = ["SQL ceiling", "a guest", "PGQueuer no-ops", "PGQueuer, same shape", "arm-ka"]
    rows = [row(100, 100, 100, name=name) for name in names]
    idle = [Latency([1.0], [2.0])] * 3

    assert {floor.what: floor.holds for floor in floors(rows, idle, [])} == {
        "arm-ka / PGQueuer no-ops": True,
        "arm-ka / PGQueuer, same shape": False,
        "arm-ka / SQL ceiling": True,
        "idle, insert to wire, p50, ms": True,
        "idle, insert to done, p50, ms": True,
        "idle, insert to done, p99, ms": True,
    }
