"""Reading an identity provider's tokens: nothing in one is believed before all of this holds.

The signature is made with an algorithm of the list by a key that the provider publishes under the
token's own `kid`; issuer and audience are exactly ours; it is in its time, give or take a minute;
it is of the kind that is wanted. An ID token is no access token.
"""

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from armka.core.errors import ProviderRefused
from armka.core.identity.principal import Role

log = structlog.get_logger(__name__)

LEEWAY_SECONDS = 60
_LONGEST = 16 * 1024
# Strangers who send unknown keys make us ask the provider no oftener.
_REFRESH_SECONDS = 60.0
_ASYMMETRIC = frozenset({"RSA", "EC"})
_ID_HEADERS = frozenset({None, "jwt"})
_ACCESS_HEADERS = frozenset({"at+jwt", "application/at+jwt"})

Fetch = Callable[[], Awaitable[dict[str, Any]]]


class ProviderKeys:
    """The keys that the provider publishes; asked for again where a token names another."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._keys: KeySet | None = None
        self._asked = float("-inf")
        self._lock = asyncio.Lock()

    async def of(self, kid: str) -> KeySet:
        """The keys, with this one where there is such a one."""
        async with self._lock:
            knows = self._keys is not None and any(key.kid == kid for key in self._keys.keys)
            if not knows and time.monotonic() - self._asked >= _REFRESH_SECONDS:
                self._asked = time.monotonic()
                self._keys = _usable(await self._fetch())
        if self._keys is None:
            raise ProviderRefused("the provider's keys are not known")
        return self._keys


class TokenReader:
    """Reads tokens of one provider."""

    def __init__(self, issuer: str, algorithms: list[str], keys: ProviderKeys) -> None:
        self._issuer = issuer
        self._algorithms = algorithms
        self._keys = keys

    async def id_token(self, token: str, client_id: str, nonce: str) -> dict[str, Any]:
        """The claims of an ID token for us, made for this very sign-in; raises ProviderRefused."""
        header, claims = await self._read(token, client_id)
        if _word(header.get("typ")) not in _ID_HEADERS or claims.get("typ", "ID") != "ID":
            raise ProviderRefused("this is no ID token")
        if claims.get("nonce") != nonce:
            raise ProviderRefused("the token was made for another sign-in")
        others = claims["aud"] if isinstance(claims["aud"], list) else []
        if claims.get("azp", client_id) != client_id or (len(others) > 1 and "azp" not in claims):
            raise ProviderRefused("the token was made for another client")
        return claims

    async def access_token(
        self, token: str, audience: str, parties: frozenset[str]
    ) -> dict[str, Any]:
        """The claims of an access token for the API; raises ProviderRefused.

        Only what says that it is one: by its header (RFC 9068) or by its `typ` (Keycloak).
        """
        header, claims = await self._read(token, audience)
        is_access = _word(header.get("typ")) in _ACCESS_HEADERS or claims.get("typ") == "Bearer"
        if not is_access or "nonce" in claims:
            raise ProviderRefused("this is no access token")
        if claims.get("azp", claims.get("client_id")) not in parties:
            raise ProviderRefused("the token was made for another client")
        return claims

    async def _read(self, token: str, audience: str) -> tuple[dict[str, Any], dict[str, Any]]:
        if len(token) > _LONGEST or token.count(".") != 2:  # noqa: PLR2004 - header, claims, signature
            raise ProviderRefused("this is no signed token")
        try:
            kid = _kid(token)
            keys = await self._keys.of(kid)
            read = jwt.decode(token, keys, algorithms=self._algorithms)
            self._registry(audience).validate(read.claims)
        except (JoseError, ValueError) as error:
            log.info("a token was refused", why=type(error).__name__)
            raise ProviderRefused(f"the token does not hold ({type(error).__name__})") from None
        if not isinstance(read.claims["sub"], str) or "\0" in read.claims["sub"]:
            raise ProviderRefused("the token names nobody")
        return read.header, read.claims

    def _registry(self, audience: str) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": audience},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )


def roles_in(claims: dict[str, Any], path: str) -> frozenset[Role]:
    """The roles that a token tells at this path; what is no role of ours is left out."""
    found: Any = claims
    for step in path.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    told = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(Role(role) for role in told if role in set(Role))


def _kid(token: str) -> str:
    """The key that the token names; one that names none fits any, which is one too many."""
    header = json.loads(_decoded(token.split(".", 1)[0]))
    kid = header.get("kid") if isinstance(header, dict) else None
    if not isinstance(kid, str):
        raise ProviderRefused("the token names no key")
    return kid


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _word(text: object) -> object:
    return text.lower() if isinstance(text, str) else text


def _usable(published: dict[str, Any]) -> KeySet:
    """Public keys for signatures: never one that is a shared secret, or for something else."""
    keys = [
        key
        for key in published.get("keys", [])
        if key.get("kty") in _ASYMMETRIC and key.get("use", "sig") == "sig" and "kid" in key
    ]
    return KeySet.import_key_set({"keys": keys})
