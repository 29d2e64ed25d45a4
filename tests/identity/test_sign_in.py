"""Passwords, links, sessions and forms, as a browser meets them."""

from collections.abc import AsyncIterator

import asyncpg
import httpx
import pytest

from armka.core.identity import secrecy
from armka.core.identity.passwords import Passwords
from tests.identity import inside
from tests.identity.inside import ADDRESS, browser, cookie, name_of, send
from tests.identity.people import PASSWORD


@pytest.fixture
async def transport(database: str) -> AsyncIterator[httpx.ASGITransport]:
    """A core where nobody comes in unknown."""
    async with inside.core(database, SIGN_IN_REQUIRED=True, SIGN_IN_FAILURES=3) as made:
        yield made


@pytest.fixture
async def db(database: str) -> AsyncIterator[asyncpg.Connection]:
    """Its database, with one account."""
    connection = await asyncpg.connect(database)
    await connection.execute(
        "insert into user_account (name, roles, password_hash) values ('Ivanova', '{analyst}', $1)",
        await Passwords().hash(PASSWORD, "ivanova"),
    )
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def http(
    transport: httpx.ASGITransport, db: asyncpg.Connection
) -> AsyncIterator[httpx.AsyncClient]:
    """A browser."""
    async with browser(transport) as made:
        yield made


async def _sign_in(
    http: httpx.AsyncClient, password: str = PASSWORD, **more: str
) -> httpx.Response:
    return await send(http, "/console/sign-in", name="ivanova", password=password, **more)


