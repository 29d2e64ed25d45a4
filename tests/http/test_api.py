"""Reading: lists, one file, its lines, jobs; errors as problem documents (RFC 9457)."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from armka.core.http.asked import encode_cursor
from tests.files import documents
from tests.http.serving import assert_problem, upload

AMOUNTS = ["0.01", "-123456789012345678.999999", "999999999999999999", "0.000001", None, "10.50"]


async def _insert_files(db: asyncpg.Connection, count: int, status: str, *, same: bool) -> None:
    """Files of this status; `same`: all of one moment, else one a second."""
    await db.execute(
        """with ids as materialized (
            select gen_random_uuid() as object, gen_random_uuid() as file, n
            from generate_series(1, $1::int) n
        ), o as (
            insert into s3_object (id, bucket, key, bucket_role)
            select object, 'arm-ka', 'uploads/' || file, 'uploads' from ids
        )
        insert into stored_file (id, original_name, file_type, s3_object_id, status, created_at)
        select file, 'a.xlsx', 'XLSX', object, $2,
            now() - case when $3 then interval '0' else interval '1 second' * n end
        from ids""",
        count, status, same,
    )  # fmt: skip


async def _pages(
    api: httpx.AsyncClient, path: str, **query: str | int
) -> list[list[dict[str, Any]]]:
    pages: list[list[dict[str, Any]]] = []
    after: dict[str, str | int] = {}
    while True:
        page = (await api.get(path, params={**query, **after})).raise_for_status().json()
        pages.append(page["items"])
        if page["next"] is None:
            return pages
        after = {"after": page["next"]}


@pytest.mark.parametrize("same", [True, False], ids=["same moment", "other moments"])
async def test_the_list_has_every_file_once_while_others_are_inserted(
    api: httpx.AsyncClient, db: asyncpg.Connection, *, same: bool
) -> None:
    """Keyset paging, newest first: no gaps, no duplicates, whatever comes in meanwhile."""
    await db.execute("update stored_file set status = 'DONE' where status = 'ERROR'")
    await _insert_files(db, 95, "ERROR", same=same)
    wanted = await db.fetch("select id from stored_file where status = 'ERROR'")
    seen: list[dict[str, Any]] = []
    query: dict[str, str] = {"status": "ERROR", "limit": "10"}
    while True:
        page = (await api.get("/files", params=query)).json()
        seen += page["items"]
        await _insert_files(db, 3, "ERROR", same=True)
        if page["next"] is None:
            break
        query["after"] = page["next"]
    ids = [item["id"] for item in seen]
    assert len(ids) == len(set(ids))
    assert {str(row["id"]) for row in wanted} <= set(ids)
    moments = [item["created_at"] for item in seen]
    assert moments == sorted(moments, reverse=True)


async def test_a_list_of_a_full_last_page_ends(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """The page after it is empty and the last."""
    await db.execute("update stored_file set status = 'DONE' where status = 'NEEDS_CHECK'")
    await _insert_files(db, 20, "NEEDS_CHECK", same=True)
    pages = await _pages(api, "/files", status="NEEDS_CHECK", limit=10)
    assert [len(page) for page in pages] == [10, 10, 0]


async def test_one_file_is_shown_with_its_attempt(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """What the client sent, what the object is, how far the attempt is."""
    document = documents.xlsx()
    made = (await upload(api, "ОСВ.xlsx", document, client_ref="7")).json()
    shown = (await api.get(f"/files/{made['file_id']}")).json()
    assert shown["id"] == made["file_id"]
    assert (shown["original_name"], shown["file_type"]) == ("ОСВ.xlsx", "XLSX")
    assert (shown["status"], shown["client_ref"]) == ("UPLOADED", "7")
    assert shown["size_bytes"] == len(document)
    assert shown["job"] | {"created_at": None} == {
        "id": made["job_id"],
        "status": "queued",
        "attempt": 1,
        "pipeline": "tabular",
        "created_at": None,
        "finished_at": None,
        "service_name": None,
        "service_version": None,
        "group_schema": None,
    }
    assert shown["documents"] == []
    assert datetime.fromisoformat(shown["created_at"]).utcoffset() == UTC.utcoffset(None)


async def _mapped(
    api: httpx.AsyncClient, db: asyncpg.Connection, line_counts: list[int]
) -> tuple[UUID, UUID]:
    """A file with documents of so many lines; returns its id and its job's."""
    made = (await upload(api, "a.xlsx", documents.xlsx())).json()
    file_id, job_id = UUID(made["file_id"]), UUID(made["job_id"])
    for ordinal, count in enumerate(line_counts, start=1):
        document = await db.fetchval(
            """insert into osv_document (stored_file_id, recognition_job_id, ordinal, kind,
                group_schema, title, unit, source, line_count)
            values ($1, $2, $3, 'OSV', 'accounts', 'ОСВ', 1000, '{"sheet": "TDSheet"}', $4)
            returning id""",
            file_id, job_id, ordinal, count,
        )  # fmt: skip
        amounts = [None if text is None else Decimal(text) for text in AMOUNTS]
        await db.execute(
            """insert into osv_line (osv_document_id, n, level, kind, name, off_balance,
                opening_debit, opening_credit, turnover_debit, turnover_credit, closing_debit,
                closing_credit)
            select $1, n * 2, 0, 'account', 'Счет ' || n, false,
                $3::numeric, $4::numeric, $5::numeric, $6::numeric, $7::numeric, $8::numeric
            from generate_series(1, $2::int) n""",
            document, count, *amounts,
        )  # fmt: skip
        await db.execute(
            "insert into osv_check (osv_document_id, ordinal, rule, severity, lines, value_column, "
            "expected, actual, message) values ($1, 1, 'R1', 'error', '{2}', 'opening_debit', 1.1, "
            "2, 'не сходится')",
            document,
        )
    return file_id, job_id


