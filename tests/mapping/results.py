"""Result files, and jobs that wait for their mapping."""

import json
from typing import Any
from uuid import UUID

import asyncpg

from tests.world import World, until

COLUMNS = (
    "opening_debit",
    "opening_credit",
    "turnover_debit",
    "turnover_credit",
    "closing_debit",
    "closing_credit",
)
VALUES = ["1500000.00", None, "0.10", "999999999999999999.999999", "-0.01", "0"]


def line(n: int, **fields: Any) -> dict[str, Any]:
    base = {"n": n, "level": 0, "kind": "account", "account": "51", "name": "Расчётные счета"}
    return base | {"off_balance": False, "values": VALUES} | fields


def check(severity: str, **fields: Any) -> dict[str, Any]:
    base = {"rule": "R1", "severity": severity, "lines": [1], "column": "opening_debit"}
    return base | {"expected": "1.10", "actual": "-2", "message": "Не сходится"} | fields


def document(**fields: Any) -> dict[str, Any]:
    base = {
        "kind": "OSV",
        "group_schema": "accounts_subaccounts",
        "title": "Оборотно-сальдовая ведомость за 2023 г.",
        "organisation": {"name": "ООО «Ромашка»", "inn": "7701234567"},
        "period": {"from": "2023-01-01", "to": "2023-12-31", "text": "2023 г."},
        "currency": "RUB",
        "unit": 1000,
        "source": {"sheet": "TDSheet"},
        "columns": ["B", "C", "D", "E", "F", "G"],
        "lines": [line(1, row=9), line(2, parent=1, level=1, account="51.1", row=10)],
        "checks": [],
    }
    return base | fields


def result(job_id: UUID, file_id: UUID, fields: dict[str, Any] | None = None) -> dict[str, Any]:
    base = {
        "schema_version": "1.0",
        "job_id": str(job_id),
        "file_id": str(file_id),
        "service": {"name": "test-parser", "version": "9.9"},
        "created_at": "2026-01-01T00:00:00Z",
        "source": {"sha256": "0" * 64, "size_bytes": 1, "file_type": "XLSX"},
        "group_schema": "accounts_subaccounts",
        "documents": [document()],
        "warnings": [],
    }
    return base | (fields or {})


async def waiting(
    world: World, content: Any = None, *, status: str = "done", current: bool = True
) -> UUID:
    """A job with a result whose file waits for it.

    `content`: the result file as bytes or fields; None: a good one.
    """
    file_id = await world.file()
    await world.db.execute("update stored_file set status = 'PROCESSING' where id = $1", file_id)
    job_id = await world.job(file_id, current=current, status="published")
    if not isinstance(content, bytes):
        content = json.dumps(result(job_id, file_id, content)).encode()
    key = f"results/{file_id}/{job_id}/result.json"
    await world.store.put(key, content)
    await answered(world, job_id, key, status)
    return job_id


async def answered(world: World, job_id: UUID, key: str, status: str = "done") -> None:
    """Do what the inbox does with a result."""
    await world.db.execute(
        """with o as (
            insert into s3_object (bucket, key, bucket_role) values ('arm-ka', $2, 'results')
            returning id
        )
        update recognition_job j set status = $3, finished_at = now(), result_s3_object_id = o.id,
            service_name = 'test-parser', service_version = '9.9'
        from o where j.id = $1""",
        job_id, key, status,
    )  # fmt: skip


async def file_status(
    world: World, job_id: UUID, *wanted: str, seconds: float = 20
) -> asyncpg.Record:
    """Wait until the job's file has one of these statuses."""

    async def reached() -> asyncpg.Record | None:
        file = await world.file_of(job_id)
        return file if file["status"] in wanted else None

    file: asyncpg.Record = await until(reached, seconds=seconds)
    return file


async def invalid(world: World, job_id: UUID) -> str:
    """Wait for ERROR / INVALID_RESULT and its one fact; returns the message."""
    file = await file_status(world, job_id, "ERROR", "DONE", "NEEDS_CHECK")
    assert (file["status"], file["error_code"]) == ("ERROR", "INVALID_RESULT")
    assert await world.facts(job_id) == [("MAPPING_ERROR", "INVALID_RESULT")]
    row = await world.row(job_id)
    assert (row["status"], row["group_schema"]) == ("done", None)
    assert await documents(world, job_id) == []
    return str(file["error_message"])


async def documents(world: World, job_id: UUID) -> list[asyncpg.Record]:
    return await world.db.fetch(
        "select * from osv_document where recognition_job_id = $1 order by ordinal", job_id
    )


async def lines(world: World, document_id: UUID) -> list[asyncpg.Record]:
    return await world.db.fetch(
        "select * from osv_line where osv_document_id = $1 order by n", document_id
    )
