"""`armka files timeline|attempts`: what happened to a file."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, ApiRefused, AsJson, Url
from armka.cli.output import print_json, print_table


def timeline(file_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Tell what happened to a file, and what to do about its error."""
    told = asyncio.run(get(url, f"/files/{file_id}/timeline"))
    if as_json:
        print_json(told)
        return
    rows = ((item["at"][:19].replace("T", " "), _said(item)) for item in told["items"])
    print_table(("at (UTC)", "what happened"), rows)
    if told["error"]:
        error = told["error"]
        typer.echo(f"{error['code']}: {error['what']}")
        typer.echo(f"What to do: {error['next']}")


def _said(item: dict[str, Any]) -> str:
    message = item["fields"].get("message")
    return (
        f"{item['text']} ({message})" if message and message not in item["text"] else item["text"]
    )


def attempts(file_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """List the attempts to recognise a file, first to last."""
    items = asyncio.run(get(url, f"/files/{file_id}/attempts"))["items"]
    if as_json:
        for item in items:
            print_json(item)
        return
    columns = ("attempt", "status", "error_code", "service_name", "service_version", "finished_at")
    rows = (
        [
            *(item[name] for name in columns),
            len(item["documents"]),
            "*" if item["is_current"] else "",
        ]
        for item in items
    )
    print_table((*columns, "documents", "counts"), rows, status=1)


async def get(url: str, path: str) -> Any:
    """Ask the API; a refusal ends the command."""
    try:
        async with api.client(url) as http:
            return await api.call(http, "GET", path)
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None
