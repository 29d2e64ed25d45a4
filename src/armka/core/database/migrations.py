"""Migrations: numbered `.sql` files, each applied once, in order, in a transaction of its own."""

import hashlib
from dataclasses import dataclass
from importlib.resources import files

import asyncpg

from armka.core.database.queries import load
from armka.core.errors import CoreError

SQL = load(__package__, "migrations.sql")


class MigrationChanged(CoreError):
    """A migration that was applied is not the one shipped now."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"migration {name} was applied with other contents: another version made this database"
        )
        self.name = name


class DatabaseNotReached(CoreError):
    """There is no connecting to the database; `why` is the driver's word, without the URL."""

    def __init__(self, why: str) -> None:
        super().__init__(f"DATABASE_URL leads to no database that lets us in: {why}")
        self.why = why


@dataclass(frozen=True)
class Migration:
    """One step; `name` is its file name without the ending."""

    name: str
    statements: str

    @property
    def digest(self) -> str:
        """What tells one content from another."""
        return hashlib.sha256(self.statements.encode()).hexdigest()


def shipped() -> list[Migration]:
    """All migrations of this version, in order."""
    folder = files(__package__) / "migrations"
    found = [item for item in folder.iterdir() if item.name.endswith(".sql")]
    return [
        Migration(item.name.removesuffix(".sql"), item.read_text(encoding="utf-8"))
        for item in sorted(found, key=lambda item: item.name)
    ]


async def migrate(dsn: str) -> list[str]:
    """Bring the database to this version's schema and return what was applied; replicas may call it
    at once.
    """
    try:
        connection = await asyncpg.connect(dsn, timeout=10)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise DatabaseNotReached(str(error) or type(error).__name__) from None
    try:
        await connection.execute(SQL.lock)
        await connection.execute(SQL.create_register)
        known = {row["name"]: row["digest"] for row in await connection.fetch(SQL.register)}
        applied = []
        for migration in shipped():
            if migration.name not in known:
                await _apply(connection, migration)
                applied.append(migration.name)
            elif known[migration.name] != migration.digest:
                raise MigrationChanged(migration.name)
        return applied
    finally:
        await connection.close()


async def _apply(connection: "asyncpg.Connection[asyncpg.Record]", migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.statements)
        await connection.execute(SQL.enter, migration.name, migration.digest)
