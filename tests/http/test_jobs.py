"""Jobs: filters, messages that were not applied, waiting for a change."""

import asyncio
import base64
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from tests import web
from tests.files import documents
from tests.http.serving import QuietCore, assert_problem, upload


async def _made(api: httpx.AsyncClient) -> tuple[UUID, UUID]:
    made = (await upload(api, "a.pdf", documents.PDF)).json()
    return UUID(made["file_id"]), UUID(made["job_id"])


async def test_jobs_are_filtered(api: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """By pipeline, service, code and time, together with status and file."""
    file_id, job_id = await _made(api)
    service = uuid4().hex
    moment = await db.fetchval(
        "update recognition_job set status = 'error', error_code = 'UNREADABLE', "
        "service_name = $2 where id = $1 returning created_at",
        job_id,
        service,
    )
    for query, found in (
        ({}, 1),
        ({"pipeline": "image"}, 1),
        ({"pipeline": "tabular"}, 0),
        ({"error_code": "UNREADABLE", "file_id": str(file_id)}, 1),
        ({"error_code": "NO_ACK"}, 0),
        ({"created_from": moment.isoformat()}, 1),
        ({"created_to": moment.isoformat()}, 0),
        ({"status": "error"}, 1),
    ):
        params = {"service_name": service} | query
        items = (await api.get("/jobs", params=params)).raise_for_status().json()["items"]
        assert [item["id"] for item in items] == [str(job_id)] * found, query


async def test_messages_that_were_not_applied_are_shown(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Of a job, of all, one by one: as text where it is text, else as base64."""
    _, job_id = await _made(api)
    insert = """insert into rejected_message (reason, detail, recognition_job_id, msg_id, subject,
        headers, body, body_size) values ($1, 'why', $2, 'm', 's', '{"a": "b"}', $3, 9)
        returning id"""
    late = await db.fetchval(insert, "late", job_id, '{"ж": 1}'.encode())
    odd = await db.fetchval(insert, "invalid", job_id, b"\xff\x00")
    page = (await api.get(f"/jobs/{job_id}/messages", params={"limit": 1})).json()
    assert ([item["id"] for item in page["items"]], page["next"]) == ([odd], odd)
    page = (await api.get(f"/jobs/{job_id}/messages", params={"after": odd})).json()
    assert ([item["id"] for item in page["items"]], page["next"]) == ([late], None)
    page = (await api.get("/rejected-messages", params={"reason": "late", "limit": 1})).json()
    assert [item["id"] for item in page["items"]] == [late]
    page = (await api.get("/rejected-messages", params={"limit": 2})).json()
    assert [item["id"] for item in page["items"]] == [odd, late]
    shown = (await api.get(f"/rejected-messages/{late}")).json()
    assert (shown["body_text"], shown["body_base64"]) == ('{"ж": 1}', None)
    assert (shown["headers"], shown["body_size"], shown["job_id"]) == ({"a": "b"}, 9, str(job_id))
    shown = (await api.get(f"/rejected-messages/{odd}")).json()
    assert shown["body_text"] is None
    assert base64.b64decode(shown["body_base64"]) == b"\xff\x00"
    assert_problem(await api.get(f"/rejected-messages/{odd + 1000}"), 404, "message-not-found")
    assert_problem(await api.get(f"/jobs/{uuid4()}/messages"), 404, "job-not-found")


async def _connections(db: asyncpg.Connection) -> int:
    count: int = await db.fetchval(
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and application_name = 'arm-ka'"
    )
    return count


async def test_hundreds_wait_for_a_change_on_few_connections(
    api: httpx.AsyncClient, db: asyncpg.Connection, quiet_core: QuietCore
) -> None:
    """All who wait hear of it, and the core answers others meanwhile."""
    file_id, job_id = await _made(api)
    limits = httpx.Limits(max_connections=None)
    async with web.client(base_url=f"{quiet_core.url}/api/v1", timeout=60, limits=limits) as many:
        waits = [
            wait
            for path in (f"/files/{file_id}", f"/jobs/{job_id}")
            for _ in range(5)
            for wait in await _waiting(api, many, path, 30)
        ]
        assert [wait.result().text for wait in waits if wait.done()] == []
        assert await _connections(db) <= 16
        await db.execute("update recognition_job set status = 'error' where id = $1", job_id)
        await db.execute("update stored_file set status = 'ERROR' where id = $1", file_id)
        async with asyncio.timeout(45):
            answers = [response.json()["status"] for response in await asyncio.gather(*waits)]
    assert answers == ["ERROR"] * 150 + ["error"] * 150


async def _waiting(
    api: httpx.AsyncClient, many: httpx.AsyncClient, path: str, count: int
) -> list["asyncio.Task[httpx.Response]"]:
    """So many long polls, begun: requests that came after them have been served."""
    waits = [asyncio.create_task(many.get(path, params={"wait": "60"})) for _ in range(count)]
    for _ in range(3):
        await api.get("/files", params={"limit": 1})
    return waits


@pytest.mark.parametrize(
    ("status", "since"), [("DONE", None), ("DONE", "DONE"), ("PROCESSING", "UPLOADED")]
)
async def test_nobody_waits_for_what_has_happened(
    api: httpx.AsyncClient, db: asyncpg.Connection, status: str, since: str | None
) -> None:
    """A final status, or another than the one that is known, is answered at once."""
    file_id, _ = await _made(api)
    await db.execute("update stored_file set status = $2 where id = $1", file_id, status)
    query = {"wait": "60"} | ({"since_status": since} if since else {})
    async with asyncio.timeout(20):
        assert (await api.get(f"/files/{file_id}", params=query)).json()["status"] == status


async def test_a_wait_ends_without_a_change(api: httpx.AsyncClient) -> None:
    """With the status as it is."""
    file_id, job_id = await _made(api)
    query = {"wait": "0.2", "since_status": "queued"}
    assert (await api.get(f"/jobs/{job_id}", params=query)).json()["status"] == "queued"
    query = {"wait": "0.2"}
    assert (await api.get(f"/files/{file_id}", params=query)).json()["status"] == "UPLOADED"
    assert_problem(await api.get(f"/files/{uuid4()}?wait=60"), 404, "file-not-found")
