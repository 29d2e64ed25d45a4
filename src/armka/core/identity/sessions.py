"""Sessions of browsers: rows, so that any replica knows them, and who ends one ends it for all."""

from dataclasses import dataclass
from uuid import UUID

from armka.core.database.pool import Connection, Database, Record
from armka.core.identity import audit, secrecy
from armka.core.identity.accounts import SQL
from armka.core.identity.principal import Kind, Principal, Role
from armka.core.identity.settings import IdentitySettings


@dataclass(frozen=True)
class SignedIn:
    """A new session: its cookie, and whose it is."""

    cookie: str
    user: Principal


class Sessions:
    """Begins, knows and ends sessions."""

    def __init__(self, database: Database, settings: IdentitySettings) -> None:
        self._database = database
        self._hours = settings.session_hours
        self._idle_minutes = settings.session_idle_minutes

    async def begin(
        self, connection: Connection, row: Record, address: str | None, how: str
    ) -> SignedIn:
        """Begin a session of the account in `row`, as part of the caller's transaction."""
        cookie = secrecy.new_secret()
        user = person(row, address)
        await connection.execute(SQL.signed_in, user.id)
        await connection.execute(SQL.begin_session, secrecy.digest(cookie), user.id, self._hours)
        await audit.record(connection, user, "signed_in", user.id, how=how)
        return SignedIn(cookie, user)

    async def user(self, cookie: str, address: str | None = None) -> Principal | None:
        """Whose session this is, while it lasts."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.session, secrecy.digest(cookie), self._idle_minutes)
        return None if row is None else person(row, address)

    async def end(self, cookie: str, user: Principal) -> None:
        """End one session."""

        async def work(connection: Connection) -> None:
            await connection.execute(SQL.end_session, secrecy.digest(cookie))
            await audit.record(connection, user, "signed_out", user.id)

        await self._database.run(work)


async def forget_expired(database: Database) -> None:
    """Remove what has run out: sessions, links, failures."""
    async with database.connection() as connection:
        await connection.execute(SQL.forget)


def person(row: Record, address: str | None) -> Principal:
    """The person of an account."""
    user_id: UUID = row["id"]
    roles = frozenset(Role(role) for role in row["roles"])
    return Principal(Kind.USER, row["name"], user_id, roles, address=address)
