"""The soak in its short form: every process of the exchange is killed, frozen and restarted once
while documents pass. The seed is another one each time; a failure says how to repeat it.
"""

import asyncio
import random
from pathlib import Path

from chaos.__main__ import samples, soak
from chaos.soak import Soak

STORM_SECONDS = 100.0


def test_nothing_is_lost_doubled_overwritten_or_stuck(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    settings = Soak(
        seed=seed,
        files=300,
        faults=21,
        storm_seconds=STORM_SECONDS,
        longest_seconds=6.0,
        samples=samples(),
    )
    report = asyncio.run(soak(settings, tmp_path))
    print(report.text())  # noqa: T201 - pytest shows it where the test fails
    assert report.violations == [], f"repeat with: make soak SEED={seed} ARGS='{_as_here()}'"
    assert report.classes["lost"] == report.classes["unexpected"] == 0
    assert sum(report.counts["faults"].values()) == settings.faults
    assert report.classes["ok"] > settings.files / 2


def _as_here() -> str:
    return f"--minutes {STORM_SECONDS / 60:.4f} --files 300 --faults 21 --longest 6"
