"""Every check, in the order of a request's life. The ones that stop the service come last."""

from types import ModuleType

from armka.conformance.service.check import Check
from armka.conformance.service.checks import (
    acknowledging,
    failing,
    refusing,
    repeating,
    results,
    sharing,
    stopping,
    streaming,
)

ROOMS = (acknowledging, results, failing, refusing, repeating, sharing, streaming, stopping)


def _of(room: ModuleType) -> list[Check]:
    return [member for member in vars(room).values() if isinstance(member, Check)]


CHECKS = tuple(check for room in ROOMS for check in _of(room))
BY_ID = {check.id: check for check in CHECKS}
