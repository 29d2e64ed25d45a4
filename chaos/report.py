"""The account of a soak, as text and as JSON."""

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from chaos.driver import Sending
from chaos.reckoning import CLASSES, Reckoning
from chaos.schedule import Fault

# A fault is blamed for what the senders felt until so long after it was healed.
_BLAME_SECONDS = 20.0
_SHOWN = 50


@dataclass(frozen=True)
class Inflicted:
    """A fault as it was: Unix times of its begin, and of when the victim was whole again."""

    fault: Fault
    begun: float
    healed: float


@dataclass
class Report:
    """Everything a reader of the run needs."""

    seed: int
    seconds: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    faults: list[dict[str, Any]] = field(default_factory=list)
    classes: dict[str, int] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    spreads: dict[str, dict[str, float]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    # Of what every sample ends as, with its lines: the same for every run that kept all promises.
    end_state: str = ""

    def take(self, reckoning: Reckoning) -> None:
        """Add the classes and what was found in the bucket."""
        self.classes = {kind: reckoning.classes[kind] for kind in CLASSES}
        self.notes["results that nobody claimed (their job had ended)"] = (
            reckoning.unclaimed_results
        )
        self.notes["uploads without rows (for the sweep)"] = reckoning.unswept_uploads
        self.violations += reckoning.violations

    def json(self) -> str:
        """The whole of it."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2, default=str)

    def text(self) -> str:
        """For a person."""
        parts = [
            f"seed {self.seed}; repeat with SEED={self.seed}",
            _line("versions", self.versions),
            _line("seconds", {name: round(value) for name, value in self.seconds.items()}),
            "",
            "documents    " + ", ".join(f"{self.classes[kind]} {kind}" for kind in self.classes),
            *(_line(what, counts) for what, counts in self.counts.items()),
            *(f"{count:>12} {what}" for what, count in self.notes.items()),
            "",
            *(_spread(name, spread) for name, spread in self.spreads.items()),
            "",
            f"end state    {self.end_state}",
            f"violations   {len(self.violations)}",
            *(f"  {violation}" for violation in self.violations[:_SHOWN]),
            *(f"remark       {remark}" for remark in self.remarks[:_SHOWN]),
        ]
        return "\n".join(parts)


def _line(what: str, counts: dict[str, Any]) -> str:
    return f"{what:<12} " + ", ".join(f"{name}: {count}" for name, count in counts.items())


def _spread(name: str, spread: dict[str, float]) -> str:
    values = "  ".join(f"{key} {value:6.2f} s" for key, value in spread.items())
    return f"{name:<42} {values}"


def spread(values: Iterable[float]) -> dict[str, float]:
    """p50, p95, max."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {
        "p50": ordered[math.ceil(0.5 * len(ordered)) - 1],
        "p95": ordered[math.ceil(0.95 * len(ordered)) - 1],
        "max": ordered[-1],
    }


def unavailability(fault: Inflicted, confirmed: Sequence[float]) -> float:
    """The longest time without a confirmed upload that touches the fault; `confirmed` is sorted."""
    until = fault.healed + _BLAME_SECONDS
    touching = [
        after - before
        for before, after in itertools.pairwise(confirmed)
        if after >= fault.begun and before <= until
    ]
    return max(touching, default=0.0)


def recovery(fault: Inflicted, ended: Sequence[tuple[float, float]]) -> float | None:
    """From the heal to the first end of a document sent after it; `ended`: (sent, ended)."""
    ends = [end for sent, end in ended if sent >= fault.healed]
    return min(ends) - fault.healed if ends else None


def confirmations(sent: Sequence[Sending]) -> list[float]:
    """When uploads were confirmed."""
    last = [sending.tries[-1] for sending in sent if sending.is_accepted]
    return sorted(one.at + one.seconds for one in last)


def by_kind(faults: Sequence[Inflicted]) -> dict[str, int]:
    """How many of each."""
    return dict(Counter(f"{it.fault.harm} {it.fault.victim.split('-')[0]}" for it in faults))
