"""What a round costs: CPU seconds by process tree, statements, WAL bytes, memory."""

import os
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from armka.core.database.queries import load

SQL = load(__package__)
_TICKS = os.sysconf("SC_CLK_TCK")
_MIB = 1024 * 1024


@dataclass(frozen=True)
class Cost:
    """What was spent between two moments: CPU seconds by who spent them, statements, WAL bytes."""

    cpu: dict[str, float]
    statements: int
    wal_bytes: int


class Meter:
    """Measures from `start` to `stop`; each group is a list of process trees, named by root."""

    def __init__(
        self, connection: "asyncpg.Connection[asyncpg.Record]", **groups: list[int]
    ) -> None:
        self._connection = connection
        self._groups = groups
        self._cpu: dict[str, float] = {}
        self._statements = 0
        self._wal = ""

    async def start(self) -> None:
        """Take the first readings."""
        self._statements = await self._connection.fetchval(SQL.statements)
        self._wal = await self._connection.fetchval(SQL.wal_position)
        self._cpu = self._spent()

    async def stop(self) -> Cost:
        """Take the last readings."""
        cpu = {name: spent - self._cpu[name] for name, spent in self._spent().items()}
        wal = await self._connection.fetchval(SQL.wal_bytes, self._wal)
        statements = await self._connection.fetchval(SQL.statements) - self._statements
        return Cost(cpu, statements, wal)

    def _spent(self) -> dict[str, float]:
        return {name: sum(map(cpu_seconds, roots)) for name, roots in self._groups.items()}


def cpu_seconds(root: int) -> float:
    """CPU time of a process and all its descendants, those that have ended included."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            _read_process(folder, parents, ticks)
    family = {root}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in family} - family
        family |= more
        grown = bool(more)
    return sum(ticks.get(pid, 0) for pid in family) / _TICKS


def _read_process(folder: Path, parents: dict[int, int], ticks: dict[int, int]) -> None:
    try:
        facts = (folder / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return
    pid = int(folder.name)
    parents[pid] = int(facts[1])
    ticks[pid] = sum(map(int, facts[11:15]))  # user, system, and both of ended children


def resident_mib(pid: int) -> float:
    """Resident memory of one process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB


def peak_bytes(pid: int) -> int:
    """The most memory that a process ever held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
