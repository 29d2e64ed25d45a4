"""`armka files timeline|attempts|continuity`: what happened to a file, and what it goes on from."""

import asyncio
from typing import Any
from urllib.parse import urlencode
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


def continuity(client_ref: str, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show a client's documents in order, and which accounts do not go on where they ended (R6)."""
    told = asyncio.run(get(url, f"/continuity?{urlencode({'client_ref': client_ref})}"))
    if as_json:
        print_json(told)
        return
    for series in told["series"]:
        typer.echo(f"{series['organisation_name'] or ''} {series['organisation_inn'] or ''}")
        columns = (
            "period_from",
            "period_to",
            "original_name",
            "ordinal",
            "status",
            "warning_count",
        )
        print_table(columns, ([one[name] for name in columns] for one in series["documents"]))
        for gap in series["gaps"]:
            typer.echo(f"No document from {gap['first']} to {gap['last']}.")
        for link in series["links"]:
            _print_link(link, series["documents"])


def _print_link(link: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    ends = {
        (one["file_id"], one["ordinal"]): f"{one['period_from']}…{one['period_to']}"
        for one in documents
    }
    earlier, later = (
        ends[link[end]["file_id"], link[end]["ordinal"]] for end in ("earlier", "later")
    )
    typer.echo(f"{earlier} → {later}: {link['difference_count']} of {link['compared']} differ")
    if link["differences"]:
        columns = ("account", "name", "closing", "opening", "difference")
        print_table(columns, ([one[name] for name in columns] for one in link["differences"]))
