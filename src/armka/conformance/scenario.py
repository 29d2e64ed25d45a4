"""A scenario: what it proves, what it needs, and its check."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from armka.conformance.surface import Surface
from armka.conformance.target import Power, Target
from armka.conformance.transports import Trait

Check = Callable[[Surface], Awaitable[None]]

# What these do reaches beyond the scenario's own rows.
_DISTURBING = frozenset(Power) - {Power.HEALTH, Power.RETRY, Power.SUPERUSER}


@dataclass(frozen=True)
class Demand:
    """A setting that the core under test must have; `value` is what to set where one may choose.

    Without bounds it must have this very value.
    """

    setting: str
    value: float | str
    at_least: float | None = None
    at_most: float | None = None

    def reason_against(self, target: Target) -> str | None:
        """Why a core does not meet it; None where it does."""
        actual = target.setting(self.setting)
        if actual == self.value or (self._is_bounded and self._holds(actual)):
            return None
        return f"needs {self}; this core has {'another' if actual is None else f'{actual}'}"

    @property
    def _is_bounded(self) -> bool:
        return self.at_least is not None or self.at_most is not None

    def _holds(self, actual: float | str | None) -> bool:
        if actual is None or isinstance(actual, str):
            return False
        low = self.at_least is None or actual >= self.at_least
        return low and (self.at_most is None or actual <= self.at_most)

    def __str__(self) -> str:
        low = f" ≥ {self.at_least:g}" if self.at_least is not None else ""
        high = f" ≤ {self.at_most:g}" if self.at_most is not None else ""
        return f"{self.setting}{low}{high}" if self._is_bounded else f"{self.setting}={self.value}"


@dataclass(frozen=True)
class Scenario:
    """One promise or a few, seen from outside."""

    id: str
    room: str
    summary: str
    promises: tuple[str, ...]
    titles: tuple[str, ...]
    demands: tuple[Demand, ...]
    powers: frozenset[Power]
    traits: frozenset[Trait]
    check: Check

    @property
    def is_disturbing(self) -> bool:
        """Whether it needs a core and servers of its own."""
        return bool(self.powers & _DISTURBING)

    def reason_against(self, target: Target) -> str | None:
        """Why it does not apply to a core; None where it does."""
        missing = sorted(self.powers - target.powers)
        if missing:
            return f"needs somebody who can {', '.join(missing)}"
        unlike = sorted(self.traits - target.manner.traits)
        if unlike:
            return f"the transport {target.nats.transport} does not {', '.join(unlike)}"
        reasons = (demand.reason_against(target) for demand in self.demands)
        return next((reason for reason in reasons if reason), None)


def scenario(
    promises: str,
    *titles: str,
    demands: tuple[Demand, ...] = (),
    powers: tuple[Power, ...] = (),
    traits: tuple[Trait, ...] = (),
) -> Callable[[Check], Scenario]:
    """Make a check a scenario: its id is the function's name, its summary the docstring.

    `promises`: ids of the requirements; `titles`: the specification's own, where it has one;
    `traits`: what a transport must do for it to make sense.
    """

    def make(check: Check) -> Scenario:
        name = getattr(check, "__name__", "")
        return Scenario(
            id=name.replace("_", "-"),
            room=check.__module__.rpartition(".")[2],
            summary=" ".join((inspect.getdoc(check) or "").split()),
            promises=tuple(promises.split()),
            titles=titles,
            demands=demands,
            powers=frozenset(powers),
            traits=frozenset(traits),
            check=check,
        )

    return make
