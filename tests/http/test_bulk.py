"""Bulk attempts: a frozen list, worked off by the core, each file once."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.files.bulk import BulkAttempts
from tests import web
from tests.http.serving import QuietCore, assert_problem
from tests.world import World, until


async def _failed_files(db: asyncpg.Connection, client_ref: str, count: int) -> list[UUID]:
    """Files in ERROR, each with a job that has failed."""
    rows = await db.fetch(
        """with ids as materialized (
            select gen_random_uuid() as object, gen_random_uuid() as file, gen_random_uuid() as job
            from generate_series(1, $2::int)
        ), o as (
            insert into s3_object (id, bucket, key, bucket_role)
            select object, 'arm-ka', 'uploads/' || file || '/source.xlsx', 'uploads' from ids
        ), f as (
            insert into stored_file (id, original_name, file_type, s3_object_id, status,
                error_code, client_ref, current_recognition_job_id)
            select file, 'a.xlsx', 'XLSX', object, 'ERROR', 'TIMEOUT', $1, job from ids
        )
        insert into recognition_job (id, stored_file_id, pipeline, status)
        select job, file, 'tabular', 'timeout' from ids returning stored_file_id""",
        client_ref, count,
    )  # fmt: skip
    return [row["stored_file_id"] for row in rows]


async def _begin(api: httpx.AsyncClient, client_ref: str, **more: Any) -> httpx.Response:
    body = {
        "filter": {"status": "ERROR", "client_ref": client_ref},
        "reason": "the service is back",
    }
    return await api.post("/attempts/bulk", json=body | more)


async def _attempts(db: asyncpg.Connection, client_ref: str) -> list[int]:
    rows = await db.fetch(
        "select count(*) from recognition_job j join stored_file f on f.id = j.stored_file_id "
        "where f.client_ref = $1 group by f.id",
        client_ref,
    )
    return [row["count"] for row in rows]


@pytest.fixture
async def bulk(quiet_core: QuietCore) -> Any:
    """What the core's loop would run."""
    async with Database(DatabaseSettings.model_validate({"DATABASE_URL": quiet_core.dsn})) as pool:
        yield BulkAttempts(pool)


async def _work_off(bulk: BulkAttempts) -> None:
    while await bulk.run_once() == 0:
        pass


async def test_a_dry_run_only_counts(api: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """How many, and a few of them."""
    client = str(uuid4())
    files = await _failed_files(db, client, 12)
    shown = (await _begin(api, client, dry_run=True)).json()
    assert (shown["total"], len(shown["sample"])) == (12, 10)
    assert set(shown["sample"]) <= {str(file_id) for file_id in files}
    assert await _attempts(db, client) == [1] * 12


async def test_the_list_is_frozen_and_every_item_has_its_outcome(
    api: httpx.AsyncClient, db: asyncpg.Connection, bulk: BulkAttempts
) -> None:
    """What came later is not taken; what has moved on meanwhile is left alone, and it says why."""
    client = str(uuid4())
    files = await _failed_files(db, client, 4)
    response = await _begin(api, client)
    assert response.status_code == 202
    operation = response.json()
    assert (operation["total"], operation["pending"]) == (4, 4)
    later = await _failed_files(db, client, 1)
    assert (await api.post(f"/files/{files[0]}/attempts")).status_code == 201
    assert (await api.post(f"/files/{files[1]}/withdraw", json={"reason": "x"})).status_code == 200
    await _work_off(bulk)
    path = f"/operations/{operation['id']}"
    shown = (await api.get(path)).json()
    assert shown["outcomes"] == {"begun": 2, "superseded": 1, "withdrawn": 1}
    assert shown["pending"] == 0
    assert shown["finished_at"]
    assert (shown["reason"], shown["filter"]["client_ref"]) == ("the service is back", client)
    begun = (await api.get(f"{path}/items", params={"outcome": "begun"})).json()["items"]
    assert {item["file_id"] for item in begun} == {str(file_id) for file_id in files[2:]}
    for item in begun:
        file = (await api.get(f"/files/{item['file_id']}")).json()
        assert (file["status"], file["error_code"]) == ("PROCESSING", None)
        assert (file["job"]["id"], file["job"]["attempt"]) == (item["job_id"], 2) or item["attempt"]
    untouched = "select status from stored_file where id = $1"
    assert await db.fetchval(untouched, later[0]) == "ERROR"


async def test_two_operations_at_once_make_one_attempt_each(
    api: httpx.AsyncClient, db: asyncpg.Connection, bulk: BulkAttempts
) -> None:
    """Frozen before either ran, worked off by two at a time."""
    client = str(uuid4())
    await _failed_files(db, client, 450)
    operations = [(await _begin(api, client)).json() for _ in range(2)]
    await asyncio.gather(*(_work_off(bulk) for _ in range(3)))
    await _work_off(bulk)
    assert await _attempts(db, client) == [2] * 450
    outcomes = [(await api.get(f"/operations/{o['id']}")).json()["outcomes"] for o in operations]
    assert sum(outcome.get("begun", 0) for outcome in outcomes) == 450
    assert sum(outcome.get("superseded", 0) for outcome in outcomes) == 450


async def test_a_repeated_request_is_one_operation(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """With its Idempotency-Key."""
    client = str(uuid4())
    await _failed_files(db, client, 1)
    headers = {"Idempotency-Key": str(uuid4())}
    body = {"filter": {"status": "ERROR", "client_ref": client}, "reason": "x"}
    answers = [await api.post("/attempts/bulk", json=body, headers=headers) for _ in range(2)]
    assert len({answer.json()["id"] for answer in answers}) == 1
    response = await api.post("/attempts/bulk", json=body | {"reason": "y"}, headers=headers)
    assert_problem(response, 422, "key-reused")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"filter": {}, "reason": "x"},
        {"filter": {"status": "PROCESSING"}, "reason": "x"},
        {"filter": {"status": "ERROR"}},
        {"filter": {"status": "ERROR", "nam": "x"}, "reason": "x"},
    ],
)
async def test_what_is_asked_must_be_clear(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    """A filter without a status, or with a word that means nothing, must not take everything."""
    assert_problem(await api.post("/attempts/bulk", json=body), 400, "invalid-request")
    assert_problem(await api.get(f"/operations/{uuid4()}"), 404, "operation-not-found")


async def test_an_operation_goes_on_in_another_core_after_a_crash(world: World) -> None:
    """Killed as soon as the operation was accepted, and begun again."""
    files = await _failed_files(world.db, "7", 600)
    first = await world.core()
    async with web.client(base_url=f"{first.url}/api/v1") as api:
        operation = (await _begin(api, "7")).json()
    first.kill()
    second = await world.core()
    async with web.client(base_url=f"{second.url}/api/v1") as api:

        async def finished() -> bool:
            shown = (await api.get(f"/operations/{operation['id']}")).json()
            return shown["finished_at"] is not None

        await until(finished)
        outcomes = (await api.get(f"/operations/{operation['id']}")).json()["outcomes"]
    assert outcomes == {"begun": len(files)}
    assert await _attempts(world.db, "7") == [2] * 600
