"""Three NATS nodes with a copy of the stream each: what kills or stops one does not stop the
exchange. `make cluster` freezes the leader for longer.
"""

import asyncio
from pathlib import Path

from chaos.cluster import run

# Every waiting job is on the wire again within so many seconds (N4, §8).
_AT_MOST_SECONDS = 60.0


def test_the_exchange_outlives_its_leader(tmp_path: Path) -> None:
    """Killed, frozen until others have taken over, all restarted in turn: every job ends once, as
    its service said.
    """
    account = asyncio.run(run(tmp_path, 0.0))
    print(account.text())  # noqa: T201 - pytest shows it where the test fails
    assert account.violations == []
    assert len(account.blows) == 3
    assert all(blow.recovered < 2 * _AT_MOST_SECONDS for blow in account.blows)
