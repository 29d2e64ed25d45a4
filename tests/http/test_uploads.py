"""Uploads through the API: what is taken, what is refused and then leaves nothing (F1)."""

import asyncio
import hashlib
import io
from pathlib import Path

import asyncpg
import httpx
import pytest

from armka.objects.store import ObjectStore
from tests.files import documents
from tests.http.serving import QuietCore, assert_problem, traces, upload

SAMPLES = [
    pytest.param("ОСВ.xlsx", documents.xlsx(), "XLSX", "tabular", id="xlsx"),
    pytest.param("ОСВ.xls", documents.xls(), "XLS", "tabular", id="xls"),
    pytest.param("ОСВ.xlsb", documents.xlsb(), "XLSB", "tabular", id="xlsb"),
    pytest.param("Скан.pdf", documents.PDF, "PDF", "image", id="pdf"),
    pytest.param("Скан.png", documents.PNG, "PNG", "image", id="png"),
    pytest.param("Скан.jpeg", documents.JPG, "JPG", "image", id="jpg"),
    pytest.param("Скан.xlsx", documents.PDF, "PDF", "image", id="pdf named xlsx"),
    pytest.param("Выгрузка.xls", documents.HTML, "XLS", "tabular", id="html named xls"),
]


@pytest.mark.parametrize(("name", "content", "file_type", "pipeline"), SAMPLES)
async def test_an_upload_becomes_an_object_a_file_and_a_queued_job(
    api: httpx.AsyncClient,
    db: asyncpg.Connection,
    store: ObjectStore,
    name: str,
    content: bytes,
    file_type: str,
    pipeline: str,
) -> None:
    """The rows say what lies in S3, byte for byte; names are kept, keys are the core's own."""
    response = await upload(api, name, content, client_ref="Клиент 7")
    assert response.status_code == 201
    made = response.json()
    row = await db.fetchrow(
        """select f.*, o.bucket, o.key, o.bucket_role, o.size_bytes, o.sha256, o.created_by,
            j.id as job_id, j.status as job_status, j.pipeline, j.attempt
        from stored_file f join s3_object o on o.id = f.s3_object_id
        join recognition_job j on j.stored_file_id = f.id where f.id = $1""",
        made["file_id"],
    )
    assert row is not None
    assert (row["original_name"], row["file_type"]) == (name, file_type)
    assert (row["status"], row["client_ref"]) == ("UPLOADED", "Клиент 7")
    assert str(row["current_recognition_job_id"]) == str(row["job_id"]) == made["job_id"]
    assert (row["job_status"], row["pipeline"], row["attempt"]) == ("queued", pipeline, 1)
    key = f"uploads/{made['file_id']}/source.{file_type.lower()}"
    assert (row["bucket"], row["key"], row["bucket_role"]) == ("arm-ka", key, "uploads")
    assert (row["size_bytes"], row["created_by"]) == (len(content), "core")
    assert row["sha256"] == hashlib.sha256(content).hexdigest()
    assert await store.get(key, limit=10**6) == content


REFUSALS = [
    ("a.xlsx", b"", "EMPTY_FILE"),
    ("a.docx", documents.archive("word/document.xml"), "UNSUPPORTED_FILE"),
    ("a.ods", documents.archive("mimetype", "content.xml"), "UNSUPPORTED_FILE"),
    ("a.zip", documents.archive("a.xlsx"), "UNSUPPORTED_FILE"),
    ("a.xlsx", documents.xlsx()[:2000], "DAMAGED_FILE"),
    ("a.txt", documents.CSV, "UNSUPPORTED_FILE"),
]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [pytest.param(*case, id=f"{case[2]} {case[0]}") for case in REFUSALS],
)
async def test_a_refusal_names_its_reason_and_leaves_nothing(
    api: httpx.AsyncClient,
    db: asyncpg.Connection,
    store: ObjectStore,
    quiet_core: QuietCore,
    name: str,
    content: bytes,
    code: str,
) -> None:
    """422, a stable code, a message for a person; no row, no object, no file on the disk."""
    before = await traces(db, store)
    body = assert_problem(await upload(api, name, content), 422, "upload-refused")
    assert body["code"] == code
    assert await traces(db, store) == before
    assert not list(quiet_core.spool.iterdir())


