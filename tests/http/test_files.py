"""Files: filters, withdrawal, downloads."""

import asyncio
import csv
import io
from decimal import Decimal
from typing import Any
from urllib.parse import unquote
from uuid import UUID, uuid4

import asyncpg
import httpx
import openpyxl
import pytest

from armka.objects.store import ObjectStore
from tests.files import documents
from tests.http.serving import QuietCore, assert_problem, upload
from tests.world import until


async def _listed(api: httpx.AsyncClient, **query: str) -> list[str]:
    page = (await api.get("/files", params=query)).raise_for_status().json()
    return [item["original_name"] for item in page["items"]]


async def _add(
    api: httpx.AsyncClient, name: str, client_ref: str, content: bytes = documents.PDF
) -> UUID:
    made = (await upload(api, name, content, client_ref=client_ref)).json()
    return UUID(made["file_id"])


async def _set(db: asyncpg.Connection, file_id: UUID, status: str) -> None:
    await db.execute(
        "update recognition_job set status = 'done' where stored_file_id = $1", file_id
    )
    await db.execute("update stored_file set status = $2 where id = $1", file_id, status)


async def test_filters_narrow_the_list(api: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """All that is given must hold; names are found by any part, in any case, wildcards are none."""
    client = str(uuid4())
    first = await _add(api, "ОСВ за 2024 год.xlsx", client, documents.xlsx())
    second = await _add(api, "Скан 100%.pdf", client)
    await _set(db, first, "ERROR")
    await db.execute("update stored_file set error_code = 'TIMEOUT' where id = $1", first)
    moment = await db.fetchval("select created_at from stored_file where id = $1", second)
    for query, found in (
        ({}, 2),
        ({"status": "ERROR"}, 1),
        ({"name": "осв ЗА"}, 1),
        ({"name": "100%.P"}, 1),
        ({"name": "1__"}, 0),
        ({"file_type": "PDF"}, 1),
        ({"error_code": "TIMEOUT"}, 1),
        ({"error_code": "NO_ACK"}, 0),
        ({"created_from": moment.isoformat()}, 1),
        ({"created_to": moment.isoformat()}, 1),
        ({"status": "ERROR", "file_type": "PDF"}, 0),
        ({"organisation": "ромашка"}, 0),
    ):
        assert len(await _listed(api, client_ref=client, **query)) == found, query
    assert await _listed(api, name="за 2024 год", client_ref=client) == ["ОСВ за 2024 год.xlsx"]


async def test_a_search_finds_every_match_page_by_page(api: httpx.AsyncClient) -> None:
    """A filter without an index of its own pages without gap or repeat."""
    word = uuid4().hex
    for number in range(5):
        await _add(api, f"{number} {word.upper()}.pdf", "7")
    seen, after = [], None
    while True:
        query = {"name": word, "limit": "2"} | ({"after": after} if after else {})
        page = (await api.get("/files", params=query)).json()
        seen += [item["original_name"][0] for item in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == ["4", "3", "2", "1", "0"]


async def test_a_file_is_found_by_its_organisation(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Of its current attempt."""
    file_id, _ = await _mapped(api, db, "ОСВ.xlsx")
    shown = (await api.get("/files", params={"organisation": "ромашк"})).json()["items"]
    assert str(file_id) in {item["id"] for item in shown}


async def test_a_withdrawn_file_is_hidden_not_deleted(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Who, when and why are kept, the first of each; the statuses stay; restore brings it back."""
    client = str(uuid4())
    file_id = await _add(api, "a.pdf", client)
    await _set(db, file_id, "NEEDS_CHECK")
    path = f"/files/{file_id}"
    for reason in ("не тот клиент", "again"):
        response = await api.post(f"{path}/withdraw", json={"reason": reason, "by": "Иванова"})
        assert response.status_code == 200
    shown = (await api.get(path)).json()
    assert (shown["withdrawn_by"], shown["withdrawn_reason"]) == ("Иванова", "не тот клиент")
    assert shown["withdrawn_at"]
    assert (shown["status"], shown["job"]["status"]) == ("NEEDS_CHECK", "done")
    assert await _listed(api, client_ref=client) == []
    assert await _listed(api, client_ref=client, withdrawn="true") == ["a.pdf"]
    assert_problem(await api.post(f"{path}/attempts"), 409, "file-withdrawn")
    for _ in range(2):
        restored = (await api.post(f"{path}/restore")).json()
        assert (restored["withdrawn_at"], restored["withdrawn_by"]) == (None, None)
    assert await _listed(api, client_ref=client) == ["a.pdf"]


async def test_a_file_under_way_is_not_withdrawn(api: httpx.AsyncClient) -> None:
    """409; and 404 for one that is not there."""
    file_id = await _add(api, "a.pdf", "7")
    body = {"reason": "x"}
    response = await api.post(f"/files/{file_id}/withdraw", json=body)
    assert_problem(response, 409, "attempt-under-way")
    assert_problem(await api.post(f"/files/{uuid4()}/withdraw", json=body), 404, "file-not-found")
    assert_problem(await api.post(f"/files/{uuid4()}/restore"), 404, "file-not-found")
    for wrong in ({}, {"reason": ""}, {"reason": "a\0"}, {"reason": "x", "by": "y" * 256}):
        response = await api.post(f"/files/{file_id}/withdraw", json=wrong)
        assert_problem(response, 400, "invalid-request")


@pytest.mark.parametrize(
    "name", ['Отчёт «2025» "1".pdf', "a.pdf", "a;b%41'c.pdf", "я" * 300 + ".pdf"]
)
async def test_the_source_is_downloaded_under_its_name(api: httpx.AsyncClient, name: str) -> None:
    """B46: byte for byte, saved and never shown, the name right in every alphabet."""
    file_id = await _add(api, name, "7")
    kept = (await api.get(f"/files/{file_id}")).json()["original_name"]
    response = await api.get(f"/files/{file_id}/source")
    assert response.content == documents.PDF
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert _name(response) == kept


async def test_a_source_that_is_gone_or_changed_is_not_served(
    api: httpx.AsyncClient, store: ObjectStore, quiet_core: QuietCore
) -> None:
    """404 with a type of its own; nothing stays on the disk."""
    file_id = await _add(api, "a.pdf", "7")
    key = f"uploads/{file_id}/source.pdf"
    await store.put(key, documents.PDF.replace(b"1.4", b"1.5"))
    assert_problem(await api.get(f"/files/{file_id}/source"), 404, "source-missing")
    await store.delete(key)
    assert_problem(await api.get(f"/files/{file_id}/source"), 404, "source-missing")
    assert_problem(await api.get(f"/files/{uuid4()}/source"), 404, "file-not-found")
    assert not list(quiet_core.spool.iterdir())


def _name(response: httpx.Response) -> str:
    disposition = response.headers["content-disposition"]
    assert disposition.startswith("attachment; filename=")
    return unquote(disposition.partition("filename*=UTF-8''")[2])


HOSTILE = ["=1+1", "+7", "-x", "@SUM(A1)", "\t=1", "\r=1"]
AMOUNTS = ["0.01", "-1234.5", "12345678901234567.89", None, "1000000", "0"]


async def _mapped(
    api: httpx.AsyncClient, db: asyncpg.Connection, name: str, names: list[str] = HOSTILE
) -> tuple[UUID, UUID]:
    """A file with two documents, whose lines have these names."""
    made = (await upload(api, name, documents.xlsx())).json()
    file_id, job_id = UUID(made["file_id"]), UUID(made["job_id"])
    await _set(db, file_id, "DONE")
    for ordinal, account in enumerate((None, "60.01/=['x"), start=1):
        document = await db.fetchval(
            """insert into osv_document (stored_file_id, recognition_job_id, ordinal, kind,
                group_schema, title, organisation_name, period_text, unit, source, account)
            values ($1, $2, $3, 'OSV', 'accounts', '=ОСВ', 'ООО «Ромашка»', '2024', 1000, '{}', $4)
            returning id""",
            file_id, job_id, ordinal, account,
        )  # fmt: skip
        amounts = [None if text is None else Decimal(text) for text in AMOUNTS]
        await db.execute(
            """insert into osv_line (osv_document_id, n, level, kind, name, account, off_balance,
                opening_debit, opening_credit, turnover_debit, turnover_credit, closing_debit,
                closing_credit, unknown, sheet_row)
            select $1, n, 0, 'account', name, '01', false, $3::numeric, $4::numeric, $5::numeric,
                $6::numeric, $7::numeric, $8::numeric,
                '[{"column": "turnover_credit", "raw": "1O0"}]', n + 5
            from unnest($2::text[]) with ordinality x (name, n)""",
            document, names, *amounts,
        )  # fmt: skip
    return file_id, job_id


async def test_lines_as_csv_open_in_a_russian_excel(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """BOM, `;`, CRLF, decimal comma; numbers stay numbers, formulas become texts."""
    file_id, _ = await _mapped(api, db, "Отчёт.xlsx")
    response = await api.get(f"/files/{file_id}/lines.csv")
    assert _name(response) == "Отчёт ОСВ.csv"
    assert response.content.startswith("\ufeff".encode())
    assert response.content.endswith(b"\r\n")
    header, *rows = csv.reader(io.StringIO(response.content.decode("utf-8-sig")), delimiter=";")
    assert [row[0] for row in rows] == ["1"] * 6 + ["2"] * 6
    shown = [dict(zip(header, row, strict=True)) for row in rows]
    assert [line["Наименование"] for line in shown[:6]] == [f"'{name}" for name in HOSTILE]
    first = shown[0]
    assert [first[name] for name in header if "дебет" in name or "кредит" in name] == [
        "0,01", "-1234,5", "12345678901234567,89", "", "1000000", "0",
    ]  # fmt: skip
    assert (first["Организация"], first["Единица"]) == ("ООО «Ромашка»", "1000")
    assert first["Не прочитано"] == "Обороты, кредит: 1O0"


async def test_lines_as_a_workbook(api: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """A sheet a document; no cell is a formula; what a double cannot hold is kept as a text."""
    file_id, _ = await _mapped(api, db, "Отчёт.xlsx")
    response = await api.get(f"/files/{file_id}/lines.xlsx")
    assert _name(response) == "Отчёт ОСВ.xlsx"
    book = openpyxl.load_workbook(io.BytesIO(response.content))
    assert book.sheetnames == ["1 ОСВ", "2 60.01 =  x"]
    rows: list[Any] = list(book.worksheets[0].iter_rows(min_row=6))
    assert [row[3].value for row in rows] == [name.replace("\r", "_x000D_") for name in HOSTILE]
    assert {cell.data_type for row in rows for cell in row} <= {"s", "n", "inlineStr"}
    assert book.worksheets[0]["A1"].data_type == "s"
    values = [cell.value for cell in rows[0][6:12]]
    assert values == [0.01, -1234.5, "12345678901234567.89", None, 1000000, 0]


async def test_many_lines_are_exported_piece_by_piece(
    api: httpx.AsyncClient, db: asyncpg.Connection, quiet_core: QuietCore
) -> None:
    """Every line once, in order; nothing stays on the disk."""
    count = 20_000
    file_id, _ = await _mapped(api, db, "a.xlsx", [f"Счёт {n}" for n in range(count)])
    response = await api.get(f"/files/{file_id}/lines.csv")
    names = [line.split(";")[9] for line in response.text.splitlines()[1:]]
    assert names == [f"Счёт {n}" for n in range(count)] * 2

    async def is_tidy() -> bool:
        return not await asyncio.to_thread(lambda: list(quiet_core.spool.iterdir()))

    await until(is_tidy)  # the answer is whole a moment before


async def test_what_was_not_read_is_not_exported(api: httpx.AsyncClient) -> None:
    """409 says how the file is; 404 where there is none."""
    file_id = await _add(api, "a.pdf", "7")
    for ending in ("csv", "xlsx"):
        problem = assert_problem(
            await api.get(f"/files/{file_id}/lines.{ending}"), 409, "nothing-read"
        )
        assert problem["file_status"] == "UPLOADED"
        response = await api.get(f"/files/{uuid4()}/lines.{ending}")
        assert_problem(response, 404, "file-not-found")
