"""`armka service NAME`."""

from typing import Annotated

import typer

from armka.cli import logging


def service(
    name: Annotated[str, typer.Argument(help="Which one, such as tabular-parser.")],
) -> None:
    """Run a recognition service until SIGTERM or Ctrl-C; it finishes what it has begun."""
    from armka.services import registry

    logging.configure()
    try:
        registry.run_service(registry.service(name))
    except registry.ServiceUnknown as error:
        typer.echo(f"armka: {error}", err=True)
        raise typer.Exit(2) from None
    except registry.ServiceNotRun as error:
        for problem in error.problems:
            typer.echo(f"armka: {problem}", err=True)
        raise typer.Exit(2) from None
