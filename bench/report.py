"""Medians, ratios and a verdict. One number of one round says nothing, so none is printed alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.contest import Round

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
