"""Medians, ratios and a verdict. One number of one round says nothing, so none is printed alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

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
_LEAST_RATIOS = {"PGQueuer no-ops": 0.6, "PGQueuer, same shape": 3.0, "SQL ceiling": 0.5}


def floors(rows: Sequence[Row], idle: Sequence[Latency], resident: Sequence[float]) -> list[Floor]:
    """What must hold, each judged by ratios or times of this run."""
    by_name = {row.name: row for row in rows}
    ours = by_name["arm-ka"]
    to_wire = [percentile(one.to_wire, 0.5) for one in idle]
    to_done = [percentile(one.to_done, 0.5) for one in idle]
    slowest = [percentile(one.to_done, 0.99) for one in idle]
    found = [
        *(
            Floor(f"arm-ka / {peer}", ratios(ours, by_name[peer]), least=least)
            for peer, least in _LEAST_RATIOS.items()
        ),
        Floor("idle, insert to wire, p50, ms", to_wire, most=5.0),
        Floor("idle, insert to done, p50, ms", to_done, most=12.0),
        Floor("idle, insert to done, p99, ms", slowest, most=40.0),
    ]
    if resident:
        # The first reading is a warm process; the last ones tell whether it grew from there.
        growth = [reading / resident[0] for reading in resident[-LEAST_ROUNDS:]]
        found.append(
            Floor("memory at the end / after the first 10,000 jobs", growth, most=_FLAT_SHARE)
        )
    return found


def report(rows: Sequence[Row], idle: Sequence[Latency], resident: Sequence[float]) -> str:
    """The tables in Markdown, medians (min-max) everywhere."""
    parts = [_speed(rows), _cost(rows), _idle(idle)]
    if resident:
        readings = ", ".join(f"{reading:.0f}" for reading in resident)
        parts.append(f"Resident MiB of the core after each 10,000 jobs: {readings}.")
    return "\n\n".join(parts)


def _speed(rows: Sequence[Row]) -> str:
    ours = rows[0]
    return table(
        ["", "jobs/s", "with the enqueue", "arm-ka is so many times as fast"],
        [
            [
                row.name,
                spread([played.rate for played in row.rounds]),
                spread([played.whole_rate for played in row.rounds]),
                spread(ratios(ours, row), 2),
            ]
            for row in rows
        ],
    )


def _cost(rows: Sequence[Row]) -> str:
    return table(
        ["For 1,000 jobs", "CPU s: worker", "PostgreSQL", "others", "statements", "WAL KiB", "MiB"],
        [
            [
                row.name,
                *(f"{row.cpu(group):.3f}" for group in ("worker", "postgres", "others")),
                f"{row.statements:,.0f}",
                f"{row.wal_kib:,.0f}",
                f"{row.resident:.0f}",
            ]
            for row in rows
        ],
    )


def _idle(idle: Sequence[Latency]) -> str:
    measured = {
        "insert to wire": [one.to_wire for one in idle],
        "insert to done": [one.to_done for one in idle],
    }
    return table(
        ["Idle, ms", "p50", "p99"],
        [
            [
                name,
                *(spread([percentile(one, share) for one in values], 1) for share in (0.5, 0.99)),
            ]
            for name, values in measured.items()
        ],
    )


def verdict(judged: Sequence[Floor]) -> str:
    """Which floors hold."""
    return table(
        ["Floor", "must be", "median (min-max)", ""],
        [
            [floor.what, floor.bound, spread(floor.values, 2), "holds" if floor.holds else "missed"]
            for floor in judged
        ],
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, numbers to the right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
