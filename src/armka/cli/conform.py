"""`armka conform service|core`: a verdict on anybody's service, on anybody's core.

Exit codes: 0 it conforms, 1 it does not, 2 nothing could be judged.
"""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armka.cli import verdicts
from armka.cli.verdicts import Html, Json, Junit, Listing, NothingJudged, Only
from armka.contract.subjects import Transport
from armka.contract.vocabulary import Pipeline

if TYPE_CHECKING:
    from armka.conformance.report.entry import Report
    from armka.messaging.settings import NatsSettings
    from armka.objects.settings import ObjectSettings

app = typer.Typer(help="Judge a service or a core as a black box.", no_args_is_help=True)

Nats = Annotated[
    str | None, typer.Option("--nats", help="NATS. Default: NATS_URL. Credentials: environment.")
]
S3 = Annotated[
    str | None, typer.Option("--s3", help="S3. Default: S3_ENDPOINT_URL. Keys: environment.")
]

Patience = Annotated[float, typer.Option(help="Seconds to wait for what must come.", min=0.1)]
Quiet = Annotated[float, typer.Option(help="Seconds to listen for what must not come.", min=0.05)]
Start = Annotated[float, typer.Option(help="Seconds until the service must answer first.", min=1)]


@app.command("service")
def service(
    pipeline: Annotated[Pipeline, typer.Option(help="Which requests it serves.")],
    nats: Nats = None,
    s3: S3 = None,
    file: Annotated[
        list[Path] | None, typer.Option(help="A file that it can read; more than one may be given.")
    ] = None,
    transport: Annotated[Transport, typer.Option(help="How it is spoken to.")] = Transport.CORE,
    command: Annotated[
        str | None, typer.Option(help="Starts the service, with NATS and S3 in its environment.")
    ] = None,
    capabilities: Annotated[
        Path | None, typer.Option(help="What the service declares of itself, in TOML.")
    ] = None,
    listen: Annotated[
        str, typer.Option(help="Where the kit's S3 listens; without a command, give a port.")
    ] = "127.0.0.1:0",
    embedded: Annotated[
        bool, typer.Option("--embedded", help="Start a NATS and an S3 for this run.")
    ] = False,
    patience: Patience = 30.0,
    quiet: Quiet = 1.0,
    start: Start = 60.0,
    log: Annotated[Path | None, typer.Option(help="Where the output of the command goes.")] = None,
    only: Only = None,
    listing: Listing = False,
    as_json: Json = False,
    html: Html = None,
    junit: Junit = None,
) -> None:
    """Judge a recognition service. The kit plays the core: it sends requests and hears envelopes,
    and stands as S3 in front of the real one, so that it sees every read and write. Stop the real
    core first.
    """
    from armka.cli import conform_service
    from armka.conformance.service.catalogue import CHECKS
    from armka.conformance.service.target import Target

    chosen = verdicts.chosen(CHECKS, only)
    if listing:
        verdicts.print_list(chosen, as_json)
        return

    async def judged() -> "Report":
        async with conform_service.servers(embedded=embedded) as env:
            host, port = conform_service.address_of(listen)
            declared, documents = conform_service.declared(capabilities, file or [], pipeline)
            target = Target(
                # The kit has its own seam for either transport.
                nats=_nats_settings(nats or env.get("NATS_URL"), Transport.CORE),
                objects=_object_settings(s3, env),
                pipeline=pipeline,
                documents=documents,
                transport=transport,
                capabilities=declared,
                command=tuple(shlex.split(command or "")),
                environment=os.environ,
                log=log,
                host=host,
                port=port,
                patience_seconds=patience,
                quiet_seconds=quiet,
                start_seconds=start,
            )
            return await conform_service.judged(target, chosen)

    verdicts.report(judged, as_json=as_json, html=html, junit=junit)


@app.command("core")
def core(
    database: Annotated[
        str | None, typer.Option(help="PostgreSQL of the core. Default: DATABASE_URL.")
    ] = None,
    nats: Nats = None,
    s3: S3 = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the core that is no default: NAME=VALUE. Repeatable."),
    ] = None,
    transport: Annotated[Transport, typer.Option(help="How it speaks.")] = Transport.CORE,
    api: Annotated[str | None, typer.Option(help="The core's API, for what needs it.")] = None,
    superuser: Annotated[
        bool, typer.Option("--superuser", help="The database's user is a superuser.")
    ] = False,
    at_once: Annotated[int, typer.Option(help="Scenarios at the same time.", min=1, max=50)] = 6,
    patience: Patience = 20.0,
    only: Only = None,
    listing: Listing = False,
    as_json: Json = False,
    html: Html = None,
    junit: Junit = None,
) -> None:
    """Judge a core by its tables, its subjects and its objects. The kit plays the services: stop
    the real ones first. What it inserts stays in the database.
    """
    from armka.cli import conform_core
    from armka.conformance.catalogue import SCENARIOS

    chosen = verdicts.chosen(SCENARIOS, only)
    if listing:
        verdicts.print_list(chosen, as_json)
        return

    async def judged() -> "Report":
        target = conform_core.target(
            database or os.environ.get("DATABASE_URL"), _nats_settings(nats, transport),
            _object_settings(s3, {}), setting or [], api, superuser=superuser, patience=patience,
        )  # fmt: skip
        return await conform_core.judged(target, chosen, at_once)

    verdicts.report(judged, as_json=as_json, html=html, junit=junit)


def _nats_settings(url: str | None, transport: Transport) -> "NatsSettings":
    from pydantic import ValidationError

    from armka.messaging.settings import NatsSettings

    given: dict[str, Any] = {"url": url} if url else {}
    try:
        return NatsSettings(**given, chosen_transport=transport)
    except ValidationError as error:
        told = error.errors(include_input=False, include_url=False, include_context=False)
        raise NothingJudged("; ".join(one["msg"] for one in told)) from None


def _object_settings(url: str | None, env: Mapping[str, str]) -> "ObjectSettings":
    from armka.objects.settings import ObjectSettings

    if env:
        return ObjectSettings.model_validate(dict(env))
    return ObjectSettings(endpoint_url=url) if url else ObjectSettings()
