"""API tokens of machines."""

import asyncio
import json
import sys
from typing import Any
from uuid import uuid4

import asyncpg
import httpx

from tests import web
from tests.http.serving import QuietCore, assert_problem
from tests.identity.conftest import TOKEN
from tests.identity.people import deeds


async def _me(core: QuietCore, token: str) -> httpx.Response:
    async with web.client(base_url=core.url) as http:
        return await http.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})


async def _add(admin: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    body = {"name": str(uuid4()), "scopes": ["files:read"], "days": 1} | fields
    made: dict[str, Any] = (await admin.post("/tokens", json=body)).raise_for_status().json()
    return made


async def test_a_token_is_shown_once_and_kept_as_its_digest(
    guarded_core: QuietCore, admin: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Lists show how it begins; the database and the log hold it nowhere."""
    made = await _add(admin)
    assert made["token"].startswith("arm_")
    assert (await _me(guarded_core, made["token"])).json()["name"] == made["name"]
    items = (await admin.get("/tokens")).json()["items"]
    [listed] = [item for item in items if item["id"] == made["id"]]
    assert "token" not in listed
    assert made["token"].startswith(listed["prefix"])
    assert listed["last_used_at"] is not None
    rows = await db.fetch("select to_jsonb(api_token)::text as t from api_token")
    assert not any(made["token"][4:] in row["t"] for row in rows)
    assert made["token"] not in guarded_core.log.read_text()


async def test_a_token_ends_when_it_is_revoked_and_when_it_is_over(
    guarded_core: QuietCore, admin: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """At once; its name is free again; the audit knows why."""
    revoked, over = await _add(admin), await _add(admin)
    path = f"/tokens/{revoked['id']}/revoke"
    assert (await admin.post(path, json={"reason": "leaked"})).json()["revoked_at"]
    await db.execute("update api_token set expires_at = now() where id = $1::uuid", over["id"])
    for gone in (revoked, over):
        assert_problem(await _me(guarded_core, gone["token"]), 401, "unauthorized")
    assert ("api", "token.revoked", "leaked") in await deeds(db, subject=revoked["id"])
    await _add(admin, name=revoked["name"])
    body = {"name": revoked["name"].upper(), "scopes": ["attempts"]}
    assert_problem(await admin.post("/tokens", json=body), 409, "name-taken")


async def _armka(core: QuietCore, *arguments: str, given: str = "") -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "armka.cli", *arguments, "--url", core.url,
        env={"PATH": "/usr/bin:/bin", "API_TOKEN": TOKEN},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate(given.encode())
    return process.returncode or 0, out.decode(), err.decode()


async def test_the_command_line_does_what_the_api_does(guarded_core: QuietCore) -> None:
    """Accounts, tokens, the audit: made, changed, told of; refusals say why."""
    name = f"cli-{uuid4().hex[:8]}"
    code, out, err = await _armka(guarded_core, "users", "add", name, "--role", "analyst", "--json")
    assert code == 0, err
    user = json.loads(out)
    assert user["link"].startswith(f"{guarded_core.url}/console/sign-in/link#")
    assert (await _armka(guarded_core, "users", "add", name, "--role", "admin"))[0] == 1
    given = "some words that nobody knows\n"
    done = await asyncio.gather(
        _armka(guarded_core, "users", "password", name, "--password-stdin", given=given),
        _armka(guarded_core, "users", "roles", name, "--role", "manager", "--reason", "new post"),
        _armka(guarded_core, "users", "disable", name, "--reason", "left"),
        _armka(guarded_core, "tokens", "add", f"{name} machine", "--scope", "files:read"),
    )
    assert [code for code, _, _ in done] == [0, 0, 0, 0], done
    _, out, _ = await _armka(guarded_core, "users", "show", name, "--json")
    shown = json.loads(out)
    assert (shown["roles"], shown["has_password"]) == (["manager"], True)
    assert shown["disabled_at"] is not None
    _, out, _ = await _armka(guarded_core, "audit", "--subject", user["id"], "--json")
    actions = {json.loads(line)["action"] for line in out.splitlines()}
    assert actions == {"user.added", "user.link", "user.password", "user.roles", "user.disabled"}
    code, _, err = await _armka(guarded_core, "users", "show", "nobody-at-all")
    assert (code, "nobody has this name" in err) == (1, True)
