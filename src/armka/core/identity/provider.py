"""Signing in at an identity provider: OpenID Connect, authorization code with PKCE.

What a sign-in must remember while it is away is a row, so that it may come back to any replica. It
comes back once, with the state and to the browser that it left from.
"""

import base64
import hashlib
import ssl
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx
import structlog

from armka.core.database.pool import Connection, Database, Record
from armka.core.errors import ProviderRefused, ProviderUnavailable
from armka.core.identity import audit, secrecy
from armka.core.identity.accounts import SQL
from armka.core.identity.principal import Principal, nobody
from armka.core.identity.provider_tokens import ProviderKeys, TokenReader, roles_in
from armka.core.identity.sessions import Sessions, SignedIn, person
from armka.core.identity.settings import IdentitySettings

log = structlog.get_logger(__name__)

CALLBACK = "/console/sign-in/callback"
_TIMEOUT_SECONDS = 10.0
_METADATA_SECONDS = 3600.0
_LARGEST = 1024 * 1024
_LONGEST_NAME = 255


@dataclass(frozen=True)
class Arrived:
    """Who came back from the provider, and where they wanted to go."""

    signed_in: SignedIn
    came_from: str


class Provider:
    """One identity provider."""

    def __init__(
        self, issuer: str, settings: IdentitySettings, database: Database, sessions: Sessions
    ) -> None:
        self._issuer = issuer
        self._settings = settings
        self._database = database
        self._sessions = sessions
        self._metadata: dict[str, Any] = {}
        self._metadata_at = float("-inf")
        self._tls = ssl.create_default_context()
        keys = ProviderKeys(self._fetch_keys)
        self._reader = TokenReader(issuer, settings.oidc_algorithms.split(","), keys)

    async def begin(self, cookie: str, came_from: str) -> str:
        """The address at the provider that the browser with this cookie goes to."""
        endpoint = (await self._discover())["authorization_endpoint"]
        state, nonce, verifier = (secrecy.new_secret() for _ in range(3))
        challenge = hashlib.sha256(verifier.encode()).digest()
        values = (secrecy.digest(state + cookie), nonce, verifier, came_from)
        async with self._database.connection() as connection:
            await connection.execute(SQL.begin_provided, *values)
        asked = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": self._redirect_uri,
            "scope": self._settings.oidc_scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def finish(self, state: str, code: str, cookie: str, address: str | None) -> Arrived:
        """Begin the session of whom the provider tells; raises ProviderRefused, …Unavailable."""
        digest = secrecy.digest(state + cookie)
        async with self._database.connection() as connection:
            begun = await connection.fetchrow(SQL.end_provided, digest)
        if begun is None:
            raise ProviderRefused("this sign-in was not begun here, took too long or came twice")
        token = await self._redeem(code, begun["code_verifier"])
        claims = await self._reader.id_token(token, self._settings.oidc_client_id, begun["nonce"])

        async def work(connection: Connection) -> SignedIn | None:
            row = await self._account(connection, claims, address)
            if row is None:
                return None
            return await self._sessions.begin(connection, row, address, "provider")

        signed_in = await self._database.run(work)
        if signed_in is None:
            raise ProviderRefused("you are known, but have no role in arm-ka, or may not come in")
        return Arrived(signed_in, begun["came_from"])

    async def person(self, token: str, address: str | None) -> Principal | None:
        """Whose access token this is, where it may be believed."""
        settings = self._settings
        listed = settings.oidc_parties or settings.oidc_client_id
        parties = frozenset(party.strip() for party in listed.split(","))
        try:
            claims = await self._reader.access_token(token, settings.oidc_audience, parties)
        except (ProviderRefused, ProviderUnavailable) as error:
            log.info("an access token was refused", why=str(error))
            return None
        roles = roles_in(claims, settings.oidc_roles_claim)
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.provided, self._issuer, claims["sub"])
        if row is None or set(row["roles"]) != roles:
            row = await self._database.run(lambda it: self._account(it, claims, address))
        return None if row is None or row["disabled_at"] else person(row, address)

    async def _account(
        self, connection: Connection, claims: dict[str, Any], address: str | None
    ) -> Record | None:
        """The account of whom the claims tell, as they tell it now; None: may not come in."""
        roles = roles_in(claims, self._settings.oidc_roles_claim)
        name = _name(claims)
        row = roles and await connection.fetchrow(
            SQL.upsert_provided,
            name,
            _text(claims.get("name")),
            sorted(roles),
            self._issuer,
            claims["sub"],
        )
        if not row or row["disabled_at"] is not None:
            why = "disabled" if row else "no role"
            who = nobody(address)
            await audit.record(connection, who, "sign_in_refused", name, reason=why)
            return None
        return row

    @property
    def _redirect_uri(self) -> str:
        return f"{self._settings.origin}{CALLBACK}"

    async def _redeem(self, code: str, verifier: str) -> str:
        """The ID token for a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "client_id": self._settings.oidc_client_id,
            "code_verifier": verifier,
        }
        secret = self._settings.oidc_client_secret
        auth = secret and httpx.BasicAuth(form["client_id"], secret.get_secret_value())
        endpoint = (await self._discover())["token_endpoint"]
        answer = await self._ask("POST", endpoint, data=form, auth=auth)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise ProviderRefused("the provider sent no ID token")
        return token

    async def _fetch_keys(self) -> dict[str, Any]:
        return await self._ask("GET", (await self._discover())["jwks_uri"])

    async def _discover(self) -> dict[str, Any]:
        """What the provider tells of itself, once an hour."""
        if time.monotonic() - self._metadata_at < _METADATA_SECONDS:
            return self._metadata
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        told = await self._ask("GET", url)
        wanted = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if told.get("issuer") != self._issuer or not all(
            isinstance(told.get(name), str) for name in wanted
        ):
            raise ProviderUnavailable("what answers at OIDC_ISSUER calls itself something else")
        self._metadata, self._metadata_at = told, time.monotonic()
        return told

    async def _ask(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        try:
            async with httpx.AsyncClient(
                verify=self._tls, timeout=_TIMEOUT_SECONDS, trust_env=False
            ) as http:
                response = await http.request(method, url, **options)
            if response.status_code == httpx.codes.BAD_REQUEST:
                raise ProviderRefused("the provider does not know this sign-in")
            response.raise_for_status()
            told = response.json() if len(response.content) <= _LARGEST else None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            log.warning("the identity provider does not answer", error=type(error).__name__)
            raise ProviderUnavailable("the identity provider does not answer") from None
        if not isinstance(told, dict):
            raise ProviderUnavailable("the identity provider's answer cannot be read")
        return told


def _name(claims: dict[str, Any]) -> str:
    for claim in ("preferred_username", "email", "sub"):
        if name := _text(claims.get(claim)):
            return name
    return "unnamed"


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return value.replace("\0", "").strip()[:_LONGEST_NAME] or None
