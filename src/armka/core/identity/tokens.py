"""API tokens of machines: shown once, kept as digests, known by their beginning."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from armka.core.database.pool import Connection, Database, Record
from armka.core.errors import NameTaken, TokenNotFound
from armka.core.identity import audit, secrecy
from armka.core.identity.accounts import SQL
from armka.core.identity.principal import Kind, Principal, Scope

DAYS_MAX = 365


class Tokens:
    """Makes, knows and revokes tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, by: Principal, name: str, scopes: Collection[Scope], days: int
    ) -> tuple[str, Record]:
        """A new token, and what may be shown of it; raises NameTaken."""
        token = secrecy.new_token()

        async def work(connection: Connection) -> Record:
            row = await connection.fetchrow(
                SQL.add_token,
                name,
                secrecy.prefix(token),
                secrecy.digest(token),
                sorted(scopes),
                by.acting(None),
                days,
            )
            if row is None:
                raise NameTaken(name)
            await audit.record(
                connection, by, "token.added", row["id"], name=name, scopes=sorted(scopes)
            )
            return row

        return token, await self._database.run(work)

    async def machine(self, token: str, address: str | None) -> Principal | None:
        """Whose token this is, while it holds."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.token, secrecy.digest(token))
        if row is None:
            return None
        # A scope that a later version dropped opens nothing.
        scopes = frozenset(Scope(scope) for scope in row["scopes"] if scope in set(Scope))
        return Principal(Kind.TOKEN, row["name"], row["id"], scopes=scopes, address=address)

    async def page(
        self, after: tuple[datetime | None, UUID | None], limit: int
    ) -> tuple[list[Record], tuple[datetime, UUID] | None]:
        """Tokens, latest first, and where to read on."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.tokens, *after, limit)
        last = rows[-1] if len(rows) == limit else None
        return rows, (last["created_at"], last["id"]) if last else None

    async def revoke(self, by: Principal, token_id: UUID, reason: str | None) -> Record:
        """End a token at once; raises TokenNotFound."""

        async def work(connection: Connection) -> Record:
            row = await connection.fetchrow(SQL.revoke, token_id)
            if row is None:
                raise TokenNotFound(token_id)
            await audit.record(
                connection, by, "token.revoked", token_id, reason=reason, name=row["name"]
            )
            return row

        return await self._database.run(work)
