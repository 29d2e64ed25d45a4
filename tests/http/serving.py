"""A core process that lives longer than one test, and what an upload leaves."""

import contextlib
import os
import socket
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from armka.objects.store import ObjectStore
from tests import forked
from tests.forked import Forked

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class QuietCore:
    """Where it listens, what it works with."""

    url: str
    dsn: str
    pid: int
    spool: Path
    log: Path

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(env: Mapping[str, str], folder: Path) -> Iterator[QuietCore]:
    """A core in this environment, for the time of the block; its uploads spool in `folder`."""
    spool, log, port = folder / "spool", folder / "core.log", free_port()
    spool.mkdir()
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    told = base | dict(env) | {"TMPDIR": str(spool)}
    process = forked.start(("core", "--port", str(port)), told, log)
    core = QuietCore(f"http://127.0.0.1:{port}", env["DATABASE_URL"], process.pid, spool, log)
    try:
        _wait(core, process)
        yield core
    finally:
        process.terminate()
        process.join(_PATIENCE_SECONDS)
        assert process.returncode is not None, log.read_text()


def _wait(core: QuietCore, process: Forked) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        assert process.returncode is None, core.log.read_text()
        with contextlib.suppress(OSError):
            opener.open(f"{core.url}/healthcheck", timeout=5).close()
            return
        time.sleep(0.05)
    raise AssertionError(core.log.read_text())


async def upload(
    api: httpx.AsyncClient, name: str, content: bytes, **fields: str
) -> httpx.Response:
    """Upload a document."""
    return await api.post("/files", files={"file": (name, content)}, data=fields)


async def traces(db: asyncpg.Connection, store: ObjectStore) -> tuple[Any, ...]:
    """All that uploads have left: rows of three tables and the keys under `uploads/`."""
    counts = await db.fetchrow(
        "select (select count(*) from s3_object), (select count(*) from stored_file), "
        "(select count(*) from recognition_job)"
    )
    assert counts is not None
    moment = datetime.now(UTC) + timedelta(days=1)
    keys = [key async for page in store.list_older("uploads/", moment) for key in page]
    return (*counts, sorted(keys))


def assert_problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    """The response is a problem document of this kind; returns it."""
    body: dict[str, Any] = response.json()
    assert response.status_code == status, body
    assert response.headers["content-type"] == "application/problem+json"
    assert body["type"] == f"urn:arm-ka:problem:{kind}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    return body
