"""The table of access, whole: every route is in it, and every role is tried on every route."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import asyncpg
import httpx
import pytest

from armka.core.assembly import Core
from armka.core.identity.access import RULES, Rule
from armka.core.identity.principal import Kind, Principal, Role, Scope
from tests import web
from tests.http.serving import QuietCore
from tests.identity.inside import settings
from tests.identity.people import person

# What a stranger must be able to ask for: probes, and the way in.
OPEN = re.compile(
    r"/healthcheck|/livez|/readyz"
    r"|/console/sign-in.*|/console/preferences|/console/static/\{path:path\}"
)


def routes(app: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(method, path) of everything that an application answers."""
    for route in app.routes:
        if hasattr(route, "effective_route_contexts"):
            for context in route.effective_route_contexts():
                yield from ((method, prefix + context.path) for method in context.methods)
        elif getattr(route, "methods", None):
            yield from ((method, prefix + route.path) for method in route.methods)
        elif hasattr(getattr(route, "app", None), "routes"):
            yield from routes(route.app, prefix + route.path)
        else:
            yield "GET", f"{prefix}{route.path}/{{path:path}}"


def app() -> Any:
    """The application, never started."""
    return Core(settings("postgresql://nobody@127.0.0.1/nothing")).app()


def test_every_route_is_in_the_table_and_nothing_else() -> None:
    """A route without a rule cannot be reached, a rule without a route is a lie."""
    answered = {(method, path) for method, path in routes(app()) if method != "HEAD"}
    ruled = [(rule.method, rule.path) for rule in RULES]
    assert answered == set(ruled)
    assert len(ruled) == len(set(ruled))


def test_a_path_has_one_rule() -> None:
    """No request matches two rules of a method, so that their order says nothing."""
    for rule in RULES:
        path = _path(rule)
        matching = [r for r in RULES if r.method == rule.method and r.pattern.fullmatch(path)]
        assert matching == [rule]


def test_only_the_way_in_is_open() -> None:
    """And what is not open takes a role."""
    for rule in RULES:
        assert rule.is_open == bool(OPEN.fullmatch(rule.path)), rule
        assert rule.is_open != bool(rule.roles), rule


@pytest.fixture(scope="module")
def tried() -> set[tuple[Rule, str]]:
    """Which rules were tried as whom."""
    return set()


@pytest.fixture
async def callers(
    guarded_core: QuietCore, db: asyncpg.Connection, admin: httpx.AsyncClient
) -> AsyncIterator[dict[Principal, httpx.AsyncClient]]:
    """One browser for each role, one machine for each scope."""
    made: dict[Principal, httpx.AsyncClient] = {}
    async with AsyncExitStack() as stack:
        for role in Role:
            someone = await person(db, f"{role}-{uuid4().hex[:8]}", [role])
            client = await stack.enter_async_context(someone.browser(guarded_core.url))
            made[Principal(Kind.USER, role, roles=frozenset({role}))] = client
        for scope in Scope:
            body = {"name": f"{scope} {uuid4()}", "scopes": [scope], "days": 1}
            token = (await admin.post("/tokens", json=body)).raise_for_status().json()["token"]
            client = web.client(
                base_url=guarded_core.url,
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
            await stack.enter_async_context(client)
            made[Principal(Kind.TOKEN, scope, scopes=frozenset({scope}))] = client
        yield made


async def test_each_role_and_scope_opens_what_the_table_says(
    callers: dict[Principal, httpx.AsyncClient],
) -> None:
    """403 where the table says no, and nothing of the sort where it says yes; on every route."""
    wrong = []
    for rule in RULES:
        if rule.is_open:
            continue  # the way in asks for a form of ours, whoever one is
        for principal, client in callers.items():
            async with client.stream(rule.method, _path(rule)) as response:
                pass  # one of them is a stream that does not end by itself
            is_refused = response.status_code == 403
            if is_refused == rule.admits(principal):
                wrong.append((rule.method, rule.path, principal.name, response.status_code))
    assert wrong == []


async def test_a_stranger_opens_nothing(guarded_core: QuietCore) -> None:
    """401 for programs, the way to the sign-in for people; on every route that is not open."""
    wrong = []
    async with web.client(base_url=guarded_core.url) as stranger:
        for rule in RULES:
            response = await stranger.request(rule.method, _path(rule))
            expected = {303} if rule.path.startswith("/console") else {401}
            if not rule.is_open and response.status_code not in expected:
                wrong.append((rule.method, rule.path, response.status_code))
    assert wrong == []


async def test_what_is_in_no_rule_is_nowhere(admin: httpx.AsyncClient) -> None:
    """404 for an unknown path, 405 with what can be done for an unknown method."""
    assert (await admin.get("/nothing")).status_code == 404
    response = await admin.delete("/files")
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"


def _path(rule: Rule) -> str:
    """A path of the rule that names what does not exist."""
    return re.sub(
        r"\{[a-z_]+(:path)?\}",
        lambda place: "9" if "message" in place[0] else str(uuid4()),
        rule.path,
    )
