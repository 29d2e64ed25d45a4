"""A scanning system that runs in the test's own loop, asked over HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from armka.services.scanning_system import server
from armka.services.scanning_system.settings import ScanningSettings
from armka.services.scanning_system.tessdata import find_ocr
from tests import web
from tests.needed import lacking

TOKEN = "canary"


@pytest.fixture(scope="session")
def tessdata() -> str:
    """The engine's language data; a machine without it cannot read pictures."""
    ocr = find_ocr(None)
    if ocr.folder is None:
        lacking(f"pictures cannot be read here: {ocr.missing}")
    return str(ocr.folder)


def settings_for(folder: Path, **changes: object) -> ScanningSettings:
    given: dict[str, object] = {"data_dir": folder, "token": TOKEN, "concurrency": 1} | changes
    return ScanningSettings(**given)  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def serving(settings: ScanningSettings) -> AsyncIterator[httpx.AsyncClient]:
    """Run it for the time of the block; the client carries the token."""
    bound = server.listening_socket(settings, "127.0.0.1", 0)
    stop = asyncio.Event()
    task = asyncio.create_task(server.serve(settings, bound, stop))
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    try:
        async with web.client(base_url=url, headers=headers, timeout=60) as client:
            await _ready(client, task)
            yield client
    finally:
        stop.set()
        await task


async def _ready(client: httpx.AsyncClient, task: asyncio.Task[None]) -> None:
    async with asyncio.timeout(60):
        while True:
            if task.done():
                await task
            try:
                await client.get("/livez", timeout=1)
                return
            except httpx.TransportError:
                await asyncio.sleep(0.05)


async def submitted(client: httpx.AsyncClient, body: bytes, **headers: str) -> str:
    answer = await client.post("/v1/documents", content=body, headers=headers)
    assert answer.status_code == 202, answer.text
    document: str = answer.json()["document_id"]
    return document


async def ended(client: httpx.AsyncClient, document: str) -> dict:
    """Where a document is at its end."""
    async with asyncio.timeout(90):
        while True:
            answer = await client.get(f"/v1/documents/{document}", params={"wait": 20})
            status: dict = answer.json()
            if status["status"] not in ("queued", "running"):
                return status


def problem(answer: httpx.Response) -> tuple[int, str | None]:
    """Status and code of a refusal."""
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json().get("code")
