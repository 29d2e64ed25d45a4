"""A check: what it proves, what it needs, and how it looks."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need, Target

Look = Callable[[Surface], Awaitable[None]]


@dataclass(frozen=True)
class Check:
    """One promise that a service makes, seen from outside."""

    id: str
    room: str
    summary: str
    promises: tuple[str, ...]
    needs: tuple[Need, ...]
    look: Look

    def reason_against(self, target: Target) -> str | None:
        """Why it does not apply to a service; None where it does."""
        reasons = (need.reason_against(target) for need in self.needs)
        return next((reason for reason in reasons if reason), None)


def check(promises: str, *needs: Need) -> Callable[[Look], Check]:
    """Make a function a check: its id is the function's name, its summary the docstring."""

    def make(look: Look) -> Check:
        return Check(
            id=getattr(look, "__name__", "").replace("_", "-"),
            room=look.__module__.rpartition(".")[2],
            summary=" ".join((inspect.getdoc(look) or "").split()),
            promises=tuple(promises.split()),
            needs=needs,
            look=look,
        )

    return make
