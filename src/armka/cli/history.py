"""`armka files timeline|attempts|continuity`: what happened to a file, and what it goes on from."""

from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, AsJson, Url
from armka.cli.asking import ask, get
from armka.cli.output import print_json, print_table


def timeline(file_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Tell what happened to a file, and what to do about its error."""
    told = get(url, f"/files/{file_id}/timeline")
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
    items = get(url, f"/files/{file_id}/attempts")["items"]
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


def continuity(client_ref: str, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show a client's documents in order, and which accounts do not go on where they ended (R6)."""
    told = get(url, f"/continuity?{urlencode({'client_ref': client_ref})}")
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


def changes(
    file_id: UUID,
    *,
    against: Annotated[int | None, typer.Option(help="The earlier attempt.")] = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show what the current attempt read otherwise, and what became of the old corrections."""
    told = get(url, _changes(file_id, against))
    if as_json:
        print_json(told)
        return
    typer.echo(f"attempt {told['attempt']} against {told['against']}")
    for document in told["documents"]:
        typer.echo(f"{document['ordinal']}. {document['title']}")
        print_table(_CORRECTIONS, (
            (one["id"], one["account"], one["name"], one["field"],
             *(_value(one[name]) for name in ("reading", "corrected", "now")), one["verdict"])
            for one in document["corrections"]
        ))  # fmt: skip
        print_table(("line", "account", "name", "field", "was read", "now"), (
            (line["kind"], line["account"], line["name"], value["field"], _value(value["old"]),
             _value(value["new"]))
            for line in document["lines"]
            for value in line["values"] or [_WHOLE]
        ))  # fmt: skip


_CORRECTIONS = ("correction", "account", "name", "field", "was read", "corrected", "now", "so")
_WHOLE: dict[str, Any] = {"field": "", "old": None, "new": None}


def _changes(file_id: UUID, against: int | None) -> str:
    return f"/files/{file_id}/changes" + (f"?against={against}" if against else "")


def _value(value: dict[str, Any] | None) -> str:
    if value is None:
        return ""
    return "?" if value["is_unknown"] else value["value"] or ""


def carry_over(
    file_id: UUID,
    ordinal: Annotated[int, typer.Argument(help="Which document of the file.")] = 1,
    *,
    against: Annotated[int | None, typer.Option(help="The earlier attempt.")] = None,
    correction: Annotated[
        list[int] | None, typer.Option(help="Only these, conflicts too; else all that apply.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with each.")] = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Repeat corrections of an earlier attempt in the current one."""
    path = f"/files/{file_id}/documents/{ordinal}/carry-over"

    async def work(http: httpx.AsyncClient) -> dict[str, Any]:
        seen = await api.call(http, "GET", _changes(file_id, against))
        tags = {one["ordinal"]: one["etag"] for one in seen["documents"]}
        headers = {"If-Match": tags.get(ordinal) or ""}
        body = {"against": seen["against"], "corrections": correction or None, "reason": reason}
        made: dict[str, Any] = await api.call(http, "POST", path, json=body, headers=headers)
        return made

    made = ask(url, work)
    print_json(made) if as_json else typer.echo(
        f"revision {made['revision']}, lines {', '.join(map(str, made['lines'])) or 'none'}"
    )
