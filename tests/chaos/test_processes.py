"""What the storm says of a process that ends otherwise than it was told."""

import os
import signal
from pathlib import Path

from chaos.processes import ArmkaVictim

ENV = {"PATH": os.environ["PATH"]}


async def test_one_that_is_told_to_end_before_it_began_may_die_of_it(tmp_path: Path) -> None:
    """Python has not yet imported what would listen to the signal."""
    victim = ArmkaVictim("core", ["core"], ENV, tmp_path / "log")
    await victim.start()
    await victim.stop()
    assert victim.unforeseen == []


async def test_one_that_has_begun_may_not(tmp_path: Path) -> None:
    """Having said something, it has its handlers."""
    victim = ArmkaVictim("core", ["core"], ENV, tmp_path / "log")
    await victim.start()
    (tmp_path / "log").write_text('{"event": "core listens"}\n')
    await victim.stop()
    assert victim.unforeseen == [f"core answered SIGTERM with {128 + signal.SIGTERM}"]


async def test_an_end_of_its_own_is_told(tmp_path: Path) -> None:
    """Here of settings that are missing."""
    victim = ArmkaVictim("core", ["core"], ENV, tmp_path / "log")
    assert await victim.run() == 2
    await victim.stop()
    assert victim.unforeseen[0] == "core had ended by itself (2)"
