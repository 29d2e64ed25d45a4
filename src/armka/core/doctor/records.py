"""The database's checks: every statement of `queries.sql` that tells its story."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from armka.core.database import migrations
from armka.core.database.pool import Database
from armka.core.database.queries import load
from armka.core.doctor.findings import Check, Finding

SQL = load(__package__)

LIMIT = 1000
STATEMENT_SECONDS = 5
CLOCK_SECONDS = 2.0

_STORY = re.compile(r"^-- (drift|do|takes): (.+)$", re.MULTILINE)

REACHED = Check(
    "database",
    "PostgreSQL cannot be reached.",
    "See that it runs, and DATABASE_URL; nothing moves without it, and nothing is lost.",
)
MIGRATED = Check(
    "schema_not_this_version",
    "The schema is not that of this version.",
    "Run `armka migrate` of the newest installed version, then restart the older cores.",
)
CLOCK = Check(
    "clocks_differ",
    f"This machine's clock and the database's differ by more than {CLOCK_SECONDS:.0f} seconds; "
    "deadlines are set by the database and read by services.",
    "Synchronise the clocks of all machines (NTP).",
)


@dataclass(frozen=True)
class RecordCheck:
    """A check that is a statement; `takes` names its parameters."""

    check: Check
    statement: str
    takes: tuple[str, ...]


def _all() -> list[RecordCheck]:
    found = []
    for name, statement in SQL.items():
        story = dict(_STORY.findall(statement))
        if "drift" in story:
            check = Check(name, story["drift"], story["do"])
            found.append(RecordCheck(check, statement, tuple(story["takes"].split(", "))))
    return found


CHECKS = _all()


class Records:
    """Asks one database. `values` are the parameters of the checks that concern settings."""

    def __init__(self, database: Database, values: dict[str, float], newest: int) -> None:
        self._database = database
        self._values = values | {"limit": LIMIT, "newest": newest}

    async def reached(self) -> tuple[Finding, Finding]:
        """Whether it answers, and how far the clocks are apart."""
        try:
            async with self._database.connection() as connection:
                before = datetime.now(UTC)
                there = await connection.fetchval(SQL.clock)
                after = datetime.now(UTC)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return REACHED.unreached(describe(error)), CLOCK.unreached("no database")
        return REACHED.found([]), CLOCK.found(_apart(before, there, after))

    async def migrated(self) -> Finding:
        """Whether the applied migrations are the shipped ones."""
        try:
            return MIGRATED.found(await self._other_migrations())
        except Exception as error:  # noqa: BLE001 - as above
            return MIGRATED.found([f"the schema cannot be read: {describe(error)}"])

    async def examine(self, asked: RecordCheck) -> Finding:
        """One check; one that cannot be carried out says so."""
        try:
            async with self._database.transaction() as connection:
                await connection.execute(SQL.read_only)
                await connection.execute(SQL.bounded, f"{STATEMENT_SECONDS}s")
                values = [self._values[name] for name in asked.takes]
                rows = await connection.fetch(asked.statement, *values)
        except Exception as error:  # noqa: BLE001 - as above
            return asked.check.unreached(describe(error))
        return asked.check.found([row[0] for row in rows], LIMIT)

    async def newest_keys(self, count: int, bucket: str) -> list[str]:
        """Keys of the objects that the newest files and jobs rest on."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.newest_objects, count, bucket)
        return [row["key"] for row in rows]

    async def unknown_keys(self, keys: list[str], bucket: str) -> list[str]:
        """Those of these keys that have no row."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.known_keys, bucket, keys)
        known = {row["key"] for row in rows}
        return [key for key in keys if key not in known]

    async def _other_migrations(self) -> list[str]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(migrations.SQL.register)
        applied = {row["name"]: row["digest"] for row in rows}
        shipped = {migration.name: migration.digest for migration in migrations.shipped()}
        missing = [f"{name} is not applied" for name in shipped if name not in applied]
        strange = [f"{name} is of another version" for name in applied if name not in shipped]
        changed = [
            f"{name} was applied with other contents"
            for name, digest in shipped.items()
            if applied.get(name, digest) != digest
        ]
        return missing + strange + changed


def _apart(before: datetime, there: datetime, after: datetime) -> list[str]:
    """How far the other clock was outside of the time in which it was asked."""
    gap = max(before - there, there - after, timedelta(0)).total_seconds()
    if gap <= CLOCK_SECONDS:
        return []
    direction = "behind" if there < before else "ahead"
    return [f"the database is {gap:.1f} s {direction}"]


def describe(error: BaseException) -> str:
    """What an error says, in a line."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
