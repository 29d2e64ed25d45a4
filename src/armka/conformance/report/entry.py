"""What a report holds, whichever kit it is of."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from armka.conformance.outcome import Outcome


@dataclass(frozen=True)
class Entry:
    """One check or scenario. `detail`: what was expected and what came, where it failed; `note`:
    why it does not apply, or what else is to be told; `events`: what was sent and seen.
    """

    id: str
    room: str
    promises: tuple[str, ...]
    summary: str
    outcome: Outcome
    detail: str
    note: str
    events: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Report:
    """A run. `about`: what was judged, and how it was reached; no secrets."""

    title: str
    about: Mapping[str, str]
    begun: datetime
    entries: tuple[Entry, ...]

    def count(self, outcome: Outcome) -> int:
        """How many ended so."""
        return sum(1 for one in self.entries if one.outcome is outcome)

    @property
    def conforms(self) -> bool:
        """Whether nothing failed, and something was asked at all."""
        return not self.count(Outcome.FAILED) and self.count(Outcome.PASSED) > 0

    @property
    def verdict(self) -> str:
        """The whole of it, in a line."""
        counts = ", ".join(f"{self.count(one)} {one.value}" for one in Outcome)
        return f"{'conforms' if self.conforms else 'does not conform'}: {counts}"
