"""`armka files list|show|export|source|retry|withdraw|restore`."""

import asyncio
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, ApiRefused, AsJson, Url
from armka.cli.bulk import retry_all
from armka.cli.output import print_facts, print_json, print_table

app = typer.Typer(help="Uploaded files.", no_args_is_help=True)

Status = Annotated[str | None, typer.Option(help="Only files with this status.")]
Limit = Annotated[int, typer.Option(help="At most so many.", min=1)]
ClientRef = Annotated[str | None, typer.Option(help="Only files of this client.")]
Name = Annotated[str | None, typer.Option(help="Only files with this in their name.")]

_PAGE = 500


@app.command("list")
def list_files(  # noqa: PLR0913 - each is an option of the command
    status: Status = None,
    limit: Limit = 100,
    *,
    client_ref: ClientRef = None,
    name: Name = None,
    organisation: Annotated[
        str | None, typer.Option(help="Only with this in the organisation's name.")
    ] = None,
    period_from: Annotated[
        str | None, typer.Option(help="Only with a period up to this day or beyond (2025-01-31).")
    ] = None,
    period_to: Annotated[
        str | None, typer.Option(help="Only with a period that begins by this day.")
    ] = None,
    withdrawn: Annotated[
        bool, typer.Option("--withdrawn", help="With the withdrawn ones.")
    ] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List files, newest first."""
    filters = {
        "status": status,
        "client_ref": client_ref,
        "name": name,
        "organisation": organisation,
        "period_from": period_from,
        "period_to": period_to,
        "withdrawn": "true" if withdrawn else None,
    }
    items = asyncio.run(_list(url, filters, limit))
    if as_json:
        for item in items:
            print_json(item)
        return
    print_table(
        ("id", "file", "status", "error", "organisation", "period", "lines"),
        map(_summary, items),
        status=2,
    )


async def _list(url: str, filters: dict[str, str | None], limit: int) -> list[dict[str, Any]]:
    try:
        async with api.client(url) as http:
            return await pages(http, "/files", filters, limit)
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


@app.command("export")
def export(
    file_id: UUID,
    target: Annotated[
        Path | None, typer.Argument(help="Where to; a file that is not there.")
    ] = None,
    *,
    xlsx: Annotated[bool, typer.Option("--xlsx/--csv", help="A workbook, or a table.")] = True,
    json_: Annotated[bool, typer.Option("--json", help="JSON, for programs.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Save a file's trial-balance lines as XLSX, CSV or JSON, corrected values marked."""
    ending = "json" if json_ else "xlsx" if xlsx else "csv"
    save(url, f"/files/{file_id}/lines.{ending}", target or Path(f"{file_id}.{ending}"))


@app.command("source")
def source(file_id: UUID, target: Path, *, url: Url = DEFAULT_URL) -> None:
    """Save the document as it was uploaded."""
    save(url, f"/files/{file_id}/source", target)


def save(url: str, path: str, target: Path) -> None:
    """Download what is at a path of the API into a file that was not there."""

    async def download() -> None:
        async with api.client(url) as http:
            await api.save(http, path, target)

    try:
        asyncio.run(download())
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None
    except OSError as error:
        typer.echo(f"armka: cannot write {target}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    typer.echo(target)


@app.command("withdraw")
def withdraw(
    file_id: UUID,
    *,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the file.")],
    by: Annotated[str, typer.Option(help="On whose behalf.")] = "cli",
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Hide a file from lists; it is not deleted."""
    body = {"reason": reason, "by": by}
    item = asyncio.run(_post(url, f"/files/{file_id}/withdraw", body))
    print_json(item) if as_json else typer.echo(f"{file_id} is withdrawn")


@app.command("restore")
def restore(file_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show a withdrawn file in lists again."""
    item = asyncio.run(_post(url, f"/files/{file_id}/restore", None))
    print_json(item) if as_json else typer.echo(f"{file_id} is back")


async def _post(url: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
    try:
        async with api.client(url) as http:
            answer: dict[str, Any] = await api.call(http, "POST", path, json=body)
            return answer
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None


@app.command("retry")
def retry(  # noqa: PLR0913 - each is an option of the command
    file_id: Annotated[UUID | None, typer.Argument(help="The file; or give --status.")] = None,
    *,
    status: Annotated[
        str | None, typer.Option(help="All files that are ERROR, NEEDS_CHECK or DONE.")
    ] = None,
    client_ref: ClientRef = None,
    name: Name = None,
    error_code: Annotated[str | None, typer.Option(help="Only files with this error.")] = None,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the operation.")] = "cli",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Recognise a file again: a new attempt. With --status: all that match, as they are now."""
    if (file_id is None) == (status is None):
        typer.echo("armka: name one file, or give --status for many", err=True)
        raise typer.Exit(2)
    if file_id is None:
        wanted = {
            "status": status,
            "client_ref": client_ref,
            "name": name,
            "error_code": error_code,
        }
        retry_all(url, wanted, reason, yes=yes, as_json=as_json)
        return
    attempt = asyncio.run(begin_attempt(url, file_id))
    if as_json:
        print_json(attempt)
    else:
        typer.echo(f"attempt {attempt['attempt']} is job {attempt['job_id']}")


async def begin_attempt(url: str, file_id: UUID | str) -> dict[str, Any]:
    """Ask for a new attempt; a refusal ends the command."""
    try:
        async with api.client(url) as http:
            path = f"/files/{file_id}/attempts"
            attempt: dict[str, Any] = await api.call_once(http, "POST", path)
            return attempt
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None
