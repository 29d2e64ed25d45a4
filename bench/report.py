"""Medians, ratios and a verdict. One number of one round says nothing, so none is printed alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

from bench.contest import Round
from bench.exchange import Latency

LEAST_ROUNDS = 3


class TooFewRounds(Exception):
    """So few rounds are noise: no verdict."""

    def __init__(self, rounds: int) -> None:
        super().__init__(f"{rounds} rounds say nothing, at least {LEAST_ROUNDS} are needed")
        self.rounds = rounds


@dataclass(frozen=True)
class Row:
    """A contestant's rounds."""

    name: str
    about: str
    rounds: list[Round]

    @property
    def rate(self) -> float:
        """Jobs a second, the median."""
        return median(played.rate for played in self.rounds)

    def cpu(self, group: str) -> float:
        """CPU seconds for 1,000 jobs, the median."""
        return median(1000 * played.cost.cpu[group] / played.jobs for played in self.rounds)

    @property
    def statements(self) -> float:
        """Statements (round trips to the database) for 1,000 jobs, the median."""
        return median(1000 * played.cost.statements / played.jobs for played in self.rounds)

    @property
    def wal_kib(self) -> float:
        """WAL for 1,000 jobs in KiB, the median."""
        return median(1000 * played.cost.wal_bytes / played.jobs / 1024 for played in self.rounds)

    @property
    def resident(self) -> float:
        """The worker's resident MiB, the median."""
        return median(played.resident_mib for played in self.rounds)


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Median (min-max)."""
    low, middle, high = min(values), median(values), max(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that `share` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ratios(above: Row, below: Row) -> list[float]:
    """Round by round: the two of one round met the same minute."""
    return [a.rate / b.rate for a, b in zip(above.rounds, below.rounds, strict=True)]


def whole_ratios(above: Row, below: Row) -> list[float]:
    """As `ratios`, the bulk enqueue included."""
    return [a.whole_rate / b.whole_rate for a, b in zip(above.rounds, below.rounds, strict=True)]


@dataclass(frozen=True)
class Floor:
    """What a ratio or a time must reach."""

    what: str
    values: list[float]
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Judged by the median; raises TooFewRounds."""
        if len(self.values) < LEAST_ROUNDS:
            raise TooFewRounds(len(self.values))
        middle = median(self.values)
        return (self.least is None or middle >= self.least) and (
            self.most is None or middle <= self.most
        )

    @property
    def bound(self) -> str:
        """The limit in words."""
        return f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"


_FLAT_SHARE = 1.10


def floors(rows: Sequence[Row], idle: Sequence[Latency], resident: Sequence[float]) -> list[Floor]:
    """What must hold, each judged by ratios or times of this run."""
    ours, ceiling, no_ops, same_shape, _ = rows
    to_wire = [percentile(one.to_wire, 0.5) for one in idle]
    to_done = [percentile(one.to_done, 0.5) for one in idle]
    slowest = [percentile(one.to_done, 0.99) for one in idle]
    found = [
        Floor("arm-ka / PGQueuer no-ops, with the enqueue", whole_ratios(ours, no_ops), least=0.6),
        Floor("arm-ka / PGQueuer, same shape", ratios(ours, same_shape), least=3.0),
        Floor("arm-ka / SQL ceiling", ratios(ours, ceiling), least=0.5),
        Floor("idle, insert to wire, p50, ms", to_wire, most=5.0),
        Floor("idle, insert to done, p50, ms", to_done, most=12.0),
        Floor("idle, insert to done, p99, ms", slowest, most=40.0),
    ]
    if resident:
        # The first tenth warms up; against its end every later reading is held.
        growth = [reading / resident[0] for reading in resident[1:]]
        found.append(
            Floor("memory after each 10,000 jobs / after the first", growth, most=_FLAT_SHARE)
        )
    return found


def print_report(
    rows: Sequence[Row],
    idle: Sequence[Latency],
    resident: Sequence[float],
    judged: Sequence[Floor],
) -> None:
    """The tables, medians (min-max) everywhere."""
    console = Console(width=140)
    console.print(_contest_table(rows))
    for name, values in (
        ("insert to wire", [one.to_wire for one in idle]),
        ("insert to done", [one.to_done for one in idle]),
    ):
        middle = spread([percentile(one, 0.5) for one in values], 1)
        tail = spread([percentile(one, 0.99) for one in values], 1)
        console.print(f"idle, {name}: p50 {middle} ms, p99 {tail} ms")
    if resident:
        readings = ", ".join(f"{reading:.0f}" for reading in resident)
        console.print(f"resident MiB of the core after each 10,000 jobs: {readings}")
    console.print(_floor_table(judged))


def _contest_table(rows: Sequence[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in (
        "", "jobs/s", "with enqueue", "arm-ka's ratio", "CPU s / 1,000 jobs: worker", "PostgreSQL", "others",
        "statements / 1,000", "WAL KiB / 1,000", "worker MiB",
    ):  # fmt: skip
        table.add_column(column, justify="left" if not column else "right")
    for row in rows:
        table.add_row(
            row.name,
            spread([played.rate for played in row.rounds]),
            spread([played.whole_rate for played in row.rounds]),
            spread(ratios(rows[0], row), 2) if row is not rows[0] else "",
            *(f"{row.cpu(group):.3f}" for group in ("worker", "postgres", "others")),
            f"{row.statements:,.0f}",
            f"{row.wal_kib:,.0f}",
            f"{row.resident:.0f}",
        )
    return table


def _floor_table(judged: Sequence[Floor]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("floor", "must be", "is: median (min-max)", ""):
        table.add_column(column)
    for floor in judged:
        verdict = "[green]holds[/]" if floor.holds else "[red]missed[/]"
        table.add_row(floor.what, floor.bound, spread(floor.values, 2), verdict)
    return table
