"""`armka scanning-system`."""

import asyncio
from typing import Annotated

import typer

from armka.cli import logging
from armka.cli.signals import stop_event


def scanning_system(
    port: Annotated[
        int, typer.Option(help="Port of the API; 0 takes a free one.", min=0, max=65535)
    ] = 8090,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one off the loopback needs SCANNING_TOKEN.")
    ] = "127.0.0.1",
) -> None:
    """Run the reference ИС Сканирование: documents over HTTP, until SIGTERM or Ctrl-C."""
    from pydantic import ValidationError

    from armka.services.scanning_system import server
    from armka.services.scanning_system.settings import ScanningSettings

    logging.configure()
    try:
        settings = ScanningSettings()
        bound = server.listening_socket(settings, host, port)
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            name = ".".join(map(str, problem["loc"])).upper()
            typer.echo(f"armka: SCANNING_{name}: {problem['msg']}", err=True)
        raise typer.Exit(2) from None
    except server.TokenMissing as error:
        typer.echo(f"armka: {error}", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        typer.echo(f"armka: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None

    async def serve() -> None:
        await server.serve(settings, bound, stop_event())

    try:
        asyncio.run(serve())
    except server.NotStarted as error:
        typer.echo(f"armka: {error}", err=True)
        raise typer.Exit(1) from None
