"""`armka jobs list|show|messages|retry`."""

import asyncio
from typing import Any
from uuid import UUID

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, ApiRefused, AsJson, Url
from armka.cli.files import Limit, Status, begin_attempt, pages
from armka.cli.output import print_facts, print_json, print_table

app = typer.Typer(help="Attempts to recognise files.", no_args_is_help=True)


@app.command("list")
def list_jobs(
    status: Status = None, limit: Limit = 100, *, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """List jobs, newest first."""
    items = asyncio.run(_list(url, status, limit))
    if as_json:
        for item in items:
            print_json(item)
        return
    columns = (
        "id",
        "original_name",
        "status",
        "attempt",
        "error_code",
        "service_name",
        "created_at",
        "finished_at",
    )
    print_table(columns, ([item[name] for name in columns] for item in items), status=2)


async def _list(url: str, status: str | None, limit: int) -> list[dict[str, Any]]:
    try:
        async with api.client(url) as http:
            return await pages(http, "/jobs", {"status": status}, limit)
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None


@app.command("show")
def show(job_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Show one job and everything that happened to it."""
    job = asyncio.run(_get(url, job_id))
    if as_json:
        print_json(job)
        return
    print_facts({name: value for name, value in job.items() if name not in {"events", "metrics"}})
    print_table(
        ("at", "from", "to", "cause"),
        (
            (event["at"], event["from_status"], event["to_status"], event["cause"])
            for event in job["events"]
        ),
        status=2,
    )


async def _get(url: str, job_id: UUID) -> dict[str, Any]:
    try:
        async with api.client(url) as http:
            job: dict[str, Any] = await api.call(http, "GET", f"/jobs/{job_id}")
            return job
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None


@app.command("messages")
def messages(
    job_id: UUID, limit: Limit = 100, *, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """List what came for a job and was not applied, and why."""
    items = asyncio.run(_messages(url, job_id, limit))
    if as_json:
        for item in items:
            print_json(item)
        return
    columns = ("id", "received_at", "reason", "detail", "msg_id", "subject", "body_size")
    print_table(columns, ([item[name] for name in columns] for item in items))


async def _messages(url: str, job_id: UUID, limit: int) -> list[dict[str, Any]]:
    try:
        async with api.client(url) as http:
            return await pages(http, f"/jobs/{job_id}/messages", {}, limit)
    except (ApiRefused, httpx.HTTPError) as error:
        raise api.explain(error, url) from None


@app.command("retry")
def retry(job_id: UUID, *, url: Url = DEFAULT_URL, as_json: AsJson = False) -> None:
    """Recognise the job's file again: a new attempt, with a job of its own."""
    attempt = asyncio.run(_retry(url, job_id))
    if as_json:
        print_json(attempt)
    else:
        typer.echo(f"attempt {attempt['attempt']} is job {attempt['job_id']}")


async def _retry(url: str, job_id: UUID) -> dict[str, Any]:
    job = await _get(url, job_id)
    return await begin_attempt(url, job["file_id"])
