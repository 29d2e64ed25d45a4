"""Accounts of people: made, changed, disabled. Every change is in the audit, and ends the sessions
that it makes untrue.
"""

from collections.abc import Awaitable, Callable, Collection
from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import NameTaken, NotLocal, PasswordWrong, UserNotFound
from armka.core.identity import audit, secrecy
from armka.core.identity.passwords import Passwords
from armka.core.identity.principal import Principal, Role

log = structlog.get_logger(__name__)
SQL = load(__package__)

LINK_MINUTES = 60.0
_NO_ID = UUID(int=0)

NameKeyset = tuple[str, UUID]
Change = Callable[[Connection, Record], Awaitable[None]]


class Accounts:
    """The accounts. Names are case-insensitive; an account is never removed."""

    def __init__(self, database: Database, passwords: Passwords) -> None:
        self._database = database
        self._passwords = passwords

    async def add(
        self,
        by: Principal,
        name: str,
        display_name: str | None,
        roles: Collection[Role],
        password: str | None,
    ) -> UUID:
        """Make a local account; without a password it opens with a link. Raises NameTaken."""
        kept = None if password is None else await self._passwords.hash(password, name)

        async def work(connection: Connection) -> UUID:
            user_id: UUID | None = await connection.fetchval(
                SQL.add_user, name, display_name, sorted(roles), kept
            )
            if user_id is None:
                raise NameTaken(name)
            await audit.record(connection, by, "user.added", user_id, name=name, roles=list(roles))
            return user_id

        user_id = await self._database.run(work)
        log.info("user added", user_id=str(user_id))
        return user_id

    async def get(self, user_id: UUID) -> Record:
        """One account; raises UserNotFound."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.user, user_id)
        if row is None:
            raise UserNotFound(user_id)
        return row

    async def page(
        self, name: str | None, after: NameKeyset | None, limit: int
    ) -> tuple[list[Record], NameKeyset | None]:
        """Accounts by name, and where to read on."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.users, *(after or ("", _NO_ID)), name, limit)
        last = rows[-1] if len(rows) == limit else None
        return rows, (last["name"].lower(), last["id"]) if last else None

    async def set_roles(
        self, by: Principal, user_id: UUID, roles: Collection[Role], reason: str | None
    ) -> None:
        """Give a local account these roles; raises UserNotFound, NotLocal."""

        async def change(connection: Connection, row: Record) -> None:
            _local(row)
            await connection.execute(SQL.set_roles, user_id, sorted(roles))
            before, after = list(row["roles"]), sorted(roles)
            await audit.record(
                connection, by, "user.roles", user_id, reason=reason, before=before, after=after
            )

        await self._change(user_id, change)

    async def set_password(
        self, by: Principal, user_id: UUID, password: str, keep: str | None = None
    ) -> None:
        """Give a local account a new password and end its sessions, but the one with this cookie.

        Raises UserNotFound, NotLocal, PasswordUnfit.
        """
        name = (await self.get(user_id))["name"]
        kept = await self._passwords.hash(password, name)

        async def change(connection: Connection, row: Record) -> None:
            _local(row)
            await connection.execute(SQL.set_password, user_id, kept)
            spared = None if keep is None else secrecy.digest(keep)
            await connection.execute(SQL.end_sessions, user_id, spared)
            await audit.record(connection, by, "user.password", user_id)

        await self._change(user_id, change)

    async def change_own(
        self, by: Principal, user_id: UUID, old: str, new: str, keep: str | None
    ) -> None:
        """As above, for whoever knows the old one; raises PasswordWrong too."""
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.lock_user, user_id)
        if row is None:
            raise UserNotFound(user_id)
        _local(row)
        # Who came by a link without ever having had a password has none to tell.
        if row["password_hash"] and not await self._passwords.matches(old, row["password_hash"]):
            raise PasswordWrong
        await self.set_password(by, user_id, new, keep)

    async def disable(self, by: Principal, user_id: UUID, reason: str | None) -> None:
        """Let somebody in no more, and end their sessions."""

        async def change(connection: Connection, _row: Record) -> None:
            await connection.execute(SQL.disable, user_id)
            await connection.execute(SQL.end_sessions, user_id, None)
            await audit.record(connection, by, "user.disabled", user_id, reason=reason)

        await self._change(user_id, change)

    async def enable(self, by: Principal, user_id: UUID, reason: str | None) -> None:
        """Let somebody in again."""

        async def change(connection: Connection, _row: Record) -> None:
            await connection.execute(SQL.enable, user_id)
            await audit.record(connection, by, "user.enabled", user_id, reason=reason)

        await self._change(user_id, change)

    async def sign_out(self, by: Principal, user_id: UUID, reason: str | None) -> None:
        """End all sessions of somebody."""

        async def change(connection: Connection, _row: Record) -> None:
            await connection.execute(SQL.end_sessions, user_id, None)
            await audit.record(connection, by, "user.signed_out", user_id, reason=reason)

        await self._change(user_id, change)

    async def link(self, by: Principal, user_id: UUID) -> tuple[str, Record]:
        """A secret that signs a local account in once, within an hour, and until when."""
        secret, made = secrecy.new_secret(), []

        async def change(connection: Connection, row: Record) -> None:
            _local(row)
            values = (secrecy.digest(secret), user_id, LINK_MINUTES)
            made.append(await connection.fetchrow(SQL.add_link, *values))
            await audit.record(connection, by, "user.link", user_id)

        await self._change(user_id, change)
        assert made[-1] is not None
        return secret, made[-1]

    async def _change(self, user_id: UUID, change: Change) -> None:
        async def work(connection: Connection) -> None:
            row = await connection.fetchrow(SQL.lock_user, user_id)
            if row is None:
                raise UserNotFound(user_id)
            await change(connection, row)

        await self._database.run(work)


def _local(row: Record) -> None:
    if row["issuer"] is not None:
        raise NotLocal(row["id"])
