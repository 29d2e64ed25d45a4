"""From what a request brings to who asks."""

import hmac
from typing import Protocol

from armka.core.identity import secrecy
from armka.core.identity.principal import Kind, Principal, Role
from armka.core.identity.sessions import Sessions
from armka.core.identity.settings import IdentitySettings
from armka.core.identity.tokens import Tokens

EVERYTHING = frozenset(Role)


class AccessTokens(Protocol):
    """Whoever can read an identity provider's access tokens."""

    async def person(self, token: str, address: str | None) -> Principal | None:
        """Whose token this is, where it may be believed."""


class Credentials:
    """Knows callers by their tokens and sessions."""

    def __init__(
        self,
        settings: IdentitySettings,
        sessions: Sessions,
        tokens: Tokens,
        access_tokens: AccessTokens | None,
    ) -> None:
        secret = settings.api_token
        self._setting = None if secret is None else secret.get_secret_value().encode()
        self._sessions = sessions
        self._tokens = tokens
        self._access_tokens = access_tokens
        self.is_open = settings.is_open

    async def of_bearer(self, given: str, address: str | None) -> Principal | None:
        """Who sends this bearer token."""
        if self._setting is not None and hmac.compare_digest(
            given.encode("latin-1", "replace"), self._setting
        ):
            return Principal(Kind.SETTING, "api", roles=EVERYTHING, address=address)
        if secrecy.is_token(given):
            return await self._tokens.machine(given, address)
        if self._access_tokens is not None:
            return await self._access_tokens.person(given, address)
        return None

    async def of_cookie(self, cookie: str, address: str | None) -> Principal | None:
        """Whose browser this is."""
        return await self._sessions.user(cookie, address)

    def of_none(self, address: str | None) -> Principal | None:
        """Who sends nothing, where the API is open."""
        if not self.is_open:
            return None
        return Principal(Kind.OPEN, "api", roles=EVERYTHING, address=address)
