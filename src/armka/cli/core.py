"""`armka core` and `armka migrate`."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from armka.cli import logging
from armka.cli.signals import stop_event

if TYPE_CHECKING:
    from armka.core.errors import SettingsInvalid
    from armka.core.settings import Settings


def core(
    port: Annotated[
        int, typer.Option(help="Port of the API; 0 takes a free one.", min=0, max=65535)
    ] = 8080,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one off the loopback needs API_TOKEN.")
    ] = "127.0.0.1",
) -> None:
    """Run the core: the HTTP API and the background loops, until SIGTERM or Ctrl-C."""
    import uvloop

    from armka.core import assembly
    from armka.core.errors import SettingsInvalid

    settings = read_or_refuse()
    logging.configure(debug=settings.exchange.debug)
    try:
        bound = assembly.listening_socket(settings, host, port)
    except SettingsInvalid as error:
        raise _refusal(error) from None
    except OSError as error:
        typer.echo(f"armka core: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None

    async def serve() -> None:
        await assembly.serve(settings, bound, stop_event())

    uvloop.run(serve())


def migrate() -> None:
    """Bring the database to this version's schema; may be run again and by several replicas at
    once.
    """
    from armka.core.database import migrations
    from armka.core.errors import CoreError

    settings = read_or_refuse()
    try:
        applied = asyncio.run(migrations.migrate(settings.database.url.get_secret_value()))
    except (CoreError, OSError) as error:
        typer.echo(f"armka migrate: {error}", err=True)
        raise typer.Exit(1) from None
    for name in applied:
        typer.echo(f"applied {name}")
    if not applied:
        typer.echo("the schema is up to date")


def read_or_refuse() -> "Settings":
    """The settings, or the end of the command with every problem named."""
    from armka.core.errors import SettingsInvalid
    from armka.core.settings import read_settings

    try:
        return read_settings()
    except SettingsInvalid as error:
        raise _refusal(error) from None


def _refusal(error: "SettingsInvalid") -> typer.Exit:
    for problem in error.problems:
        typer.echo(f"armka: {problem}", err=True)
    return typer.Exit(2)
