"""Asking the API for one thing, from a command: a refusal ends the command with its reason."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx

from armka.cli import api
from armka.cli.api import ApiRefused
from armka.cli.files import pages

T = TypeVar("T")


def get(url: str, path: str) -> dict[str, Any]:
    """Read one thing."""

    async def read(http: httpx.AsyncClient) -> dict[str, Any]:
        answer: dict[str, Any] = await api.call(http, "GET", path)
        return answer

    return ask(url, read)


def post(url: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
    """Do one thing."""

    async def send(http: httpx.AsyncClient) -> dict[str, Any]:
        answer: dict[str, Any] = await api.call(http, "POST", path, json=body)
        return answer

    return ask(url, send)


def read_list(
    url: str, path: str, filters: dict[str, str | None], limit: int
) -> list[dict[str, Any]]:
    """Read a list, at most `limit` items."""

    async def read(http: httpx.AsyncClient) -> list[dict[str, Any]]:
        return await pages(http, path, filters, limit)

    return ask(url, read)


def ask(url: str, work: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
    """Do this with the API's client; a refusal ends the command."""

    async def asked() -> T:
        async with api.client(url) as http:
            return await work(http)

    try:
        return asyncio.run(asked())
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None
