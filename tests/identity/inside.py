"""A core inside the test's own process: the whole application, without a socket."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx

from armka.core.assembly import Core
from armka.core.console.settings import ConsoleSettings
from armka.core.database.settings import DatabaseSettings
from armka.core.identity import secrecy
from armka.core.identity.browser import COOKIE, COOKIE_ON_LOOPBACK
from armka.core.identity.settings import IdentitySettings
from armka.core.settings import ExchangeSettings, Settings
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.secrets.settings import OpenBaoSettings

ADDRESS = "http://127.0.0.1:8080"


def settings(dsn: str, **identity: Any) -> Settings:
    """The settings of a core without loops."""
    objects = {"S3_ENDPOINT_URL": "http://127.0.0.1:1"}
    objects |= {"S3_ACCESS_KEY_ID": "key", "S3_SECRET_ACCESS_KEY": "secret"}
    return Settings(
        ExchangeSettings.model_validate({"NATS_ENABLED": False}),
        DatabaseSettings.model_validate({"DATABASE_URL": dsn}),
        NatsSettings.model_validate({"NATS_URL": "nats://127.0.0.1:1"}),
        ObjectSettings.model_validate(objects),
        OpenBaoSettings(),
        IdentitySettings.model_validate(identity),
        ConsoleSettings(),
    )


@contextlib.asynccontextmanager
async def core(dsn: str, **identity: Any) -> AsyncIterator[httpx.ASGITransport]:
    """A core with these settings of its identity, for the time of the block."""
    made = Core(settings(dsn, **identity))
    app = made.app()
    async with made.running():
        yield httpx.ASGITransport(app, raise_app_exceptions=False)


def browser(transport: httpx.ASGITransport, address: str = ADDRESS) -> httpx.AsyncClient:
    """A browser: it keeps cookies and says where its pages are from."""
    return httpx.AsyncClient(transport=transport, base_url=address, headers={"Origin": address})


def cookie(http: httpx.AsyncClient) -> str:
    """What the browser keeps for us."""
    return http.cookies.get(COOKIE) or http.cookies.get(COOKIE_ON_LOOPBACK) or ""


async def send(http: httpx.AsyncClient, path: str, **fields: str) -> httpx.Response:
    """Fill in a form of a page that was open, and send it."""
    if not cookie(http):
        await http.get("/console/sign-in")
    form = fields | {"form_token": secrecy.form_token(cookie(http))}
    return await http.post(path, data=form)


async def name_of(http: httpx.AsyncClient) -> str | None:
    """As whom the API knows this browser."""
    response = await http.get("/api/v1/me")
    return response.json()["name"] if response.status_code == 200 else None