async def test_an_encrypted_workbook_is_refused(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore, tmp_path: Path
) -> None:
    """F1: the person is told to save it without a password."""
    before = await traces(db, store)
    response = await upload(api, "ОСВ под паролем.xlsx", documents.encrypted(tmp_path))
    body = assert_problem(response, 422, "upload-refused")
    assert body["code"] == "ENCRYPTED_FILE"
    assert "password" in body["detail"]
    assert await traces(db, store) == before


async def test_a_file_over_the_limit_is_refused_and_one_at_the_limit_is_taken(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore
) -> None:
    """UPLOAD_MAX_BYTES (here 1 MiB) is about the file, not about the form around it."""
    whole = documents.PDF.ljust(1024 * 1024, b"\n")
    assert (await upload(api, "a.pdf", whole)).status_code == 201
    before = await traces(db, store)
    for more in (b"\n", b"\n" * 100_000):
        body = assert_problem(await upload(api, "a.pdf", whole + more), 413, "upload-refused")
        assert body["code"] == "FILE_TOO_LARGE"
        assert "1024 KiB" in body["detail"]
    assert await traces(db, store) == before


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../results/x.pdf", "x.pdf"),
        ("..\\..\\x.pdf", "x.pdf"),
        ("%2e%2e%2fresults%2fx.pdf", "%2e%2e%2fresults%2fx.pdf"),
        ("a\u202efdp.exe", "afdp.exe"),
        ("Отчёт «2025» №1.pdf", "Отчёт «2025» №1.pdf"),
        ("я" * 300 + ".pdf", "я" * 251 + ".pdf"),
    ],
)
async def test_a_hostile_name_is_only_data(
    api: httpx.AsyncClient, db: asyncpg.Connection, sent: str, kept: str
) -> None:
    """B37: it never becomes part of a key."""
    made = (await upload(api, sent, documents.PDF)).json()
    row = await db.fetchrow(
        "select f.original_name, o.key from stored_file f "
        "join s3_object o on o.id = f.s3_object_id where f.id = $1",
        made["file_id"],
    )
    assert row is not None
    assert (row["original_name"], row["key"]) == (kept, f"uploads/{made['file_id']}/source.pdf")
    shown = (await api.get(f"/files/{made['file_id']}")).json()
    assert shown["original_name"] == kept


async def test_a_client_reference_is_optional_and_bounded(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore
) -> None:
    """Empty counts as none; control characters and more than 255 are refused."""
    made = (await upload(api, "a.pdf", documents.PDF, client_ref="  ")).json()
    assert (await api.get(f"/files/{made['file_id']}")).json()["client_ref"] is None
    before = await traces(db, store)
    for bad in ("a\0b", "a\nb", "x" * 256):
        assert_problem(
            await upload(api, "a.pdf", documents.PDF, client_ref=bad), 400, "invalid-request"
        )
    assert await traces(db, store) == before


async def test_twenty_uploads_at_once_are_twenty_files(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore
) -> None:
    """Each keeps its own content."""
    contents = [documents.PDF + b"%d" % n * 50_000 for n in range(20)]
    responses = await asyncio.gather(*(upload(api, f"{n}.pdf", c) for n, c in enumerate(contents)))
    assert [response.status_code for response in responses] == [201] * 20
    for content, response in zip(contents, responses, strict=True):
        key = f"uploads/{response.json()['file_id']}/source.pdf"
        assert await store.get(key, limit=10**6) == content


async def test_the_same_document_twice_is_two_files(api: httpx.AsyncClient) -> None:
    """Whether they are the same is the analyst's business."""
    first, second = [(await upload(api, "a.pdf", documents.PDF)).json() for _ in range(2)]
    assert first["file_id"] != second["file_id"]


async def test_a_file_that_is_streamed_by_the_client_is_taken(api: httpx.AsyncClient) -> None:
    """Httpx sends a file object in pieces."""
    response = await api.post("/files", files={"file": ("a.xlsx", io.BytesIO(documents.xlsx()))})
    assert response.status_code == 201
