"""People of a test: an account with roles, and its browser."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import httpx

from armka.core.identity import secrecy
from armka.core.identity.browser import COOKIE_ON_LOOPBACK, FORM_HEADER
from tests import web

PASSWORD = "a long enough word"


@dataclass(frozen=True)
class Person:
    """An account with a session."""

    id: UUID
    name: str
    cookie: str

    def browser(self, url: str) -> httpx.AsyncClient:
        """A client that does what a page of the console would."""
        headers = {
            "Cookie": f"{COOKIE_ON_LOOPBACK}={self.cookie}",
            "Origin": url,
            FORM_HEADER: secrecy.form_token(self.cookie),
        }
        return web.client(base_url=url, headers=headers, timeout=60)


async def person(db: asyncpg.Connection, name: str, roles: Iterable[str]) -> Person:
    """Make an account and its session straight in the database."""
    cookie = secrecy.new_secret()
    user_id = await db.fetchval(
        "insert into user_account (name, roles) values ($1, $2) returning id", name, list(roles)
    )
    await db.execute(
        "insert into user_session (digest, user_account_id, expires_at) "
        "values ($1, $2, now() + interval '1 hour')",
        secrecy.digest(cookie),
        user_id,
    )
    return Person(user_id, name, cookie)


async def deeds(db: asyncpg.Connection, **wanted: object) -> list[tuple[str, str, str | None]]:
    """Actor, action and reason of the audit's events where these columns have these values."""
    rows = await db.fetch(
        "select * from audit_event where to_jsonb(audit_event) @> $1::jsonb order by id",
        json.dumps({name: str(value) for name, value in wanted.items()}),
    )
    return [(row["actor"], row["action"], row["reason"]) for row in rows]