@pytest.mark.parametrize("limit", [1, 3, 5, 7, 100])
async def test_lines_are_paged_over_documents_without_gap_or_repeat(
    api: httpx.AsyncClient, db: asyncpg.Connection, limit: int
) -> None:
    """Also over documents without lines, and where a page ends with a document."""
    counts = [5, 0, 7, 3, 0]
    file_id, job_id = await _mapped(api, db, counts)
    seen: list[tuple[int, int]] = []
    shown: set[int] = set()
    after: dict[str, Any] = {}
    while True:
        response = await api.get(f"/files/{file_id}/lines", params={"limit": limit} | after)
        page = response.raise_for_status().json()
        assert (page["file_id"], page["job_id"]) == (str(file_id), str(job_id))
        lines = [(d["ordinal"], line["n"]) for d in page["documents"] for line in d["lines"]]
        assert len(lines) <= limit
        seen += lines
        shown |= {document["ordinal"] for document in page["documents"]}
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert seen == [(d, 2 * n) for d, count in enumerate(counts, 1) for n in range(1, count + 1)]
    assert shown == {1, 2, 3, 4, 5}


async def test_amounts_are_exact_decimals_as_strings(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Never a float, never an exponent; a document says its unit and its failed checks."""
    file_id, _ = await _mapped(api, db, [1])
    response = await api.get(f"/files/{file_id}/lines")
    (document,) = response.json()["documents"]
    (line,) = document["lines"]
    assert line["values"] == AMOUNTS
    assert (document["unit"], document["source"]) == (1000, {"sheet": "TDSheet"})
    assert document["checks"] == [
        {
            "rule": "R1",
            "severity": "error",
            "lines": [2],
            "column": "opening_debit",
            "expected": "1.1",
            "actual": "2",
            "message": "не сходится",
        }
    ]


async def test_only_the_current_attempt_is_shown(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """What an earlier attempt read is no longer what the file says."""
    file_id, job_id = await _mapped(api, db, [2])
    await db.execute("update recognition_job set status = 'done' where id = $1", job_id)
    await db.execute("update stored_file set status = 'DONE' where id = $1", file_id)
    assert (await api.post(f"/files/{file_id}/attempts")).status_code == 201
    page = (await api.get(f"/files/{file_id}/lines")).json()
    assert page["documents"] == []
    assert page["job_id"] != str(job_id)
    assert (await api.get(f"/files/{file_id}")).json()["documents"] == []


async def test_jobs_are_listed_and_shown_with_their_events(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """By status, by file; one with its whole history."""
    made = (await upload(api, "a.pdf", documents.PDF)).json()
    for status in ("published", "processing", "error"):
        await db.execute(
            "update recognition_job set status = $2 where id = $1", UUID(made["job_id"]), status
        )
    listed = (await api.get("/jobs", params={"file_id": made["file_id"]})).json()
    assert [item["id"] for item in listed["items"]] == [made["job_id"]]
    for status, count in (("error", 1), ("done", 0)):
        query = {"file_id": made["file_id"], "status": status}
        assert len((await api.get("/jobs", params=query)).json()["items"]) == count
    shown = (await api.get(f"/jobs/{made['job_id']}")).json()
    assert (shown["status"], shown["original_name"]) == ("error", "a.pdf")
    assert [(event["from_status"], event["to_status"]) for event in shown["events"]] == [
        ("queued", "published"),
        ("published", "processing"),
        ("processing", "error"),
    ]
    assert all(event["cause"] and event["at"] for event in shown["events"])


async def test_jobs_are_paged_without_gap_or_repeat(api: httpx.AsyncClient) -> None:
    """The same keyset as the list of files."""
    made = await asyncio.gather(*(upload(api, f"{n}.pdf", documents.PDF) for n in range(7)))
    pages = await _pages(api, "/jobs", limit=3)
    ids = [item["id"] for page in pages for item in page]
    assert len(ids) == len(set(ids))
    assert {response.json()["job_id"] for response in made} <= set(ids)


async def test_an_unknown_file_or_job_is_not_found(api: httpx.AsyncClient) -> None:
    """With its id in the problem."""
    some = uuid4()
    for method, path in (("GET", ""), ("GET", "/lines"), ("POST", "/attempts")):
        response = await api.request(method, f"/files/{some}{path}")
        assert assert_problem(response, 404, "file-not-found")["file_id"] == str(some)
    problem = assert_problem(await api.get(f"/jobs/{some}"), 404, "job-not-found")
    assert problem["job_id"] == str(some)
    assert_problem(await api.get("/nothing"), 404, "not-found")
    assert_problem(await api.delete("/files"), 405, "method-not-allowed")


# The same in every test process, which must collect the same tests.
_SOME = UUID(int=7)
_NOT_AWARE = encode_cursor(datetime(2025, 1, 1), uuid4())  # noqa: DTZ001
_BEFORE_TIME = encode_cursor(datetime.min.replace(tzinfo=timezone(timedelta(hours=14))), uuid4())
_FIRST = encode_cursor(datetime.min.replace(tzinfo=UTC), uuid4())


@pytest.mark.parametrize(
    "path",
    [
        "/files/no-uuid",
        "/files/no-uuid/lines",
        "/jobs/7",
        "/files?limit=0",
        "/files?limit=1001",
        "/files?limit=x",
        "/files?status=FINE",
        "/files?name=",
        "/files?name=%00",
        "/files?client_ref=a%00b",
        "/files?created_from=2025-01-01",
        "/files?created_from=2025-01-01T00:00:00",
        "/files?created_to=0001-01-01T00:00:00%2B14:00",
        "/jobs?pipeline=paper",
        "/jobs?wait=1&status=FINE",
        f"/files/{_SOME}?wait=61",
        f"/files/{_SOME}?since_status=done",
        "/rejected-messages?reason=late%00",
        "/rejected-messages/0",
        "/rejected-messages/99999999999999999999",
        "/operations/7",
        "/files?after=!!!",
        "/files?after=ж",
        "/files?after=",
        "/jobs?after=MTIz",
        "/jobs?status=DONE",
        "/jobs?file_id=1",
        f"/files/{_SOME}/lines?after=1",
        f"/files/{_SOME}/lines?after=1:",
        f"/files/{_SOME}/lines?after=-1:2",
        f"/files/{_SOME}/lines?after=99999999999:1",
        f"/files/{_SOME}/lines?limit=0",
    ],
)
async def test_what_the_api_does_not_understand_is_a_bad_request(
    api: httpx.AsyncClient, path: str
) -> None:
    """400, one stable type; never 500."""
    assert_problem(await api.get(path), 400, "invalid-request")


async def test_a_cursor_of_any_moment_is_read(api: httpx.AsyncClient) -> None:
    """Also one that somebody made up."""
    last = encode_cursor(datetime.max.replace(tzinfo=UTC), uuid4())
    for cursor in (_NOT_AWARE, _FIRST, last, _BEFORE_TIME):
        assert (await api.get("/files", params={"after": cursor})).status_code in {200, 400}
