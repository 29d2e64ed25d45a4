"""Which process is harmed when, how and for how long: decided by a seed alone, pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Harm(StrEnum):
    """What is done to a process."""

    KILL = "kill"  # SIGKILL; started again after the fault's seconds
    FREEZE = "freeze"  # SIGSTOP; SIGCONT after the fault's seconds
    RESTART = "restart"  # stopped in order, and started again at once


VICTIMS = ("postgres", "nats", "s3", "core-1", "core-2", "service-1", "service-2")

_FIRST, _LAST = 0.02, 0.98


@dataclass(frozen=True)
class Fault:
    """One fault; times in seconds, `at` since the storm began."""

    number: int
    at: float
    victim: str
    harm: Harm
    seconds: float

    def __str__(self) -> str:
        how_long = "" if self.harm is Harm.RESTART else f" {self.seconds:.1f} s"
        return f"#{self.number} at {self.at:.1f} s: {self.harm} {self.victim}{how_long}"


def plan(
    seed: int,
    storm_seconds: float,
    count: int,
    longest_seconds: float,
    victims: Sequence[str] = VICTIMS,
) -> list[Fault]:
    """`count` faults, spread over the storm. Every victim suffers every harm before any pair comes
    again.
    """
    random = Random(seed)
    pairs = _pairs(random, victims)
    step = storm_seconds * (_LAST - _FIRST) / count
    return [
        Fault(
            number + 1,
            storm_seconds * _FIRST + step * (number + random.uniform(0, 0.8)),
            *next(pairs),
            _duration(random, longest_seconds),
        )
        for number in range(count)
    ]


def _pairs(random: Random, victims: Sequence[str]) -> Iterator[tuple[str, Harm]]:
    every = [(victim, harm) for victim in victims for harm in Harm]
    while True:
        random.shuffle(every)
        yield from every


def _duration(random: Random, longest: float) -> float:
    """Mostly short; now and then as long as may be."""
    return min(longest, 0.3 + random.expovariate(3 / longest))
