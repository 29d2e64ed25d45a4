"""`armka tokens add|list|revoke`."""

from typing import Annotated
from uuid import UUID

import typer

from armka.cli.api import DEFAULT_URL, AsJson, Url
from armka.cli.asking import post, read_list
from armka.cli.output import print_json, print_table

app = typer.Typer(help="API tokens of machines.", no_args_is_help=True)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Which machine it is for.")],
    scope: Annotated[
        list[str],
        typer.Option(
            help="files:read, files:upload, files:manage, files:review, attempts, jobs:read, "
            "metrics:read or identity; may be repeated."
        ),
    ],
    *,
    days: Annotated[int, typer.Option(help="For so long.", min=1, max=365)] = 90,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Make a token. It is printed this once; only its digest is kept."""
    made = post(url, "/tokens", {"name": name, "scopes": scope, "days": days})
    if as_json:
        print_json(made)
        return
    typer.echo(made["token"])
    typer.echo(f"until {made['expires_at']}, for {', '.join(made['scopes'])}", err=True)


@app.command("list")
def list_tokens(
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 1000,
    *,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List tokens, latest first."""
    items = read_list(url, "/tokens", {}, limit)
    if as_json:
        for item in items:
            print_json(item)
        return
    columns = ("id", "name", "prefix", "made_by", "expires_at", "last_used_at", "revoked_at")
    print_table(
        (*columns, "scopes"),
        ((*(item[name] for name in columns), ", ".join(item["scopes"])) for item in items),
    )


@app.command("revoke")
def revoke(
    token_id: UUID,
    *,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")] = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """End a token at once."""
    token = post(url, f"/tokens/{token_id}/revoke", {"reason": reason})
    print_json(token) if as_json else typer.echo(f"{token['name']} is revoked")
