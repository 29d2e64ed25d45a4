"""A database per test, as `tests/servers.py` gives it."""

import asyncpg
import pytest

from armka.core.database.migrations import migrate
from armka.stack import PostgresServer

SEEN: set[str] = set()


@pytest.mark.parametrize("turn", [1, 2])
async def test_each_test_has_a_migrated_database_of_its_own(
    postgres: PostgresServer, database: str, turn: int
) -> None:
    """What one test does to its database no other sees; afterwards it is dropped."""
    assert database not in SEEN
    SEEN.add(database)
    assert await migrate(database) == [], "the template was migrated"
    connection = await asyncpg.connect(database)
    await connection.execute("create table only_mine()")
    others = "select datname from pg_database where datname like 'test_%'"
    assert await connection.fetch(f"{others} and datname <> current_database()") == []
    connection.terminate()
