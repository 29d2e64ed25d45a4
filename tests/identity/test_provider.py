"""Signing in at an identity provider, and its access tokens at the API."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import pytest

from armka.core.identity import provider_tokens
from armka.core.identity.settings import IdentitySettings
from tests.identity import inside, oidc
from tests.identity.inside import ADDRESS, name_of
from tests.identity.oidc import CLIENT, Provider


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    """A provider."""
    async with oidc.running() as made:
        yield made


@pytest.fixture
async def transport(database: str, provider: Provider) -> AsyncIterator[httpx.ASGITransport]:
    """A core that believes it."""
    identity = {"OIDC_ISSUER": provider.issuer, "PUBLIC_URL": ADDRESS}
    async with inside.core(database, **identity) as made:
        yield made


@pytest.fixture
async def db(database: str) -> AsyncIterator[asyncpg.Connection]:
    """Its database."""
    connection = await asyncpg.connect(database)
    try:
        yield connection
    finally:
        await connection.close()


async def _leave(http: httpx.AsyncClient, came_from: str = "/console/documents") -> str:
    response = await http.get("/console/sign-in/provider", params={"next": came_from})
    assert response.status_code == 303, response.text
    return response.headers["location"]


async def _sign_in(http: httpx.AsyncClient, provider: Provider) -> httpx.Response:
    return await http.get(provider.authorize(await _leave(http)))


async def test_a_person_comes_in_as_the_provider_tells_of_them(
    transport: httpx.ASGITransport, provider: Provider, db: asyncpg.Connection
) -> None:
    """Back where they wanted to go, with the roles of ours among those told, each time anew."""
    async with inside.browser(transport) as http:
        wanted = "/console/documents?name=a"
        response = await http.get(provider.authorize(await _leave(http, wanted)))
        assert (response.status_code, response.headers["location"]) == (303, wanted)
        me = (await http.get("/api/v1/me")).json()
        assert (me["name"], me["roles"]) == ("sidorova", ["analyst"])
        provider.person |= {"roles": ["manager", "admin"], "preferred_username": "petrova"}
        await _sign_in(http, provider)
        me = (await http.get("/api/v1/me")).json()
        assert (me["name"], me["roles"]) == ("petrova", ["admin", "manager"])
    [account] = await db.fetch("select issuer, subject, password_hash from user_account")
    assert tuple(account) == (provider.issuer, "42", None)
    how = await db.fetch(
        "select details->>'how' as how from audit_event where action = 'signed_in'"
    )
    assert [row["how"] for row in how] == ["provider", "provider"]


CLAIMS: list[dict[str, Any]] = [
    {"iss": "http://127.0.0.1:1"},
    {"iss": None},
    {"aud": "another-client"},
    {"aud": [CLIENT, "another-client"]},
    {"aud": None},
    {"azp": "another-client"},
    {"exp": 1_000_000_000},
    {"exp": None},
    {"iat": 9_999_999_999},
    {"nbf": 9_999_999_999},
    {"sub": None},
    {"nonce": "of another sign-in"},
    {"nonce": None},
    {"typ": "Bearer"},
]
HEADERS: list[dict[str, Any]] = [{"kid": "unknown"}, {"kid": None}, {"typ": "at+jwt"}]


@pytest.mark.parametrize("claims", CLAIMS, ids=str)
async def test_an_id_token_with_wrong_claims_lets_nobody_in(
    transport: httpx.ASGITransport, provider: Provider, claims: dict[str, Any]
) -> None:
    """Another issuer, audience, client, time or sign-in: a page says no, nobody is signed in."""
    provider.claim_faults = claims
    async with inside.browser(transport) as http:
        response = await _sign_in(http, provider)
        assert response.status_code == 403
        assert response.headers["content-type"].startswith("text/html")
        assert await name_of(http) is None


@pytest.mark.parametrize("spoil", ["none", "shared", "stranger", "crit"])
async def test_an_id_token_with_a_wrong_signature_lets_nobody_in(
    transport: httpx.ASGITransport, provider: Provider, spoil: str
) -> None:
    """None at all; made with the public key as a shared secret; by a stranger; with demands."""
    provider.spoil = spoil
    async with inside.browser(transport) as http:
        assert (await _sign_in(http, provider)).status_code == 403
        assert await name_of(http) is None


@pytest.mark.parametrize("header", HEADERS, ids=str)
async def test_an_id_token_with_a_wrong_header_lets_nobody_in(
    transport: httpx.ASGITransport, provider: Provider, header: dict[str, Any]
) -> None:
    """A key that is not published, no key, another kind of token."""
    provider.header_faults = header
    async with inside.browser(transport) as http:
        assert (await _sign_in(http, provider)).status_code == 403
        assert await name_of(http) is None


async def test_a_sign_in_comes_back_once_to_the_browser_that_it_left(
    transport: httpx.ASGITransport, provider: Provider, db: asyncpg.Connection
) -> None:
    """Not to another browser, not twice, not late, not with a state of its own making."""
    async with inside.browser(transport) as mine, inside.browser(transport) as other:
        back = provider.authorize(await _leave(mine))
        assert (await other.get(back)).status_code == 403
        assert (await mine.get(back)).status_code == 303
        assert (await mine.get(back)).status_code == 403
        late = provider.authorize(await _leave(other))
        await db.execute("update provider_sign_in set expires_at = now()")
        assert (await other.get(late)).status_code == 403
        made_up = "/console/sign-in/callback?state=made-up&code=x"
        assert (await other.get(made_up)).status_code == 403
        assert await name_of(other) is None


@pytest.mark.parametrize("roles", [[], ["somebody-else's"], None, {"admin": True}], ids=str)
async def test_who_has_no_role_does_not_come_in(
    transport: httpx.ASGITransport, provider: Provider, db: asyncpg.Connection, roles: object
) -> None:
    """Known or not; the audit has it."""
    provider.person["roles"] = roles
    async with inside.browser(transport) as http:
        assert (await _sign_in(http, provider)).status_code == 403
    [event] = await db.fetch("select action, reason from audit_event")
    assert tuple(event) == ("sign_in_refused", "no role")


async def test_who_is_disabled_does_not_come_in(
    transport: httpx.ASGITransport, provider: Provider, db: asyncpg.Connection
) -> None:
    """Whatever the provider says; with an access token neither."""
    async with inside.browser(transport) as http:
        await _sign_in(http, provider)
        await db.execute("update user_account set disabled_at = now()")
        assert await name_of(http) is None
        assert (await _sign_in(http, provider)).status_code == 403
        token = provider.token("at+jwt", aud="arm-ka", azp=CLIENT)
        assert (await _call(transport, token)).status_code == 401


async def test_a_provider_that_is_away_or_another_is_said(
    transport: httpx.ASGITransport, provider: Provider
) -> None:
    """503, with a page."""
    provider.calls_itself = "http://127.0.0.1:1"
    async with inside.browser(transport) as http:
        response = await http.get("/console/sign-in/provider")
        assert response.status_code == 503


async def _call(transport: httpx.ASGITransport, token: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as http:
        return await http.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})


@pytest.mark.parametrize(("kind", "claims"), [("at+jwt", {}), ("JWT", {"typ": "Bearer"})])
async def test_an_access_token_opens_the_api(
    transport: httpx.ASGITransport, provider: Provider, kind: str, claims: dict[str, str]
) -> None:
    """As RFC 9068 marks it, or as Keycloak does."""
    token = provider.token(kind, aud=["account", "arm-ka"], azp=CLIENT, **claims)
    me = (await _call(transport, token)).json()
    assert (me["kind"], me["name"], me["roles"]) == ("user", "sidorova", ["analyst"])


WRONG: list[dict[str, Any]] = [
    {"aud": "account", "azp": CLIENT},
    {"aud": "arm-ka", "azp": "another-client"},
    {"aud": "arm-ka"},
    {"aud": "arm-ka", "azp": CLIENT, "nonce": "of an ID token"},
    {"aud": "arm-ka", "azp": CLIENT, "exp": 1_000_000_000},
    {"aud": "arm-ka", "azp": CLIENT, "roles": []},
]


@pytest.mark.parametrize("claims", WRONG, ids=str)
async def test_a_wrong_access_token_opens_nothing(
    transport: httpx.ASGITransport, provider: Provider, claims: dict[str, Any]
) -> None:
    """For another audience or client, past, without a role."""
    assert (await _call(transport, provider.token("at+jwt", **claims))).status_code == 401


async def test_an_id_token_is_no_access_token(
    transport: httpx.ASGITransport, provider: Provider
) -> None:
    """Also where audience and client have one name."""
    for claims in ({}, {"typ": "ID"}):
        token = provider.token("JWT", aud="arm-ka", azp=CLIENT, **claims)
        assert (await _call(transport, token)).status_code == 401


async def test_unknown_keys_make_it_ask_no_oftener_and_new_ones_are_found(
    transport: httpx.ASGITransport, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flood costs the provider one request a minute; a rotation is noticed."""
    provider.header_faults = {"kid": "unknown"}
    stray = provider.token("at+jwt", aud="arm-ka", azp=CLIENT)
    for _ in range(5):
        assert (await _call(transport, stray)).status_code == 401
    assert provider.keys_asked == 1
    monkeypatch.setattr(provider_tokens, "_REFRESH_SECONDS", 0)
    provider.header_faults = {"kid": "second"}
    provider.key = provider.key.generate_key(2048, {"kid": "second", "use": "sig"})
    token = provider.token("at+jwt", aud="arm-ka", azp=CLIENT)
    assert (await _call(transport, token)).status_code == 200


@pytest.mark.parametrize(
    "settings",
    [
        {"OIDC_ISSUER": "https://id.example"},
        {"OIDC_ISSUER": "http://id.example", "PUBLIC_URL": "https://arm.example"},
        {"OIDC_ALGORITHMS": "RS256,HS256"},
        {"OIDC_ALGORITHMS": "none"},
    ],
    ids=str,
)
def test_settings_that_cannot_be_safe_are_refused(settings: dict[str, str]) -> None:
    """No way back, words in the open, shared secrets."""
    with pytest.raises(ValueError, match=r"PUBLIC_URL|https|OIDC_ALGORITHMS"):
        IdentitySettings.model_validate(settings)
