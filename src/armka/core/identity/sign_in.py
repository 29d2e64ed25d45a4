"""Signing in with a password or a link. Failures are counted by the database, for a name and for an
address, whether or not there is such a name, so that nobody learns which names there are.
"""

import structlog

from armka.core.database.pool import Connection, Database
from armka.core.errors import LinkVoid, SignInLocked, SignInRefused
from armka.core.identity import audit, secrecy
from armka.core.identity.accounts import SQL
from armka.core.identity.passwords import Passwords
from armka.core.identity.principal import nobody
from armka.core.identity.sessions import Sessions, SignedIn
from armka.core.identity.settings import IdentitySettings

log = structlog.get_logger(__name__)

_ADDRESS_FACTOR = 6
_LONGEST_NAME = 255


class SignIn:
    """Lets people with local accounts in."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        passwords: Passwords,
        settings: IdentitySettings,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._passwords = passwords
        self._failures = settings.sign_in_failures

    async def with_password(self, name: str, password: str, address: str | None) -> SignedIn:
        """Begin a session; raises SignInLocked, SignInRefused."""
        name = name.strip()[:_LONGEST_NAME].replace("\0", "")
        by_name, by_address = f"name {name.lower()}", f"address {address}"
        async with self._database.connection() as connection:
            seconds = await connection.fetchval(SQL.locked, [by_name, by_address])
            if seconds is not None:
                raise SignInLocked(int(seconds) + 1)
            row = await connection.fetchrow(SQL.by_name, name)
        agrees = await self._passwords.matches(password, row["password_hash"] if row else None)
        if row is None or not agrees or row["disabled_at"] is not None:
            await self._count(name, by_name, by_address, address)
            raise SignInRefused

        async def work(connection: Connection) -> SignedIn:
            await connection.execute(SQL.succeeded, by_name)
            return await self._sessions.begin(connection, row, address, "password")

        return await self._database.run(work)

    async def _count(self, name: str, by_name: str, by_address: str, address: str | None) -> None:
        async def work(connection: Connection) -> None:
            await connection.execute(SQL.failed, by_name, self._failures)
            await connection.execute(SQL.failed, by_address, self._failures * _ADDRESS_FACTOR)
            # The name is kept as it was typed only where it is somebody's: else it may be a
            # password in the wrong field.
            known = await connection.fetchval(SQL.by_name, name)
            await audit.record(connection, nobody(address), "sign_in_refused", known)

        await self._database.run(work)
        log.info("a sign-in was refused")

    async def with_link(self, secret: str, address: str | None) -> tuple[SignedIn, bool]:
        """Begin a session and void the link; tells whether there is a password. Raises LinkVoid."""

        async def work(connection: Connection) -> tuple[SignedIn, bool]:
            row = await connection.fetchrow(SQL.use_link, secrecy.digest(secret))
            if row is None:
                raise LinkVoid
            signed_in = await self._sessions.begin(connection, row, address, "link")
            return signed_in, row["has_password"]

        return await self._database.run(work)
