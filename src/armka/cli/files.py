"""`armka files list|show|retry`."""

import asyncio
from typing import Annotated, Any
from uuid import UUID

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, ApiRefused, AsJson, Url
from armka.cli.output import print_facts, print_json, print_table

app = typer.Typer(help="Uploaded files.", no_args_is_help=True)

Status = Annotated[str | None, typer.Option(help="Only files with this status.")]
Limit = Annotated[int, typer.Option(help="At most so many.", min=1)]

_PAGE = 500


@app.command("list")
def list_files(
    status: Status = None, limit: Limit = 100, *, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """List files, newest first."""
    items = asyncio.run(_list(url, status, limit))
    if as_json:
        for item in items:
            print_json(item)
        return
    print_table(
        ("id", "file", "status", "error", "organisation", "period", "lines"),
        map(_summary, items),
        status=2,
    )


async def _list(url: str, status: str | None, limit: int) -> list[dict[str, Any]]:
    try:
        async with api.client(url) as http:
            return await pages(http, "/files", {"status": status}, limit)
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None


async def pages(
    http: httpx.AsyncClient, path: str, filters: dict[str, str | None], limit: int
) -> list[dict[str, Any]]:
    """Read a list of the API page by page, at most `limit` items."""
    items: list[dict[str, Any]] = []
    after: str | None = None
    while len(items) < limit:
        asked = {**filters, "after": after, "limit": str(min(_PAGE, limit - len(items)))}
        page = await api.call(
            http, "GET", path, params={k: v for k, v in asked.items() if v is not None}
        )
        items += page["items"]
        after = page["next"]
        if after is None:
            break
    return items


def _summary(item: dict[str, Any]) -> tuple[object, ...]:
    documents = item["documents"]
    first = documents[0] if documents else {}
    lines = sum(document["line_count"] for document in documents) if documents else None
    return (
        item["id"],
        item["original_name"],
        item["status"],
        item["error_code"],
        first.get("organisation_name"),
        first.get("period_text"),
        lines,
    )


@app.command("show")
def show(
    file_id: UUID,
    *,
    lines: Annotated[bool, typer.Option("--lines", help="With its trial-balance lines.")] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show one file, and with --lines what was read of it."""
    item, balance = asyncio.run(_show(url, file_id, lines))
    if as_json:
        print_json(balance if lines else item)
        return
    job = item["job"] or {}
    print_facts(
        {
            name: item[name]
            for name in (
                "id",
                "original_name",
                "file_type",
                "status",
                "error_code",
                "error_message",
            )
        }
        | {"attempt": job.get("attempt"), "job": job.get("id"), "service": job.get("service_name")}
    )
    for document in balance["documents"]:
        _print_document(document)


async def _show(url: str, file_id: UUID, lines: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        async with api.client(url) as http:
            item = await api.call(http, "GET", f"/files/{file_id}")
            balance: dict[str, Any] = {"file_id": str(file_id), "documents": [], "next": None}
            after: dict[str, str] = {}
            while lines:
                page = await api.call(http, "GET", f"/files/{file_id}/lines", params=after)
                _join(balance["documents"], page["documents"])
                if page["next"] is None:
                    break
                after = {"after": page["next"]}
            return item, balance
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None


def _join(documents: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """Add a page: its first document may go on where the last one stopped."""
    if documents and more and documents[-1]["ordinal"] == more[0]["ordinal"]:
        documents[-1]["lines"] += more[0]["lines"]
        more = more[1:]
    documents += more


def _print_document(document: dict[str, Any]) -> None:
    typer.echo("")
    organisation, period = document["organisation"] or {}, document["period"] or {}
    print_facts(
        {
            "title": document["title"],
            "organisation": organisation.get("name"),
            "period": period.get("text"),
        }
        | {"layout": document["group_schema"], "unit": document["unit"]}
    )
    rows = (
        (f"{'  ' * line['level']}{line['account'] or ''}", line["name"], *line["values"])
        for line in document["lines"]
    )
    print_table(
        (
            "account",
            "name",
            "opening Dt",
            "opening Ct",
            "turnover Dt",
            "turnover Ct",
            "closing Dt",
            "closing Ct",
        ),
        rows,
    )
    for check in document["checks"]:
        typer.echo(f"{check['severity']} {check['rule']}: {check['message']}")


@app.command("retry")
def retry(file_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Recognise a file again: a new attempt."""
    attempt = asyncio.run(begin_attempt(url, file_id))
    if as_json:
        print_json(attempt)
    else:
        typer.echo(f"attempt {attempt['attempt']} is job {attempt['job_id']}")


async def begin_attempt(url: str, file_id: UUID | str) -> dict[str, Any]:
    """Ask for a new attempt; a refusal ends the command."""
    try:
        async with api.client(url) as http:
            attempt: dict[str, Any] = await api.call(http, "POST", f"/files/{file_id}/attempts")
            return attempt
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None
