"""`armka nats-setup`: a NATS in operator mode, with least privilege."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armka.cli.output import print_json

if TYPE_CHECKING:
    from armka.contract.vocabulary import Pipeline
    from armka.messaging.setup.roles import Role


def nats_setup(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Made, or made earlier by this command.")
    ],
    days: Annotated[
        float, typer.Option(help="The users' JWTs are valid for so long.", min=0.0001, max=3650)
    ] = 90,
    service: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PIPELINE",
            help="One more service, such as bank-ocr=image; again for each.",
        ),
    ] = None,
    *,
    manage_stream: Annotated[
        bool, typer.Option(help="The core may create the stream (NATS_MANAGE_STREAM).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make keys, accounts and users of NATS, each with its role's permissions alone.

    Run it again on the same folder to prolong the users' JWTs; the keys stay. Subjects are those
    of NATS_SUBJECT_*, where set.
    """
    from armka.messaging.setup.folder import FolderNotOurs, write

    try:
        made = write(folder, _roles(service or [], manage_stream=manage_stream), days=days)
    except FolderNotOurs as error:
        typer.echo(f"armka nats-setup: {error}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(f"armka nats-setup: {error.strerror}: {error.filename}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        users = {path.name: str(path) for path in made.users}
        print_json({"accounts": str(made.accounts), "users": users, "is_new": made.is_new})
        return
    typer.echo("new keys" if made.is_new else "the keys of before, new JWTs")
    typer.echo(f"for the server   include {made.accounts.absolute()}")
    for path in made.users:
        typer.echo(f"for {path.name:<16} {path}.env, .json (OpenBao), .creds")
    typer.echo(f"keep away        {folder / 'keys'}: whoever has it can make any user")


def _roles(services: list[str], *, manage_stream: bool) -> "list[Role]":
    from pydantic import ValidationError

    from armka.contract.subjects import Transport
    from armka.messaging.settings import NatsSettings
    from armka.messaging.setup.roles import SERVICES, roles

    try:
        settings = NatsSettings()
    except ValidationError as error:
        for fact in error.errors(include_input=False, include_url=False, include_context=False):
            where, what = fact["loc"], fact["msg"].removeprefix("Value error, ")
            typer.echo("armka: " + ": ".join([*map(str, where), what]), err=True)
        raise typer.Exit(2) from None
    ways = [settings.subjects_of(transport) for transport in Transport]
    known = SERVICES | dict(_service(text) for text in services)
    return roles(ways, known, manage_stream=manage_stream)


def _service(text: str) -> "tuple[str, Pipeline]":
    from armka.contract.vocabulary import Pipeline
    from armka.messaging.setup.roles import CORE, OPERATOR

    name, _, pipeline = text.partition("=")
    is_name = name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    if not is_name or name in {CORE, OPERATOR} or pipeline not in set(Pipeline):
        choices = " or ".join(Pipeline)
        raise typer.BadParameter(
            f"{text!r}: a name of letters, digits and -, then =, then {choices}",
            param_hint="--service",
        )
    return name, Pipeline(pipeline)
