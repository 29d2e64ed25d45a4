"""A mutant of the reference service: one deliberate fault, and the checks that must see it."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

from armka.contract.subjects import Transport
from tests.conformance.service.reference import Reference


@dataclass(frozen=True)
class Fault:
    """`kind` is the service with the fault."""

    id: str
    fault: str
    caught_by: tuple[str, ...]
    kind: type[Reference]
    transport: Transport


def fault(
    *caught_by: str, transport: Transport = Transport.CORE
) -> Callable[[type[Reference]], Fault]:
    """Make a class of services a fault; its docstring tells it."""

    def make(kind: type[Reference]) -> Fault:
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
        told = " ".join((inspect.getdoc(kind) or "").split())
        return Fault(name, told, caught_by, kind, transport)

    return make
