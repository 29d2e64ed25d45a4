"""`armka audit` and `armka whoami`."""

from typing import Annotated

import typer

from armka.cli.api import DEFAULT_URL, AsJson, Url
from armka.cli.asking import get, read_list
from armka.cli.output import print_facts, print_json, print_table


def audit(
    *,
    actor: Annotated[str | None, typer.Option(help="Only what they did.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this, such as user.disabled.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="Only to the file, user, … of this id.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="From this moment on (ISO 8601).")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 100,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List who did what, and why, latest first."""
    filters = {"actor": actor, "action": action, "subject": subject, "since": since}
    items = read_list(url, "/audit", filters, limit)
    if as_json:
        for item in items:
            print_json(item)
        return
    columns = ("at", "actor_kind", "actor", "address", "action", "subject", "reason")
    print_table(columns, ([item[name] for name in columns] for item in items))


def whoami(*, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Tell as whom the API knows this command, and what it may do."""
    me = get(url, "/me")
    if as_json:
        print_json(me)
        return
    scopes = None if me["scopes"] is None else ", ".join(me["scopes"])
    print_facts(me | {"roles": ", ".join(me["roles"]) or None, "scopes": scopes})