async def test_a_password_opens_a_session_and_signing_out_ends_it(
    http: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """With a new cookie, of which the database knows the digest alone."""
    await http.get("/console/sign-in")
    before = cookie(http)
    response = await _sign_in(http, came_from="/console/documents?name=a")
    assert (response.status_code, response.headers["location"]) == (
        303,
        "/console/documents?name=a",
    )
    assert cookie(http) != before
    assert await name_of(http) == "Ivanova"
    kept = cookie(http)
    assert (await send(http, "/console/sign-out")).status_code == 303
    assert await name_of(http) is None
    assert (await http.get("/api/v1/me", headers={"Cookie": f"armka={kept}"})).status_code == 401
    actions = [
        row["action"] for row in await db.fetch("select action from audit_event order by id")
    ]
    assert actions == ["signed_in", "signed_out"]


async def test_the_cookie_is_bound_to_its_host(
    transport: httpx.ASGITransport, db: asyncpg.Connection
) -> None:
    """`__Host-` and Secure over TLS; without it another name, on the loopback alone."""
    async with browser(transport, "https://arm.example") as http:
        await http.get("/console/sign-in")
        kept = (await _sign_in(http)).headers["set-cookie"]
        assert kept.startswith("__Host-armka=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(kept.split("; "))
        assert "domain" not in kept.lower()
        assert await name_of(http) == "Ivanova"
    async with browser(transport) as http:
        kept = (await _sign_in(http)).headers["set-cookie"]
        assert kept.startswith("armka=")
        assert {"HttpOnly", "SameSite=lax"} <= set(kept.split("; "))
    async with browser(transport, "http://arm.example") as http:
        assert (await _sign_in(http)).status_code == 403
        assert "https" in (await http.get("/console/sign-in")).text


async def test_failures_lock_a_name_for_a_while(
    http: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """The right password does not help meanwhile, and does afterwards; unknown names lock alike."""
    for _ in range(3):
        assert (await _sign_in(http, "wrong")).status_code == 403
    assert (await _sign_in(http)).status_code == 429
    await db.execute("update sign_in_failure set locked_until = now()")
    assert (await _sign_in(http)).status_code == 303
    statuses = [
        (await send(http, "/console/sign-in", name="nobody", password="wrong")).status_code
        for _ in range(4)
    ]
    assert statuses == [403, 403, 403, 429]


async def test_each_further_failure_locks_for_longer(
    http: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """One minute, two, four, up to fifteen; an hour later it begins anew."""
    locks = []
    for _ in range(9):
        await _sign_in(http, "wrong")
        row = await db.fetchrow(
            "update sign_in_failure f set locked_until = null from sign_in_failure o "
            "where o.place = f.place and f.place = 'name ivanova' "
            "returning round(extract(epoch from o.locked_until - now()) / 60) as minutes"
        )
        assert row is not None
        locks.append(row["minutes"] and int(row["minutes"]))
    assert locks == [None, None, 1, 2, 4, 8, 15, 15, 15]
    await db.execute("update sign_in_failure set last_at = now() - interval '61 minutes'")
    assert (await _sign_in(http, "wrong")).status_code == 403
    assert (await _sign_in(http)).status_code == 303


async def test_failures_lock_an_address(http: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """Whatever names are tried from it."""
    await db.execute(
        "insert into sign_in_failure (place, failures, last_at) "
        "values ('address 127.0.0.1', 17, now())"
    )
    assert (await send(http, "/console/sign-in", name="a", password="x")).status_code == 403
    assert (await _sign_in(http)).status_code == 429


async def test_a_disabled_account_does_not_open(
    http: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """And is answered as a wrong password is."""
    await db.execute("update user_account set disabled_at = now()")
    assert (await _sign_in(http)).status_code == 403
    assert await name_of(http) is None


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "/api/v1/me", "/console//x", ""],
)
async def test_nobody_is_sent_elsewhere(http: httpx.AsyncClient, address: str) -> None:
    """After the sign-in one is on a page of the console."""
    response = await _sign_in(http, came_from=address)
    assert response.headers["location"] == "/console/documents"


async def test_a_form_of_another_site_does_nothing(http: httpx.AsyncClient) -> None:
    """Neither with a foreign origin, nor without one, nor without the token of our pages."""
    await _sign_in(http)
    ours = {"form_token": secrecy.form_token(cookie(http))}
    for headers, form in (
        ({"Origin": "https://evil.example"}, ours),
        ({"Origin": "null"}, ours),
        ({"Origin": ADDRESS}, {}),
        ({"Origin": ADDRESS}, {"form_token": "b"}),
    ):
        answer = await http.post("/console/sign-out", data=form, headers=headers)
        assert answer.status_code == 403
        assert (await http.post("/api/v1/me/password", json={}, headers=headers)).status_code == 403
    del http.headers["Origin"]
    assert (await send(http, "/console/sign-out")).status_code == 403
    assert await name_of(http) == "Ivanova"


async def test_a_link_lets_in_once(
    transport: httpx.ASGITransport, db: asyncpg.Connection, database: str
) -> None:
    """A used one, one that is past, one that was replaced, one that was made up: none opens."""
    user_id = await db.fetchval("select id from user_account")
    async with (
        inside.core(database, API_TOKEN="x" * 20) as other,
        httpx.AsyncClient(
            transport=other, base_url=ADDRESS, headers={"Authorization": "Bearer " + "x" * 20}
        ) as admin,
    ):
        paths = [
            (await admin.post(f"/api/v1/users/{user_id}/sign-in-link")).json()["path"]
            for _ in range(2)
        ]
        secrets = [path.partition("#")[2] for path in paths]
        async with browser(transport) as http:
            for secret, status in ((secrets[0], 403), ("made-up", 403), (secrets[1], 303)):
                response = await send(http, "/console/sign-in/link", secret=secret)
                assert response.status_code == status
            assert await name_of(http) == "Ivanova"
            assert (await send(http, "/console/sign-in/link", secret=secrets[1])).status_code == 403
        late = (await admin.post(f"/api/v1/users/{user_id}/sign-in-link")).json()["path"]
        await db.execute("update sign_in_link set expires_at = now()")
        async with browser(transport) as http:
            secret = late.partition("#")[2]
            assert (await send(http, "/console/sign-in/link", secret=secret)).status_code == 403


async def test_every_page_has_its_policy(http: httpx.AsyncClient) -> None:
    """No inline script or style, no frame, nothing from elsewhere, nothing kept by a cache."""
    pages = [await http.get("/console/sign-in"), await http.get("/console/sign-in/link")]
    await _sign_in(http)
    paths = ("/console/documents", "/console/password", "/console/nothing")
    pages += [await http.get(path) for path in paths]
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert " style=" not in page.text
        assert "<script>" not in page.text
        assert "http://" not in page.text.replace(ADDRESS, "")


async def test_an_open_api_does_nothing_for_another_site(database: str) -> None:
    """Nobody is asked who they are here; a page of another site, or a name that a stranger lets
    lead here, is refused all the same. The console asks.
    """
    async with inside.core(database) as transport, browser(transport) as http:
        assert (await http.get("/api/v1/files")).status_code == 200
        assert (await http.get("/console/documents")).status_code == 303
        body = {"reason": "x", "filter": {"status": "ERROR"}}
        for headers, status in (
            ({}, 202),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": ADDRESS, "Sec-Fetch-Site": "cross-site"}, 403),
        ):
            sent = await http.post("/api/v1/attempts/bulk", json=body, headers=headers)
            assert sent.status_code == status
        rebound = await http.get("/api/v1/files", headers={"Host": "evil.example:8080"})
        assert rebound.status_code == 403
