"""The API while its servers are away or frozen; a large upload."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
import pytest

from armka.core.database.migrations import migrate
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import ObjectServer, PostgresServer
from tests import web
from tests.files import documents
from tests.http.proxy import deaf_proxy
from tests.http.serving import QuietCore, assert_problem, running, traces, upload
from tests.world import until

MEGABYTE = 1024 * 1024


@dataclass
class Fragile:
    """A core whose PostgreSQL and S3 may be harmed."""

    core: QuietCore
    postgres: PostgresServer
    objects: ObjectServer
    api: httpx.AsyncClient

    async def traces(self) -> tuple[object, ...]:
        """See `traces`."""
        store = ObjectStore(ObjectSettings.model_validate(self.objects.env()))
        db = await asyncpg.connect(self.core.dsn)
        try:
            return await traces(db, store)
        finally:
            await db.close()


@pytest.fixture
async def fragile(tmp_path: Path) -> AsyncIterator[Fragile]:
    """Its servers are this test's own."""
    async with (
        PostgresServer(tmp_path / "postgres") as postgres,
        ObjectServer(tmp_path / "s3") as s3,
    ):
        await migrate(postgres.url)
        env = postgres.env() | s3.env() | {"NATS_ENABLED": "false"}
        with running(env, tmp_path) as core:
            async with web.client(base_url=f"{core.url}/api/v1", timeout=60) as api:
                yield Fragile(core, postgres, s3, api)


async def _healthy_within_a_second(core: QuietCore) -> None:
    patience = httpx.Timeout(1.0, connect=30.0)
    async with web.client(timeout=patience) as http:
        assert (await http.get(f"{core.url}/healthcheck")).status_code == 200


async def test_without_s3_or_database_an_upload_is_put_off_and_leaves_nothing(
    fragile: Fragile,
) -> None:
    """503 with Retry-After, no rows, no objects; as soon as they are back it is taken."""
    before = await fragile.traces()
    await fragile.objects.stop()
    response = await upload(fragile.api, "a.pdf", documents.PDF)
    assert_problem(response, 503, "unavailable")
    assert response.headers["retry-after"]
    await fragile.objects.start()
    assert await fragile.traces() == before

    await fragile.postgres.stop()
    assert_problem(await upload(fragile.api, "a.pdf", documents.PDF), 503, "unavailable")
    assert_problem(await fragile.api.get("/files"), 503, "unavailable")
    await _healthy_within_a_second(fragile.core)
    await fragile.postgres.start()
    assert await fragile.traces() == before

    assert (await upload(fragile.api, "a.pdf", documents.PDF)).status_code == 201
    assert not list(fragile.core.spool.iterdir())
    assert "Traceback" not in fragile.core.log.read_text()


async def test_a_restart_of_the_database_costs_no_upload(fragile: Fragile) -> None:
    """B32: connections that died in the pool are noticed, and the first request succeeds."""
    responses = await asyncio.gather(*(fragile.api.get("/files") for _ in range(10)))
    assert {response.status_code for response in responses} == {200}
    fragile.postgres.kill()
    await fragile.postgres.start()
    responses = await asyncio.gather(
        *(upload(fragile.api, f"{n}.pdf", documents.PDF) for n in range(10))
    )
    assert [response.status_code for response in responses] == [201] * 10
    objects, files, jobs, keys = await fragile.traces()
    assert (objects, files, jobs, len(keys)) == (10, 10, 10, 10)  # type: ignore[arg-type]


async def test_the_healthcheck_answers_while_the_database_is_frozen(fragile: Fragile) -> None:
    """B30: within a second, with requests hanging; afterwards all is well by itself."""
    assert (await fragile.api.get("/files")).status_code == 200
    fragile.postgres.pause()
    try:
        hanging = [asyncio.create_task(fragile.api.get("/files")) for _ in range(30)]
        hanging.append(asyncio.create_task(upload(fragile.api, "a.pdf", documents.PDF)))
        for _ in range(10):
            await _healthy_within_a_second(fragile.core)
        for response in await asyncio.gather(*hanging):
            assert_problem(response, 503, "unavailable")
    finally:
        fragile.postgres.resume()

    async def served() -> bool:
        return (await fragile.api.get("/files")).status_code == 200

    await until(served, seconds=30)


async def test_an_upload_whose_commit_was_not_heard_is_one_file(
    database: str, object_store_server: ObjectServer, tmp_path: Path
) -> None:
    """The connection dies between the commit and its confirmation: said again, it adds nothing."""
    async with deaf_proxy(database, until_sent=b"unheard.pdf") as (dsn, cuts):
        env = object_store_server.env() | {"DATABASE_URL": dsn, "NATS_ENABLED": "false"}
        with running(env, tmp_path) as core:
            async with web.client(base_url=f"{core.url}/api/v1", timeout=60) as api:
                response = await upload(api, "unheard.pdf", documents.PDF)
                assert response.status_code == 201
                assert len(cuts) == 1
                made, listed = response.json(), (await api.get("/jobs")).json()["items"]
    assert [(job["file_id"], job["id"]) for job in listed] == [(made["file_id"], made["job_id"])]


async def test_the_memory_stays_flat_over_a_large_upload(fragile: Fragile) -> None:
    """80 MB go through in pieces."""
    await upload(fragile.api, "a.pdf", documents.PDF)
    before = _resident(fragile.core.pid)
    peak = before
    content = documents.PDF.ljust(80 * MEGABYTE, b"\n")
    sending = asyncio.create_task(upload(fragile.api, "large.pdf", content))
    while not sending.done():
        peak = max(peak, _resident(fragile.core.pid))
        await asyncio.wait({sending}, timeout=0.02)
    assert (await sending).status_code == 201
    assert peak - before < 48 * MEGABYTE


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
