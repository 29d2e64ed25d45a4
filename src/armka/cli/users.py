"""`armka users add|list|show|roles|password|link|disable|enable|sign-out`."""

from typing import Annotated, Any
from uuid import UUID

import typer

from armka.cli.api import DEFAULT_URL, AsJson, Url
from armka.cli.asking import get, post, read_list
from armka.cli.output import print_facts, print_json, print_table

app = typer.Typer(help="Who may come in.", no_args_is_help=True)

User = Annotated[str, typer.Argument(help="A name, or an id where several have the name.")]
Roles = Annotated[
    list[str], typer.Option("--role", help="analyst, operator, manager or admin; may be repeated.")
]
Reason = Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")]
FromInput = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the input.")
]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="What they type to sign in.")],
    role: Roles,
    *,
    display_name: Annotated[str | None, typer.Option(help="How they are called.")] = None,
    password_stdin: FromInput = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Make a local account. Without a password it prints a link that opens it once."""
    body = {"name": name, "roles": role, "display_name": display_name}
    if password_stdin:
        body["password"] = _from_input()
    user = post(url, "/users", body)
    link = None if password_stdin else _link(url, user["id"])
    if as_json:
        print_json(user | {"link": link})
        return
    _print(user)
    if link is not None:
        typer.echo(f"\nOpens the console once, within an hour: {link}")


@app.command("list")
def list_users(
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 1000,
    *,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List accounts by name."""
    items = read_list(url, "/users", {}, limit)
    if as_json:
        for item in items:
            print_json(item)
        return
    print_table(
        ("id", "name", "called", "roles", "kept by", "last sign-in", "disabled"),
        (
            (
                item["id"],
                item["name"],
                item["display_name"],
                ", ".join(item["roles"]),
                item["issuer"] or "arm-ka",
                item["last_signed_in_at"],
                item["disabled_at"],
            )
            for item in items
        ),
    )


@app.command("show")
def show(user: User, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show one account."""
    _tell(_user(url, user), as_json=as_json)


@app.command("roles")
def roles(
    user: User,
    role: Roles,
    *,
    reason: Reason = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Give a local account these roles, instead of those it has."""
    body = {"roles": role, "reason": reason}
    _tell(post(url, f"/users/{_user(url, user)['id']}/roles", body), as_json=as_json)


@app.command("password")
def password(
    user: User,
    *,
    password_stdin: FromInput = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Give a local account a new password; its sessions end."""
    found = _user(url, user)
    new = _from_input() if password_stdin else _asked()
    _tell(post(url, f"/users/{found['id']}/password", {"password": new}), as_json=as_json)


@app.command("link")
def link(user: User, *, url: Url = DEFAULT_URL) -> None:
    """Print a link that signs a local account in once, within an hour."""
    typer.echo(_link(url, _user(url, user)["id"]))


@app.command("disable")
def disable(
    user: User, *, reason: Reason = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Let somebody in no more; their sessions end."""
    _change(url, user, "disable", reason, as_json=as_json)


@app.command("enable")
def enable(
    user: User, *, reason: Reason = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Let somebody in again."""
    _change(url, user, "enable", reason, as_json=as_json)


@app.command("sign-out")
def sign_out(
    user: User, *, reason: Reason = None, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """End all sessions of somebody."""
    _change(url, user, "sign-out", reason, as_json=as_json)


def _change(url: str, user: str, what: str, reason: str | None, *, as_json: bool) -> None:
    path = f"/users/{_user(url, user)['id']}/{what}"
    _tell(post(url, path, {"reason": reason}), as_json=as_json)


def _tell(user: dict[str, Any], *, as_json: bool) -> None:
    print_json(user) if as_json else _print(user)


def _print(user: dict[str, Any]) -> None:
    print_facts(user | {"roles": ", ".join(user["roles"])})


def _link(url: str, user_id: str) -> str:
    path: str = post(url, f"/users/{user_id}/sign-in-link", None)["path"]
    return f"{url}{path}"


def _user(url: str, user: str) -> dict[str, Any]:
    """The account with this name or id, or the end of the command."""
    try:
        user_id = UUID(user)
    except ValueError:
        found = read_list(url, "/users", {"name": user}, 2)
    else:
        found = [get(url, f"/users/{user_id}")]
    if len(found) != 1:
        several = "several have this name: give an id" if found else "nobody has this name"
        typer.echo(f"armka: {user}: {several}", err=True)
        raise typer.Exit(1)
    return found[0]


def _from_input() -> str:
    return typer.get_text_stream("stdin").readline().rstrip("\r\n")


def _asked() -> str:
    return str(typer.prompt("New password", hide_input=True, confirmation_prompt=True, err=True))
