"""The checks can fail: each fault of a service is seen by the checks that it names, and every check
is named by a fault.
"""

import asyncio
from pathlib import Path

import pytest

from armka.conformance.outcome import Outcome
from armka.conformance.service.catalogue import BY_ID, CHECKS
from armka.contract.subjects import Transport
from armka.stack import NatsServer, ObjectServer
from tests.conformance.service import stage
from tests.conformance.service.fault import Fault
from tests.conformance.service.faults import FAULTS

# What a conforming service does it does in less; what must come and does not costs so much.
PATIENCE_SECONDS = 3.0
_AT_ONCE = 8
_SOME = 10

ALL = list(FAULTS.values())
GROUPS = [ALL[start : start + _SOME] for start in range(0, len(ALL), _SOME)]


# Waits, hardly computes: a busy machine takes much longer.
@pytest.mark.timeout(400)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0].id)
async def test_faults_are_seen(
    group: list[Fault],
    nats_server: NatsServer,
    object_store_server: ObjectServer,
    tmp_path: Path,
) -> None:
    """A service with this fault does not conform, as each check that it names tells."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def missed(fault: Fault) -> list[str]:
        async with turn:
            return await _missed(fault, nats_server, object_store_server, tmp_path)

    assert [name for some in await asyncio.gather(*map(missed, group)) for name in some] == []


async def _missed(fault: Fault, nats: NatsServer, objects: ObjectServer, folder: Path) -> list[str]:
    target = stage.target(
        nats, objects, fault.id, fault.transport, patience_seconds=PATIENCE_SECONDS
    )
    checks = [BY_ID[name] for name in fault.caught_by]
    verdicts = await stage.judged(target, checks, fault.id, folder / fault.id)
    passed = [one for one in verdicts if one.outcome is not Outcome.FAILED]
    return [f"{fault.id}: {one.check.id} {one.outcome.value}" for one in passed]


def test_every_check_can_fail() -> None:
    """A check that no fault fails is no check."""
    caught = {check for fault in ALL for check in fault.caught_by}
    assert {one.id for one in CHECKS} == caught


def test_faults_are_told_apart() -> None:
    """Faults are told, and most of them are of the transport that is the default."""
    assert all(fault.fault and fault.caught_by for fault in ALL)
    assert {fault.transport for fault in ALL} == set(Transport)
