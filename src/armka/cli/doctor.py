"""`armka doctor`: what must always be true, looked at now."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armka.cli.output import print_json, print_table

if TYPE_CHECKING:
    from armka.core.doctor.findings import Finding
    from armka.core.settings import Settings

_CONNECT_SECONDS = 3.0


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    newest: Annotated[
        int, typer.Option(help="Files and jobs to look at, the newest.", min=1, max=10_000_000)
    ] = 20_000,
) -> None:
    """Examine database, broker and object store; nothing is mended. Exit code 1: something drifted
    or could not be reached.
    """
    from armka.cli.core import read_or_refuse

    findings = asyncio.run(_examine(read_or_refuse(), newest))
    if as_json:
        print_json([_as_json(finding) for finding in findings])
    else:
        _print(findings)
    if not all(finding.is_well for finding in findings):
        raise typer.Exit(1)


async def _examine(settings: "Settings", newest: int) -> "list[Finding]":
    import structlog

    from armka.core.database.pool import Database
    from armka.core.doctor.broker import Broker
    from armka.core.doctor.doctor import Doctor
    from armka.core.inbox.receiver import inbound
    from armka.messaging.connection import connected
    from armka.messaging.transport import observed
    from armka.objects.store import ObjectStore
    from armka.secrets.openbao import openbao

    # The findings say it all; what the rooms log about the same is for long-running processes.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    async with Database(settings.database) as database:
        objects = ObjectStore(settings.objects)
        if not settings.exchange.nats_enabled:
            return await Doctor(settings.exchange, database, objects, None, newest=newest).examine()
        async with connected(
            settings.nats, name="arm-ka doctor", role="core", secrets=openbao(settings.openbao)
        ) as connection:
            await _settle(connection.wait_live())
            subjects = settings.nats.subjects
            stream = observed(connection, settings.nats, inbound(subjects))
            broker = Broker(connection, subjects, stream)
            return await Doctor(
                settings.exchange, database, objects, broker, newest=newest
            ).examine()


async def _settle(waiting: Any) -> None:
    """Wait for a while; what is not there then is a finding."""
    task = asyncio.ensure_future(waiting)
    await asyncio.wait((task,), timeout=_CONNECT_SECONDS)
    task.cancel()


def _as_json(finding: "Finding") -> dict[str, Any]:
    return {
        "check": finding.check,
        "state": finding.state.value,
        "count": finding.count,
        "capped": finding.capped,
        "examples": list(finding.examples),
        "what": finding.drift,
        "remedy": finding.remedy,
        "reason": finding.reason,
    }


def _print(findings: "Sequence[Finding]") -> None:
    print_table(
        ["Check", "State", "Found"],
        [(finding.check, finding.state.value, _count(finding)) for finding in findings],
        status=1,
    )
    for finding in findings:
        if not finding.is_well:
            _explain(finding)
    ill = sum(not finding.is_well for finding in findings)
    typer.echo(f"{len(findings)} checks, {ill} of them need you" if ill else "all is well")


def _explain(finding: "Finding") -> None:
    typer.echo(f"{finding.check}: {finding.drift}")
    if finding.reason:
        typer.echo(f"  why      {finding.reason}")
    for example in finding.examples:
        typer.echo(f"  found    {example}")
    typer.echo(f"  to do    {finding.remedy}\n")


def _count(finding: "Finding") -> str:
    if finding.state.value != "drift":
        return ""
    return f"{finding.count} or more" if finding.capped else str(finding.count)
