"""The gateway's checks can fail: each deliberate fault is seen by every check that it names."""

import asyncio
import inspect
from typing import Any

import pytest

from armka.objects.store import ObjectMissing
from tests.scan_gateway.conftest import ImageCore, Start
from tests.scan_gateway.mutants import MUTANTS, Check, Mutant
from tests.scan_gateway.peer import Peer

# What a gateway without faults does in less; what must come and does not costs so much.
PATIENCE_SECONDS = 10.0


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
async def test_a_fault_is_seen(
    mutant: Mutant, core: ImageCore, start: Start, peer: Peer, ledger: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    mutant.put_in(monkeypatch)
    given = {"core": core, "start": start, "peer": peer, "ledger": ledger}
    missed = [it.__name__ for it in mutant.caught_by if not await _sees(it, given, peer)]
    assert missed == [], mutant.fault


async def _sees(check: Check, given: dict[str, Any], peer: Peer) -> bool:
    wanted = inspect.signature(check).parameters
    chosen = {name: given[name] for name in wanted if name in given}
    peer.reset()
    try:
        if "gateway" in wanted:
            async with given["start"]() as gateway:
                await _played(check, **chosen | {"gateway": gateway})
        else:
            await _played(check, **chosen)
    except (AssertionError, TimeoutError, ObjectMissing):
        return True
    return False


async def _played(check: Check, **given: Any) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await check(**given)


def test_faults_are_told_apart() -> None:
    assert len({it.id for it in MUTANTS}) == len(MUTANTS) > 15
    assert all(it.fault and it.caught_by for it in MUTANTS)
