"""`armka documents show|lines|correct|accept|log|confirm|reopen|export`: the review of a file."""

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, AsJson, Url
from armka.cli.asking import ask, get, post, read_list
from armka.cli.files import save
from armka.cli.output import print_facts, print_json, print_table

app = typer.Typer(help="What was read of a file, and its review.", no_args_is_help=True)

Document = Annotated[int, typer.Option("--document", "-d", help="Which of the file's.", min=1)]
Reason = Annotated[str | None, typer.Option(help="Why; it is kept.")]
Limit = Annotated[int, typer.Option(help="At most so many.", min=1)]
IfMatch = Annotated[
    str | None,
    typer.Option(
        "--if-match", help="The ETag of what was looked at; without it, the document as it is now."
    ),
]

_AMOUNTS = ("opening Dt", "opening Ct", "turnover Dt", "turnover Ct", "closing Dt", "closing Ct")
_FACTS = (
    *("title", "organisation_name", "period_text", "file_status", "revision", "etag", "unit"),
    *("line_count", "unknown_count", "error_count", "warning_count", "correction_count"),
)
_LONGEST_CELL = 80


@app.command("show")
def show(
    file_id: UUID, *, document: Document = 1, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Show a document: what it is, what fails, who confirmed it."""
    path = f"/files/{file_id}/documents/{document}"
    shown = get(url, path)
    print_json(shown) if as_json else _print(shown)


def _print(shown: dict[str, Any]) -> None:
    print_facts({name: shown[name] for name in _FACTS})
    for check in shown["checks"]:
        lines = ", ".join(map(str, check["lines"]))[:_LONGEST_CELL]
        typer.echo(f"{check['severity']} {check['rule']} [{lines}]: {check['message']}")
    for word in shown["confirmations"]:
        said = f": {word['reason']}" if word["reason"] else ""
        typer.echo(f"{word['made_at']} {word['action']} by {word['made_by']}{said}")


@app.command("lines")
def lines(
    file_id: UUID,
    *,
    document: Document = 1,
    problems: Annotated[
        bool, typer.Option("--problems", help="Only unknown values and failed checks.")
    ] = False,
    account: Annotated[str | None, typer.Option(help="An account, with what is under it.")] = None,
    text: Annotated[str | None, typer.Option(help="Part of account or name.")] = None,
    limit: Limit = 200,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List a document's lines, each with where it stood."""
    filters = {"problems": "true" if problems else None, "account": account, "text": text}
    path = f"/files/{file_id}/documents/{document}/lines"
    items = read_list(url, path, filters, limit)
    if as_json:
        for item in items:
            print_json(item)
        return
    print_table(("n", "account", "name", *_AMOUNTS, "unknown"), map(_row, items))


def _row(line: dict[str, Any]) -> tuple[object, ...]:
    unknown = "; ".join(
        f"{cell['column']} {cell['raw']} → {cell['suggested'] or '?'}" for cell in line["unknown"]
    )
    return (line["n"], line["account"], line["name"], *line["values"], unknown)


@app.command("correct")
def correct(
    file_id: UUID,
    values: Annotated[
        list[str], typer.Argument(help="LINE.FIELD=VALUE, 3.turnover_debit=1234,56; several.")
    ],
    *,
    document: Document = 1,
    reason: Reason = None,
    if_match: IfMatch = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Change values, all of these or none; an empty VALUE is an empty cell."""
    body = {"corrections": [_edit(word) for word in values], "reason": reason, "by": "cli"}
    _change(url, file_id, document, "corrections", body, if_match, as_json=as_json)


def _edit(word: str) -> dict[str, Any]:
    place, is_told, value = word.partition("=")
    line, _, field = place.partition(".")
    if not is_told or not line.isdecimal() or not field:
        typer.echo(f"armka: {word}: write LINE.FIELD=VALUE, 3.turnover_debit=1234,56", err=True)
        raise typer.Exit(2)
    return {"line": int(line), "field": field, "value": value or None}


@app.command("accept")
def accept(
    file_id: UUID,
    places: Annotated[
        list[str] | None, typer.Argument(help="LINE.FIELD of unknown values; or --all.")
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Every proposal of the document.")
    ] = False,
    document: Document = 1,
    reason: Reason = None,
    if_match: IfMatch = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Take the proposals for values that could not be read."""
    if bool(places) == everything:
        typer.echo("armka: name values as LINE.FIELD, or give --all", err=True)
        raise typer.Exit(2)
    named = [_edit(f"{place}=") for place in places or ()]
    wanted = [{"line": it["line"], "field": it["field"]} for it in named] or None
    body = {"values": wanted, "reason": reason, "by": "cli"}
    _change(url, file_id, document, "proposals/accept", body, if_match, as_json=as_json)


def _change(
    url: str,
    file_id: UUID,
    ordinal: int,
    what: str,
    body: dict[str, Any],
    seen: str | None,
    *,
    as_json: bool,
) -> None:
    path = f"/files/{file_id}/documents/{ordinal}"

    async def work(http: httpx.AsyncClient) -> Any:
        tag = seen or (await api.call(http, "GET", path))["etag"]
        headers = {"If-Match": tag}
        return await api.call_once(http, "POST", f"{path}/{what}", json=body, headers=headers)

    changed = ask(url, work)
    if as_json:
        print_json(changed)
        return
    _print(changed["document"])


@app.command("log")
def log(
    file_id: UUID,
    *,
    document: Document = 1,
    limit: Limit = 100,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Show who changed what, latest first."""
    path = f"/files/{file_id}/documents/{document}/corrections"
    items = read_list(url, path, {}, limit)
    if as_json:
        for item in items:
            print_json(item)
        return
    columns = ("made_at", "made_by", "line", "field", "old_value", "new_value", "origin", "reason")
    print_table(columns, ([item[name] for name in columns] for item in items))


@app.command("confirm")
def confirm(
    file_id: UUID, *, reason: Reason = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Say that what was read is right; where something fails or is unknown, with a reason."""
    _say(url, file_id, "confirm", reason, as_json=as_json)


@app.command("reopen")
def reopen(
    file_id: UUID, *, reason: Reason = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Take a confirmation back: the file needs a check again."""
    _say(url, file_id, "reopen", reason, as_json=as_json)


def _say(url: str, file_id: UUID, word: str, reason: str | None, *, as_json: bool) -> None:
    body = {"reason": reason, "by": "cli"}
    path = f"/files/{file_id}/{word}"
    item = post(url, path, body)
    print_json(item) if as_json else typer.echo(f"{file_id} is {item['status']}")


@app.command("export")
def export(
    file_id: UUID,
    target: Annotated[Path, typer.Argument(help="A file that is not there: .xlsx, .csv, .json.")],
    *,
    url: Url = DEFAULT_URL,
) -> None:
    """Save a file's lines, corrected values marked; the kind is by the ending."""
    ending = target.suffix.lower().removeprefix(".")
    if ending not in {"xlsx", "csv", "json"}:
        typer.echo("armka: name a file that ends in .xlsx, .csv or .json", err=True)
        raise typer.Exit(2)
    save(url, f"/files/{file_id}/lines.{ending}", target)
