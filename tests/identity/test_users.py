"""Accounts: made, changed, disabled; passwords; sessions that end with what they stood on."""

from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from armka.core.identity.passwords import Passwords
from tests.files import documents
from tests.http.serving import QuietCore, assert_problem, upload
from tests.identity.people import PASSWORD, deeds, person


def _name() -> str:
    return f"user-{uuid4().hex[:12]}"


async def _add(admin: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    body = {"name": _name(), "roles": ["analyst"]} | fields
    user: dict[str, Any] = (await admin.post("/users", json=body)).raise_for_status().json()
    return user


async def test_an_account_is_made_listed_and_shown(admin: httpx.AsyncClient) -> None:
    """By name, also in another case; its password is nowhere to be seen."""
    user = await _add(admin, display_name="Иванова А. П.", password=PASSWORD)
    assert (user["display_name"], user["roles"]) == ("Иванова А. П.", ["analyst"])
    assert user["has_password"] is True
    assert "password" not in user
    found = (await admin.get("/users", params={"name": user["name"].upper()})).json()
    assert [item["id"] for item in found["items"]] == [user["id"]]
    assert (await admin.get(f"/users/{user['id']}")).json() == user


async def test_accounts_are_listed_page_by_page(admin: httpx.AsyncClient) -> None:
    """Each once, by name."""
    for _ in range(3):
        await _add(admin)
    names: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = (await admin.get("/users", params=query)).raise_for_status().json()
        names += [item["name"] for item in page["items"]]
        if page["next"] is None:
            break
        query["after"] = page["next"]
    assert names == sorted(names)
    assert len(names) == len(set(names)) >= 3


async def test_a_name_is_taken_once(admin: httpx.AsyncClient) -> None:
    """Whatever its case."""
    user = await _add(admin)
    body = {"name": user["name"].upper(), "roles": ["admin"]}
    assert_problem(await admin.post("/users", json=body), 409, "name-taken")


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaaaaaa", "x" * 300])
async def test_a_password_that_is_easily_guessed_is_refused(
    admin: httpx.AsyncClient, password: str
) -> None:
    """Too short, too plain, or so long that it would only cost time."""
    body = {"name": _name(), "roles": ["analyst"], "password": password}
    assert_problem(await admin.post("/users", json=body), 422, "password-unfit")


async def test_a_password_does_not_hold_the_name(admin: httpx.AsyncClient) -> None:
    """The first thing that is tried."""
    name = _name()
    body = {"name": name, "roles": ["analyst"], "password": f"1{name}2"}
    assert_problem(await admin.post("/users", json=body), 422, "password-unfit")


async def test_a_password_is_kept_as_argon2(
    admin: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Never as itself."""
    user = await _add(admin, password=PASSWORD)
    kept = await db.fetchval(
        "select password_hash from user_account where id = $1::uuid", user["id"]
    )
    assert kept.startswith("$argon2id$")
    assert await Passwords().matches(PASSWORD, kept)
    assert not await Passwords().matches(f"{PASSWORD}.", kept)
    assert not await Passwords().matches(PASSWORD, None)


async def test_new_roles_hold_from_the_next_request_on(
    guarded_core: QuietCore, admin: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Also in a session that was begun before, and the audit has both."""
    someone = await person(db, _name(), ["analyst"])
    async with someone.browser(guarded_core.url) as browser:
        assert (await browser.get("/api/v1/users")).status_code == 403
        body = {"roles": ["admin", "analyst"], "reason": "takes over"}
        (await admin.post(f"/users/{someone.id}/roles", json=body)).raise_for_status()
        assert (await browser.get("/api/v1/users")).status_code == 200
    assert await deeds(db, subject=someone.id) == [("api", "user.roles", "takes over")]


@pytest.mark.parametrize("what", ["disable", "sign-out", "password"])
async def test_a_session_ends_with_what_it_stood_on(
    guarded_core: QuietCore, admin: httpx.AsyncClient, db: asyncpg.Connection, what: str
) -> None:
    """At once, on every replica: the session is a row."""
    someone = await person(db, _name(), ["analyst"])
    body = {"password": "another long word"} if what == "password" else {"reason": "left"}
    async with someone.browser(guarded_core.url) as browser:
        assert (await browser.get("/api/v1/me")).json()["name"] == someone.name
        (await admin.post(f"/users/{someone.id}/{what}", json=body)).raise_for_status()
        assert (await browser.get("/api/v1/me")).status_code == 401


async def test_a_session_runs_out(guarded_core: QuietCore, db: asyncpg.Connection) -> None:
    """At its end, and after an hour without a request, by the database's clock."""
    for column in ("expires_at", "last_seen_at"):
        someone = await person(db, _name(), ["analyst"])
        async with someone.browser(guarded_core.url) as browser:
            assert (await browser.get("/api/v1/me")).status_code == 200
            await db.execute(
                f"update user_session set {column} = now() - interval '61 minutes' "
                "where user_account_id = $1",
                someone.id,
            )
            assert (await browser.get("/api/v1/me")).status_code == 401


async def test_ones_own_password_takes_the_present_one(
    guarded_core: QuietCore, admin: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """The session that changes it stays, the others end."""
    someone = await person(db, _name(), ["analyst"])
    path = f"/users/{someone.id}/password"
    async with someone.browser(guarded_core.url) as browser:
        first = {"new": PASSWORD}
        (await browser.post("/api/v1/me/password", json=first)).raise_for_status()
        wrong = {"old": "another long word", "new": "yet another long word"}
        refusal = await browser.post("/api/v1/me/password", json=wrong)
        assert_problem(refusal, 422, "password-wrong")
        right = {"old": PASSWORD, "new": "yet another long word"}
        (await browser.post("/api/v1/me/password", json=right)).raise_for_status()
        assert (await browser.get("/api/v1/me")).status_code == 200
    assert (await admin.post(path, json={"password": "x"})).status_code == 422
    assert_problem(await admin.post("/me/password", json=right), 409, "not-local")


async def test_a_deed_bears_the_name_of_who_did_it(
    guarded_core: QuietCore, db: asyncpg.Connection, admin: httpx.AsyncClient
) -> None:
    """Not the name that is told; who has no name of its own may tell one."""
    someone = await person(db, _name(), ["manager"])
    async with someone.browser(guarded_core.url) as browser:
        browser.base_url = httpx.URL(f"{guarded_core.url}/api/v1")
        made = (await upload(browser, "a.xlsx", documents.xlsx())).raise_for_status().json()
        path = f"/files/{made['file_id']}"
        await db.execute(
            "update recognition_job set status = 'error' where id = $1::uuid", made["job_id"]
        )
        await db.execute(
            "update stored_file set status = 'ERROR' where id = $1::uuid", made["file_id"]
        )
        body = {"reason": "wrong client", "by": "somebody else"}
        shown = (await browser.post(f"{path}/withdraw", json=body)).raise_for_status().json()
        assert (shown["uploaded_by"], shown["withdrawn_by"]) == (someone.name, someone.name)
        (await browser.post(f"{path}/restore")).raise_for_status()
        (await browser.get(f"{path}/source")).raise_for_status()
        (await browser.post(f"{path}/attempts")).raise_for_status()
    bulk = {
        "filter": {"status": "ERROR", "client_ref": str(uuid4())},
        "reason": "r",
        "by": "Петров",
    }
    operation = (await admin.post("/attempts/bulk", json=bulk)).raise_for_status().json()
    assert operation["requested_by"] == "Петров"
    assert await deeds(db, subject=made["file_id"]) == [
        (someone.name, "file.uploaded", None),
        (someone.name, "file.withdrawn", "wrong client"),
        (someone.name, "file.restored", None),
        (someone.name, "file.source", None),
        (someone.name, "file.attempt", None),
    ]


async def test_the_audit_can_only_be_added_to(db: asyncpg.Connection) -> None:
    """The database refuses everything else, to its owner too."""
    await db.execute(
        "insert into audit_event (actor_kind, actor, action) values ('open', 'api', 'a')"
    )
    for statement in (
        "update audit_event set actor = 'somebody'",
        "delete from audit_event",
        "truncate audit_event",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
            await db.execute(statement)


async def test_the_audit_is_read_by_who_may(
    guarded_core: QuietCore, admin: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """With filters, page by page, latest first."""
    user = await _add(admin)
    for number in range(3):
        (
            await admin.post(f"/users/{user['id']}/sign-out", json={"reason": str(number)})
        ).raise_for_status()
    reasons: list[str | None] = []
    query: dict[str, Any] = {"subject": user["id"], "limit": 2, "actor": "API"}
    while True:
        page = (await admin.get("/audit", params=query)).raise_for_status().json()
        reasons += [item["reason"] for item in page["items"]]
        if page["next"] is None:
            break
        query["after"] = page["next"]
    assert reasons == ["2", "1", "0", None]
