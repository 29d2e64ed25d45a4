"""A1, «Новая попытка обработки файла»."""

import asyncio
from uuid import UUID

import asyncpg
import httpx
import pytest

from tests.files import documents
from tests.http.serving import assert_problem, upload
from tests.world import until

_WAITING = """
select count(*) from pg_stat_activity
where wait_event_type = 'Lock' and datname = current_database()
"""


async def _file(api: httpx.AsyncClient) -> tuple[UUID, UUID]:
    made = (await upload(api, "a.xlsx", documents.xlsx())).json()
    return UUID(made["file_id"]), UUID(made["job_id"])


async def _set(db: asyncpg.Connection, file_id: UUID, job_status: str, file_status: str) -> None:
    """Put the file's current job and the file where the test wants them."""
    await db.execute(
        "update recognition_job j set status = $2 from stored_file f "
        "where f.id = $1 and j.id = f.current_recognition_job_id and j.status <> $2",
        file_id,
        job_status,
    )
    await db.execute(
        "update stored_file set status = $2, error_code = 'TIMEOUT', error_message = 'late' "
        "where id = $1",
        file_id,
        file_status,
    )


@pytest.mark.parametrize(
    ("job_status", "file_status"),
    [("error", "ERROR"), ("dlq", "ERROR"), ("needs_check", "NEEDS_CHECK"), ("done", "DONE"),
     ("done", "ERROR")],
)  # fmt: skip
async def test_a_file_whose_attempt_has_ended_gets_a_new_one(
    api: httpx.AsyncClient, db: asyncpg.Connection, job_status: str, file_status: str
) -> None:
    """A new job, highest attempt + 1, current; the file in PROCESSING, its error cleared."""
    file_id, first = await _file(api)
    await _set(db, file_id, job_status, file_status)
    await db.execute("update recognition_job set attempt = 4 where id = $1", first)
    response = await api.post(f"/files/{file_id}/attempts")
    assert response.status_code == 201
    made = response.json()
    assert (made["file_id"], made["attempt"]) == (str(file_id), 5)
    file = await db.fetchrow("select * from stored_file where id = $1", file_id)
    job = await db.fetchrow("select * from recognition_job where id = $1", UUID(made["job_id"]))
    assert file is not None
    assert job is not None
    assert (file["status"], file["error_code"], file["error_message"]) == ("PROCESSING", None, None)
    assert file["current_recognition_job_id"] == job["id"] != first
    assert (job["status"], job["pipeline"], job["attempt"]) == ("queued", "tabular", 5)
    old = await db.fetchval("select status from recognition_job where id = $1", first)
    assert old == job_status


@pytest.mark.parametrize(
    ("job_status", "file_status"),
    [("queued", "UPLOADED"), ("published", "PROCESSING"), ("processing", "PROCESSING"),
     ("done", "PROCESSING"), ("needs_check", "PROCESSING"), ("published", "ERROR")],
)  # fmt: skip
async def test_a_file_under_way_or_not_mapped_yet_is_a_conflict(
    api: httpx.AsyncClient, db: asyncpg.Connection, job_status: str, file_status: str
) -> None:
    """409; nothing changes."""
    file_id, _ = await _file(api)
    for step in ("published", "processing"):
        if job_status in {step, "processing", "done", "needs_check"}:
            await _set(db, file_id, step, file_status)
    await _set(db, file_id, job_status, file_status)
    response = await api.post(f"/files/{file_id}/attempts")
    problem = assert_problem(response, 409, "attempt-under-way")
    assert (problem["file_id"], problem["file_status"]) == (str(file_id), file_status)
    jobs = "select count(*) from recognition_job where stored_file_id = $1"
    assert await db.fetchval(jobs, file_id) == 1


async def test_ten_clicks_at_once_make_one_attempt(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """All ten wait for the same lock, so that none of them comes before or after the others."""
    file_id, _ = await _file(api)
    await _set(db, file_id, "error", "ERROR")
    async with db.transaction():
        await db.fetchrow("select from stored_file where id = $1 for update", file_id)
        clicks = [asyncio.create_task(api.post(f"/files/{file_id}/attempts")) for _ in range(10)]

        async def all_wait() -> bool:
            # Inside a transaction the first look would be repeated.
            await db.execute("select pg_stat_clear_snapshot()")
            return bool(await db.fetchval(_WAITING) == len(clicks))

        await until(all_wait, seconds=6)
    statuses = sorted(response.status_code for response in await asyncio.gather(*clicks))
    assert statuses == [201] + [409] * 9
    attempts = await db.fetch(
        "select attempt from recognition_job where stored_file_id = $1 order by attempt", file_id
    )
    assert [row["attempt"] for row in attempts] == [1, 2]


async def test_a_retry_repeated_after_each_failure_counts_on(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """The second failure is not lost, nor the third."""
    file_id, _ = await _file(api)
    for attempt in (2, 3, 4):
        await _set(db, file_id, "error", "ERROR")
        assert (await api.post(f"/files/{file_id}/attempts")).json()["attempt"] == attempt


async def test_the_type_decides_the_pipeline_of_a_new_attempt(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """An import's job with a wrong pipeline is not repeated for ever (O2)."""
    file_id, job_id = await _file(api)
    await db.execute("update recognition_job set pipeline = 'image' where id = $1", job_id)
    await _set(db, file_id, "error", "ERROR")
    made = (await api.post(f"/files/{file_id}/attempts")).json()
    pipeline = "select pipeline from recognition_job where id = $1"
    assert await db.fetchval(pipeline, UUID(made["job_id"])) == "tabular"


async def test_a_file_of_an_unknown_type_keeps_its_pipeline(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """O2 will say what is wrong with it; the request for an attempt does not fail."""
    file_id, _ = await _file(api)
    await db.execute("update stored_file set file_type = 'TXT' where id = $1", file_id)
    await _set(db, file_id, "error", "ERROR")
    assert (await api.post(f"/files/{file_id}/attempts")).status_code == 201
