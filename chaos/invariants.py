"""What must hold in the tables whatever happened. `invariants.sql` says each; broken ones are named
with the rows that break them.
"""

from dataclasses import dataclass

import asyncpg

from armka.core.database.queries import load

STATEMENTS = dict(load(__package__, "invariants.sql").items())

_EVERY = "\nunion all\n".join(
    f"select '{name}' as name, subject from (\n{statement}\n) as {name}"  # noqa: S608 - both are this room's own
    for name, statement in STATEMENTS.items()
)


@dataclass(frozen=True)
class Broken:
    """One row that breaks one invariant."""

    name: str
    subject: str

    def __str__(self) -> str:
        return f"{self.name}: {self.subject}"


async def broken(connection: asyncpg.Connection) -> list[Broken]:
    """Every violation, as of one moment."""
    return [Broken(row["name"], row["subject"]) for row in await connection.fetch(_EVERY)]
