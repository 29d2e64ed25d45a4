"""Prints docs/reference/checks.md: check × fault of a service."""

from collections.abc import Callable, Iterator

from armka.conformance.service.catalogue import CHECKS
from armka.conformance.service.check import Check
from armka.conformance.service.target import Need
from tests.conformance.service.fault import Fault
from tests.conformance.service.faults import FAULTS
from tests.scan_gateway.mutants import MUTANTS

HEAD = """\
# Checks of a service

What a recognition service owes ([requirements](../requirements.md) §2, §3), as
`armka conform service` asks it: [how to use it](../howto/write-a-service.md#the-verdict). They live
in `src/armka/conformance/service`. Change this page in the code, then run `make reference`.

A check that nothing can fail is no check. So each is pointed at **faults**: a small conforming
service with one thing wrong. `make test` runs every fault against the checks that must see it,
`make mutants` against all of them."""

TABLE = "| Check | Proves | What must be seen | Needs | Fails on |\n|---|---|---|---|---|"
FAULT_TABLE = "| Fault | What is wrong | Seen by |\n|---|---|---|"
GATEWAY_HEAD = """\
## Faults of scan-gateway

What stands between a request and ИС Сканирование is checked by `tests/scan_gateway`. {count}
gateways with one thing wrong, each seen (`tests/scan_gateway/mutants.py`).
"""
NEEDS = {
    Need.COMMAND: "`--command`",
    Need.DOCUMENT: "a file that it reads",
    Need.STREAM: "`--transport jetstream`",
    Need.CORE: "`--transport core`",
    Need.REPEATS: "on a stream, a short duplicate window",
    Need.ENCRYPTION: "`detects_encryption`",
    Need.ANSWERS: "`repeats_until_answered`",
}


def main() -> None:
    print("\n\n".join([HEAD, *_checks(), _faults(), _gateways_faults()]))  # noqa: T201


def _checks() -> Iterator[str]:
    for room in dict.fromkeys(check.room for check in CHECKS):
        rows = [_row(check) for check in CHECKS if check.room == room]
        yield "\n".join([f"## {room.capitalize()}", "", TABLE, *rows])


def _row(check: Check) -> str:
    needs = ", ".join(NEEDS[need] for need in check.needs) or "–"
    fails = ", ".join(f"`{it.id}`" for it in FAULTS.values() if check.id in it.caught_by)
    return _cells(f"`{check.id}`", " ".join(check.promises), check.summary, needs, fails)


def _faults() -> str:
    rows = [_fault(fault) for fault in FAULTS.values()]
    head = f"## Faults\n\n{len(FAULTS)} services with one thing wrong, each seen.\n"
    return "\n".join([head, FAULT_TABLE, *rows])


def _fault(fault: Fault) -> str:
    seen = ", ".join(f"`{name}`" for name in fault.caught_by)
    return _cells(f"`{fault.id}`", fault.fault, seen)


def _gateways_faults() -> str:
    rows = [
        _cells(f"`{it.id}`", it.fault, ", ".join(f"`{_place(check)}`" for check in it.caught_by))
        for it in MUTANTS
    ]
    return "\n".join([GATEWAY_HEAD.format(count=len(MUTANTS)), FAULT_TABLE, *rows])


def _place(check: Callable[..., object]) -> str:
    return f"{check.__module__.rpartition('.')[2]}.py::{check.__name__}"


def _cells(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


if __name__ == "__main__":
    main()
