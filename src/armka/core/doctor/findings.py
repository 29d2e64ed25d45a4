"""What a check found."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

EXAMPLES = 3


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    DRIFT = "drift"  # what must not be is there
    UNREACHED = "unreached"  # nothing is known: a server was away, or too slow
    SKIPPED = "skipped"  # it does not apply now


@dataclass(frozen=True)
class Finding:
    """One check's answer; `count` is the number of things that drifted, `capped` where there may be
    more.
    """

    check: str
    state: State
    drift: str
    remedy: str
    count: int = 0
    capped: bool = False
    examples: tuple[str, ...] = ()
    reason: str = ""

    @property
    def is_well(self) -> bool:
        """Whether nobody needs to act."""
        return self.state in {State.OK, State.SKIPPED}


@dataclass(frozen=True)
class Check:
    """What is looked for: `drift` says what it means when found, `remedy` what to do then."""

    name: str
    drift: str
    remedy: str

    def found(self, what: Sequence[str], limit: int | None = None) -> Finding:
        """The finding of these things; as many as `limit` may be a part of them."""
        state = State.DRIFT if what else State.OK
        capped = limit is not None and len(what) >= limit
        examples = tuple(what[:EXAMPLES])
        return Finding(self.name, state, self.drift, self.remedy, len(what), capped, examples)

    def unreached(self, reason: str) -> Finding:
        """Nothing is known."""
        return Finding(self.name, State.UNREACHED, self.drift, self.remedy, reason=reason)

    def skipped(self, reason: str) -> Finding:
        """It does not apply now."""
        return Finding(self.name, State.SKIPPED, self.drift, self.remedy, reason=reason)
