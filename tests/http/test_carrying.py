"""«Распознать ещё раз» after corrections: nothing that was typed is lost."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx

from tests.files import documents
from tests.http.command_line import armka
from tests.http.serving import QuietCore, assert_problem, upload


async def _read(db: asyncpg.Connection, file_id: UUID, amounts: dict[str, str]) -> None:
    """What the mapping leaves of the current attempt: accounts with their closing debits."""
    job_id = await db.fetchval(
        "select current_recognition_job_id from stored_file where id = $1", file_id
    )
    await db.execute("update recognition_job set status = 'needs_check' where id = $1", job_id)
    await db.execute("update stored_file set status = 'NEEDS_CHECK' where id = $1", file_id)
    document = await db.fetchval(
        """insert into osv_document (stored_file_id, recognition_job_id, ordinal, kind,
            group_schema, title, unit, source, line_count)
        values ($1, $2, 1, 'OSV', 'accounts', 'ОСВ', 1, '{"sheet": "TDSheet"}', $3) returning id""",
        file_id, job_id, len(amounts),
    )  # fmt: skip
    for n, (account, amount) in enumerate(amounts.items(), start=1):
        await db.execute(
            """insert into osv_line (osv_document_id, n, level, kind, name, account, off_balance,
                turnover_debit, closing_debit)
            values ($1, $2, 0, 'account', 'счёт', $3, false, $4, $4)""",
            document, n, account, Decimal(amount),
        )  # fmt: skip


async def _twice_read(api: httpx.AsyncClient, db: asyncpg.Connection) -> UUID:
    """Three values corrected in the first attempt; the second reads one again as it was, one
    rightly, one in a third way.
    """
    made = (await upload(api, "ОСВ.xlsx", documents.xlsx())).json()
    file_id = UUID(made["file_id"])
    await _read(db, file_id, {"50": "1.00", "51": "2.00", "60": "3.00", "62": "4.00"})
    path = f"/files/{file_id}/documents/1"
    tag = (await api.get(path)).headers["ETag"]
    edits = [{"line": n, "field": "closing_debit", "value": f"{n}00"} for n in (1, 2, 3)]
    edited = await api.post(
        f"{path}/corrections", json={"corrections": edits}, headers={"If-Match": tag}
    )
    edited.raise_for_status()
    (await api.post(f"/files/{file_id}/attempts")).raise_for_status()
    await _read(db, file_id, {"41": "9.00", "50": "1.00", "51": "200.00", "60": "33.00"})
    return file_id


async def _changes(api: httpx.AsyncClient, file_id: UUID) -> dict[str, Any]:
    told = (await api.get(f"/files/{file_id}/changes")).raise_for_status().json()
    [document] = told["documents"]
    assert (told["attempt"], told["against"], told["others"]) == (2, 1, [1])
    found: dict[str, Any] = document
    return found


async def test_the_new_attempt_is_told_against_the_old_one(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Lines by their accounts, values as they were read, and what became of each correction."""
    file_id = await _twice_read(api, db)
    document = await _changes(api, file_id)
    assert [(one["account"], one["verdict"]) for one in document["corrections"]] == [
        ("50", "applies"), ("51", "already"), ("60", "conflict"),
    ]  # fmt: skip
    assert {(one["account"], one["kind"]) for one in document["lines"]} == {
        ("41", "added"), ("51", "changed"), ("60", "changed"), ("62", "removed"),
    }  # fmt: skip
    conflict = document["corrections"][2]
    assert [conflict[name]["value"] for name in ("reading", "corrected", "now")] == [
        "3.00", "300.00", "33.00",
    ]  # fmt: skip
    assert (conflict["old_line"], conflict["new_line"]) == (3, 4)
    old = (await api.get(f"/files/{file_id}/lines", params={"attempt": 1})).json()
    values = [line["values"][4] for line in old["documents"][0]["lines"]]
    assert values == ["100.00", "200.00", "300.00", "4.00"]


async def test_what_applies_is_carried_over_and_a_conflict_where_it_is_picked(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """As corrections of their own, each with the one that it repeats; said again, nothing more."""
    file_id = await _twice_read(api, db)
    document = await _changes(api, file_id)
    path = f"/files/{file_id}/documents/1/carry-over"
    answer = await api.post(path, json={}, headers={"If-Match": document["etag"]})
    assert answer.raise_for_status().json()["lines"] == [2]
    tag = answer.headers["ETag"]
    log = (await api.get(f"/files/{file_id}/documents/1/corrections")).json()["items"]
    assert [(one["origin"], one["line"], one["new_value"]) for one in log] == [
        ("carried_over", 2, "100.00")
    ]
    assert log[0]["carried_from"] == document["corrections"][0]["id"]
    conflict = document["corrections"][2]["id"]
    picked = await api.post(path, json={"corrections": [conflict]}, headers={"If-Match": tag})
    assert picked.raise_for_status().json()["lines"] == [4]
    now = await _changes(api, file_id)
    assert {one["verdict"] for one in now["corrections"]} == {"already"}
    tag = picked.headers["ETag"]
    again = await api.post(path, json={}, headers={"If-Match": tag})
    assert again.raise_for_status().json()["lines"] == []


async def test_what_cannot_be_carried_over_is_refused(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """One that is so already, none at all, an old tag, no tag, an attempt that is not there."""
    file_id = await _twice_read(api, db)
    document = await _changes(api, file_id)
    path, tag = f"/files/{file_id}/documents/1/carry-over", {"If-Match": document["etag"]}
    for number in (document["corrections"][1]["id"], 2**60):
        answer = await api.post(path, json={"corrections": [number]}, headers=tag)
        assert answer.status_code == 422
    assert (await api.post(path, json={})).status_code == 428
    (await api.post(path, json={}, headers=tag)).raise_for_status()
    conflict = document["corrections"][2]["id"]
    late = await api.post(path, json={"corrections": [conflict]}, headers=tag)
    assert late.status_code == 412
    for wrong in ({"against": 7}, {"against": 2}):
        answer = await api.get(f"/files/{file_id}/changes", params=wrong)
        assert_problem(answer, 404, "attempt-not-found")
    assert_problem(await api.get(f"/files/{uuid4()}/changes"), 404, "file-not-found")
    unread = (await upload(api, "a.xlsx", documents.xlsx())).json()["file_id"]
    assert_problem(await api.get(f"/files/{unread}/changes"), 404, "attempt-not-found")


async def test_the_commands_compare_and_carry_over(
    quiet_core: QuietCore, api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Without --correction all that apply."""
    file_id = await _twice_read(api, db)
    code, said = await armka(quiet_core.url, "files", "changes", file_id)
    assert (code, "attempt 2 against 1" in said, "conflict" in said) == (0, True, True)
    code, said = await armka(quiet_core.url, "files", "carry-over", file_id, "--json")
    assert (code, json.loads(said)["lines"]) == (0, [2])
