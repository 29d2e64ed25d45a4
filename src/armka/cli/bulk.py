"""New attempts for many files: asked for, followed to the end, told of."""

import asyncio
from typing import Any

import httpx
import typer

from armka.cli import api
from armka.cli.api import ApiRefused
from armka.cli.output import print_facts, print_json
from armka.cli.progress import progress_bar

_PAUSE_SECONDS = 0.3


def retry_all(
    url: str, wanted: dict[str, str | None], reason: str, *, yes: bool, as_json: bool
) -> None:
    """Count what matches, ask, begin the operation and follow it."""
    filters = {name: value for name, value in wanted.items() if value is not None}
    try:
        total = asyncio.run(_count(url, filters, reason))
        if total == 0:
            typer.echo("armka: no file matches", err=True)
            return
        if not yes and not typer.confirm(f"Recognise {total} files again?", err=True):
            raise typer.Exit(1)
        operation = asyncio.run(_run(url, filters, reason))
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None
    if as_json:
        print_json(operation)
    else:
        print_facts({"operation": operation["id"], **operation["outcomes"]})


async def _count(url: str, filters: dict[str, str], reason: str) -> int:
    async with api.client(url) as http:
        body = {"filter": filters, "reason": reason, "dry_run": True}
        preview = await api.call(http, "POST", "/attempts/bulk", json=body)
    return int(preview["total"])


async def _run(url: str, filters: dict[str, str], reason: str) -> dict[str, Any]:
    async with api.client(url) as http:
        body = {"filter": filters, "reason": reason}
        operation: dict[str, Any] = await api.call_once(http, "POST", "/attempts/bulk", json=body)
        with progress_bar() as bar:
            task = bar.add_task("new attempts", total=operation["total"])
            while operation["finished_at"] is None:
                await asyncio.sleep(_PAUSE_SECONDS)
                operation = await api.call(http, "GET", f"/operations/{operation['id']}")
                bar.update(task, completed=operation["total"] - operation["pending"])
    return operation
