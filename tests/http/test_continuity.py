"""R6 over the API: found when documents are mapped, corrected, withdrawn, read again."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx

from tests.files import documents
from tests.http.command_line import armka
from tests.http.serving import QuietCore, assert_problem, upload

ACCOUNTS = {"51": ("100.00", None), "60": (None, "70.00")}


async def _document(
    api: httpx.AsyncClient,
    db: asyncpg.Connection,
    client: str,
    period: tuple[str, str],
    accounts: dict[str, tuple[str | None, str | None]],
) -> tuple[UUID, UUID]:
    """A file with one mapped document, whose accounts begin and end with these balances."""
    made = (await upload(api, "ОСВ.xlsx", documents.xlsx(), client_ref=client)).json()
    file_id, job_id = UUID(made["file_id"]), UUID(made["job_id"])
    async with db.transaction():
        await db.execute("update recognition_job set status = 'done' where id = $1", job_id)
        await db.execute("update stored_file set status = 'DONE' where id = $1", file_id)
        document = await db.fetchval(
            """insert into osv_document (stored_file_id, recognition_job_id, ordinal, kind,
                group_schema, title, organisation_name, period_from, period_to, unit, source)
            values ($1, $2, 1, 'OSV', 'accounts', 'ОСВ', 'ООО «Берег»', $3::text::date,
                $4::text::date, 1, '{}') returning id""",
            file_id, job_id, *period,
        )  # fmt: skip
        for n, (account, amounts) in enumerate(accounts.items(), start=1):
            balance = [None if text is None else Decimal(text) for text in amounts]
            await db.execute(
                """insert into osv_line (osv_document_id, n, level, kind, name, account,
                    off_balance, opening_debit, opening_credit, closing_debit, closing_credit)
                values ($1, $2, 0, 'account', 'счёт', $3, false, $4, $5, $4, $5)""",
                document, n, account, *balance,
            )  # fmt: skip
    return file_id, document


async def _series(api: httpx.AsyncClient, client: str) -> dict[str, Any]:
    answer = await api.get("/continuity", params={"client_ref": client})
    [series] = answer.raise_for_status().json()["series"]
    found: dict[str, Any] = series
    return found


async def _count(api: httpx.AsyncClient, client: str) -> int | None:
    [link] = (await _series(api, client))["links"]
    count: int | None = link["difference_count"]
    return count


async def test_a_finding_is_a_warning_on_both_documents_and_follows_every_change(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Mapped, corrected, withdrawn, restored, read again: what is shown is what is so now."""
    client = str(uuid4())
    first, _ = await _document(api, db, client, ("2024-01-01", "2024-03-31"), ACCOUNTS)
    wrong = ACCOUNTS | {"60": (None, "75.00")}
    second, document = await _document(api, db, client, ("2024-04-01", "2024-06-30"), wrong)
    series = await _series(api, client)
    assert [one["warning_count"] for one in series["documents"]] == [1, 1]
    [link] = series["links"]
    assert (link["compared"], link["difference_count"]) == (2, 1)
    [difference] = link["differences"]
    assert (difference["account"], difference["closing"], difference["opening"]) == (
        "60", "-70.00", "-75.00",
    )  # fmt: skip
    assert [one["status"] for one in series["documents"]] == ["DONE", "DONE"]
    for file_id in (first, second):
        shown = (await api.get(f"/files/{file_id}/documents/1/continuity")).json()
        assert [one["difference_count"] for one in shown["links"]] == [1]

    await db.execute("update osv_line set opening_credit = 70 where osv_document_id = $1 and n = 2",
                     document)  # fmt: skip
    await db.execute("update osv_document set revision = revision + 1 where id = $1", document)
    assert await _count(api, client) == 0

    await api.post(f"/files/{first}/withdraw", json={"reason": "x"})
    series = await _series(api, client)
    assert (len(series["documents"]), series["links"]) == (1, [])
    await api.post(f"/files/{first}/restore")
    assert await _count(api, client) == 0

    (await api.post(f"/files/{second}/attempts")).raise_for_status()
    assert (await _series(api, client))["links"] == []
    left = await db.fetchval("select count(*) from osv_continuity where client_ref = $1", client)
    assert left == 0


async def test_gaps_and_overlaps_are_told(api: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """With their days and their documents."""
    client = str(uuid4())
    for period in (("2024-01-01", "2024-03-31"), ("2024-07-01", "2024-09-30"),
                   ("2024-09-01", "2024-12-31")):  # fmt: skip
        await _document(api, db, client, period, ACCOUNTS)
    series = await _series(api, client)
    assert series["gaps"] == [{"first": "2024-04-01", "last": "2024-06-30"}]
    assert [one["kind"] for one in series["overlaps"]] == ["partly"]


async def test_who_has_no_neighbour_has_no_link(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Nor has a document of nobody's; an unknown file is none, an unknown client has nothing."""
    made = (await upload(api, "ОСВ.xlsx", documents.xlsx())).json()
    shown = await api.get(f"/files/{made['file_id']}/documents/1/continuity")
    assert shown.json()["links"] == []
    unknown = await api.get(f"/files/{uuid4()}/documents/1/continuity")
    assert_problem(unknown, 404, "file-not-found")
    answer = await api.get("/continuity", params={"client_ref": str(uuid4())})
    assert answer.json()["series"] == []


async def test_the_command_shows_a_clients_documents_in_order(
    quiet_core: QuietCore, api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Words for people, facts with --json."""
    client = str(uuid4())
    await _document(api, db, client, ("2024-01-01", "2024-03-31"), ACCOUNTS)
    await _document(api, db, client, ("2024-04-01", "2024-06-30"), {"51": ("100.00", None)})
    code, said = await armka(quiet_core.url, "files", "continuity", client)
    assert (code, "60" in said, "-70.00" in said) == (0, True, True)
    code, said = await armka(quiet_core.url, "files", "continuity", client, "--json")
    assert (code, json.loads(said)["client_ref"]) == (0, client)
