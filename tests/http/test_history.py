"""What happened to a file, over the API and the command line."""

from uuid import UUID, uuid4

import asyncpg
import httpx

from tests.files import documents
from tests.http.command_line import armka
from tests.http.serving import QuietCore, assert_problem, upload
from tests.http.test_files import _mapped


async def _failed(api: httpx.AsyncClient, db: asyncpg.Connection, code: str) -> UUID:
    """A file whose attempt was published, taken and then failed."""
    made = (await upload(api, "ОСВ.xlsx", documents.xlsx())).json()
    job, file_id = UUID(made["job_id"]), UUID(made["file_id"])
    for status in ("published", "processing", "error"):
        await db.execute(
            "update recognition_job set status = $2, service_name = 'tabular-parser', "
            "service_version = '1.2', publish_count = 1, error_code = $3 where id = $1",
            job, status, code if status == "error" else None,
        )  # fmt: skip
    await db.execute(
        "update stored_file set status = 'ERROR', error_code = $2, error_message = 'лист пуст' "
        "where id = $1",
        file_id, code,
    )  # fmt: skip
    return file_id


async def test_a_timeline_tells_what_happened_and_what_to_do(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Facts with fields, the same in words, in their order; and the error's advice."""
    file_id = await _failed(api, db, "INVALID_DOCUMENT")
    told = (await api.get(f"/files/{file_id}/timeline")).raise_for_status().json()
    assert [item["kind"] for item in told["items"]] == ["uploaded", "sent", "taken", "failed"]
    assert told["items"][2]["text"] == "Taken by tabular-parser 1.2"
    assert told["items"][2]["fields"] == {"service": "tabular-parser", "version": "1.2"}
    times = [item["at"] for item in told["items"]]
    assert times == sorted(times)
    error = told["error"]
    assert (error["code"], error["message"]) == ("INVALID_DOCUMENT", "лист пуст")
    assert error["retry"] == "useless"
    assert error["what"] == "No trial balance was found in it."
    await api.post(f"/files/{file_id}/withdraw", json={"reason": "не тот", "by": "Иванова"})
    last = (await api.get(f"/files/{file_id}/timeline")).json()["items"][-1]
    assert (last["kind"], last["text"]) == ("withdrawn", "Withdrawn by Иванова: не тот")


async def test_attempts_are_listed_with_what_was_read_in_each(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """The old one keeps its documents when a new one is asked for; the timeline tells of it."""
    file_id, first = await _mapped(api, db, "ОСВ.xlsx")
    made = (await api.post(f"/files/{file_id}/attempts")).raise_for_status().json()
    items = (await api.get(f"/files/{file_id}/attempts")).raise_for_status().json()["items"]
    assert [item["job_id"] for item in items] == [str(first), made["job_id"]]
    assert [item["is_current"] for item in items] == [False, True]
    assert [len(item["documents"]) for item in items] == [2, 0]
    told = (await api.get(f"/files/{file_id}/timeline")).json()
    assert told["error"] is None
    begun = next(item for item in told["items"] if item["kind"] == "attempt")
    assert begun["fields"]["attempt"] == begun["attempt"] == 2


async def test_who_asked_for_many_at_once_is_told(
    api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """An attempt that came of an operation has its reason."""
    file_id = await _failed(api, db, "TIMEOUT")
    job = UUID((await api.post(f"/files/{file_id}/attempts")).json()["job_id"])
    await db.execute(
        """with o as (
            insert into bulk_operation (kind, filter, reason, requested_by, total)
            values ('attempts', '{}', 'после сбоя', 'petrov', 1) returning id
        ) insert into bulk_operation_item
            (bulk_operation_id, ordinal, stored_file_id, recognition_job_id, outcome)
        select id, 1, $1, $2, 'begun' from o""",
        file_id, job,
    )  # fmt: skip
    items = (await api.get(f"/files/{file_id}/timeline")).json()["items"]
    begun = next(item for item in items if item["kind"] == "attempt")
    assert begun["fields"]["reason"] == "после сбоя"


async def test_a_file_that_is_not_there_has_no_history(api: httpx.AsyncClient) -> None:
    """404, as everywhere."""
    for what in ("timeline", "attempts"):
        assert_problem(await api.get(f"/files/{uuid4()}/{what}"), 404, "file-not-found")


async def test_the_commands_tell_it_too(
    quiet_core: QuietCore, api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Words for people, facts with --json."""
    file_id = await _failed(api, db, "NO_ACK")
    code, said = await armka(quiet_core.url, "files", "timeline", file_id)
    assert (code, "Taken by tabular-parser 1.2" in said) == (0, True)
    assert "What to do: The service is probably not running" in said
    code, said = await armka(quiet_core.url, "files", "attempts", file_id, "--json")
    assert (code, '"is_current": true' in said) == (0, True)
