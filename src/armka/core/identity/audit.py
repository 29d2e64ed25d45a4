"""The audit: who did what to which, and why. Written by the transaction that does it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.identity.principal import Principal

SQL = load(__package__, "audit.sql")


@dataclass(frozen=True)
class AuditFilter:
    """Which events; all that is given must hold. `since` is inclusive, `before` is not."""

    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None


def actor_of(principal: Principal) -> tuple[object, ...]:
    """The five columns that say who, for a statement that writes its own event."""
    return principal.kind, principal.id, principal.name, principal.address


async def record(
    connection: Connection,
    principal: Principal,
    action: str,
    subject: object = None,
    *,
    reason: str | None = None,
    **details: Any,
) -> None:
    """Add an event, as part of the caller's transaction."""
    about = None if subject is None else str(subject)
    values = (*actor_of(principal), action, about, reason, details or None)
    await connection.execute(SQL.record, *values)


class Audit:
    """Reads the audit, and writes what belongs to no transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(
        self, principal: Principal, action: str, subject: object = None, **details: Any
    ) -> None:
        """Add an event by itself."""
        async with self._database.connection() as connection:
            await record(connection, principal, action, subject, **details)

    async def page(
        self, wanted: AuditFilter, after: int | None, limit: int
    ) -> tuple[list[Record], int | None]:
        """Events, latest first, and where to read on."""
        values = (wanted.actor, wanted.action, wanted.subject, wanted.since, wanted.before)
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.page, after, *values, limit)
        return rows, rows[-1]["id"] if len(rows) == limit else None
