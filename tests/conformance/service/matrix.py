"""`make mutants`: every fault of a service against every check of its transport. Prints for each
who saw it.
"""

from pathlib import Path

import pytest

from armka.conformance.outcome import Outcome
from armka.conformance.service.catalogue import CHECKS
from armka.stack import NatsServer, ObjectServer
from tests.conformance.service import stage
from tests.conformance.service.fault import Fault
from tests.conformance.service.faults import FAULTS
from tests.conformance.service.test_service_mutants import PATIENCE_SECONDS


@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.id)
async def test_who_sees_it(
    fault: Fault, nats_server: NatsServer, object_store_server: ObjectServer, tmp_path: Path
) -> None:
    """At least those whom the fault names."""
    target = stage.target(
        nats_server, object_store_server, fault.id, fault.transport,
        patience_seconds=PATIENCE_SECONDS,
    )  # fmt: skip
    seen = []
    for check in CHECKS:  # each on a process of its own: a fault may be the end of it
        (verdict,) = await stage.judged(target, [check], fault.id, tmp_path / "log")
        seen += [check.id] if verdict.outcome is Outcome.FAILED else []
    print(f"{fault.id}: {', '.join(seen)}")  # noqa: T201 - the matrix, row by row
    assert set(fault.caught_by) <= set(seen), fault.fault
