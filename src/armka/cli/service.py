"""`armka service NAME`."""

from collections.abc import Callable
from typing import Annotated

import typer
from pydantic import ValidationError

from armka.cli import logging
from armka.contract.vocabulary import Pipeline
from armka.sdk.children import HandlerNotImported
from armka.sdk.runtime import run
from armka.sdk.service import MissingAttempt, Service


def service(
    name: Annotated[str, typer.Argument(help="Which service, for one tabular-parser.")],
) -> None:
    """Run a recognition service until SIGTERM or Ctrl-C; it finishes what it has begun."""
    if name not in _SERVICES:
        typer.echo(f"armka: no service {name!r}; there is {', '.join(sorted(_SERVICES))}", err=True)
        raise typer.Exit(2)
    logging.configure()
    try:
        run(_SERVICES[name]())
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            where = ".".join(str(part) for part in problem["loc"]) or "settings"
            typer.echo(f"armka: {where}: {problem['msg']}", err=True)
        raise typer.Exit(2) from None
    except HandlerNotImported as error:
        typer.echo(f"armka: {error}", err=True)
        raise typer.Exit(1) from None


def _tabular_parser() -> Service:
    from armka.services.tabular_parser import NAME, VERSION
    from armka.services.tabular_parser.recognise import recognise

    return Service(NAME, VERSION, Pipeline.TABULAR, recognise, MissingAttempt.FROM_MESSAGE_ID)


_SERVICES: dict[str, Callable[[], Service]] = {"tabular-parser": _tabular_parser}
