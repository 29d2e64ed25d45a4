"""Every named statement fits the schema."""

import asyncpg
import pytest

from armka.core.database.queries import load

ROOMS = ("files", "identity", "inbox", "jobs", "mapping", "outbox", "watchdog")
FILES = [
    ("database", "migrations.sql"),
    ("identity", "audit.sql"),
    *((room, "queries.sql") for room in ROOMS),
]

STATEMENTS = [
    pytest.param(statement, id=f"{room}.{name}")
    for room, file in FILES
    for name, statement in load(f"armka.core.{room}", file).items()
]


@pytest.mark.parametrize("statement", STATEMENTS)
async def test_the_statement_can_be_prepared_on_a_migrated_database(
    database: str, statement: str
) -> None:
    """PostgreSQL parses it, finds every table, column and function, and knows every parameter's
    type.
    """
    connection = await asyncpg.connect(database)
    try:
        await connection.prepare(statement)
    finally:
        await connection.close()
