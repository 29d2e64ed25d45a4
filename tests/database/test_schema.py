"""The schema as it is, and the way to it, are one."""

import asyncio
import subprocess
from importlib.resources import files
from uuid import uuid4

import asyncpg
import pytest

from armka.core.database import migrations
from armka.stack import PostgresServer
from armka.stack.binaries import postgres_program
from tests.servers import administer


async def test_the_migrations_lead_to_the_schema(postgres: PostgresServer) -> None:
    """A database made by schema.sql and one made by the migrations differ in nothing but the
    register.
    """
    by_schema, by_migrations = await _empty(postgres), await _empty(postgres)
    connection = await asyncpg.connect(by_schema)
    await connection.execute((files("armka.core.database") / "schema.sql").read_text())
    await connection.close()
    await migrations.migrate(by_migrations)
    assert await _dump(by_migrations) == await _dump(by_schema)


async def test_migrating_again_changes_nothing(database: str) -> None:
    """`armka migrate` may be run at every start."""
    assert await migrations.migrate(database) == []


async def test_replicas_that_migrate_at_once_take_turns(postgres: PostgresServer) -> None:
    """Each migration is applied once."""
    empty = await _empty(postgres)
    applied = await asyncio.gather(*(migrations.migrate(empty) for _ in range(4)))
    assert sorted(name for names in applied for name in names) == [
        migration.name for migration in migrations.shipped()
    ]


async def test_a_changed_migration_is_refused(database: str) -> None:
    """A database that another version made is not touched."""
    connection = await asyncpg.connect(database)
    await connection.execute("update schema_migration set digest = 'other'")
    await connection.close()
    with pytest.raises(migrations.MigrationChanged, match="0001_initial"):
        await migrations.migrate(database)


async def _empty(postgres: PostgresServer) -> str:
    name = f"test_{uuid4().hex}"
    await administer(postgres, f"create database {name}")
    return postgres.database_url(name)


async def _dump(dsn: str) -> str:
    command = [
        str(postgres_program("pg_dump")),
        "--schema-only",
        "--no-owner",
        "--exclude-table=schema_migration",
        dsn,
    ]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=True
    )
    # Every dump carries a random word of its own.
    return "\n".join(line for line in done.stdout.splitlines() if "restrict" not in line)
