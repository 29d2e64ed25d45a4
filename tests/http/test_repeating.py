"""`Idempotency-Key`: the same request again has the first answer and no second effect."""

import asyncio
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.files.idempotency import forget_old_keys
from armka.objects.store import ObjectStore
from armka.stack import ObjectServer
from tests import web
from tests.files import documents
from tests.http.proxy import deaf_proxy
from tests.http.serving import QuietCore, assert_problem, running, traces


async def _send(
    api: httpx.AsyncClient, key: str, content: bytes = documents.PDF, name: str = "a.pdf"
) -> httpx.Response:
    headers = {"Idempotency-Key": key}
    return await api.post("/files", files={"file": (name, content)}, headers=headers)


async def test_a_repeated_upload_has_the_first_answer(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore
) -> None:
    """The same ids; no row and no object more; the answer says that it is a repeat."""
    key = str(uuid4())
    first = await _send(api, key)
    before = await traces(db, store)
    second = await _send(api, key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert await traces(db, store) == before


@pytest.mark.parametrize(("name", "content"), [("a.pdf", documents.PNG), ("b.pdf", documents.PDF)])
async def test_a_key_with_another_request_is_refused(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore, name: str, content: bytes
) -> None:
    """422, and nothing is left of the other one."""
    key = str(uuid4())
    await _send(api, key)
    before = await traces(db, store)
    assert_problem(await _send(api, key, content, name), 422, "key-reused")
    assert await traces(db, store) == before


async def test_the_same_upload_many_times_at_once_is_one(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore
) -> None:
    """All get the same ids, whoever came first; the objects of the others are gone."""
    objects, files, jobs, keys = await traces(db, store)
    key = str(uuid4())
    answers = await asyncio.gather(*(_send(api, key) for _ in range(10)))
    assert [answer.status_code for answer in answers] == [201] * 10
    assert len({answer.text for answer in answers}) == 1
    after = await traces(db, store)
    assert after[:3] == (objects + 1, files + 1, jobs + 1)
    assert len(after[3]) == len(keys) + 1


async def test_a_refusal_is_not_kept(api: httpx.AsyncClient) -> None:
    """The key of a refused document serves for the right one."""
    key = str(uuid4())
    assert_problem(await _send(api, key, b""), 422, "upload-refused")
    assert (await _send(api, key)).status_code == 201


@pytest.mark.parametrize("key", ["", "a b", "ключ", "x" * 256])
async def test_a_key_that_is_none_is_a_bad_request(api: httpx.AsyncClient, key: str) -> None:
    """1 to 255 visible characters of ASCII."""
    headers = {b"Idempotency-Key": key.encode()}
    response = await api.post("/files", files={"file": ("a.pdf", documents.PDF)}, headers=headers)
    assert_problem(response, 400, "invalid-request")


async def test_a_repeat_after_an_unheard_commit_is_the_same_file(
    database: str, object_store_server: ObjectServer, tmp_path: Path
) -> None:
    """The database's answer is lost after the commit; the client's own repeat changes nothing."""
    async with deaf_proxy(database, until_sent=b"unheard.pdf") as (dsn, cuts):
        env = object_store_server.env() | {"DATABASE_URL": dsn, "NATS_ENABLED": "false"}
        with running(env, tmp_path) as core:
            async with web.client(base_url=f"{core.url}/api/v1", timeout=60) as api:
                answers = [await _send(api, "k1", name="unheard.pdf") for _ in range(2)]
                listed = (await api.get("/files")).json()["items"]
                source = await api.get(f"/files/{listed[0]['id']}/source")
    assert len(cuts) == 1
    assert [answer.status_code for answer in answers] == [201, 201]
    assert {answer.json()["file_id"] for answer in answers} == {item["id"] for item in listed}
    assert source.content == documents.PDF


async def test_a_repeated_attempt_is_one(api: httpx.AsyncClient, db: asyncpg.Connection) -> None:
    """Also at once; with a new key it is refused, since one is under way."""
    made = (await _send(api, str(uuid4()))).json()
    file_id, job_id = UUID(made["file_id"]), UUID(made["job_id"])
    await db.execute("update recognition_job set status = 'error' where id = $1", job_id)
    await db.execute("update stored_file set status = 'ERROR' where id = $1", file_id)
    path, headers = f"/files/{file_id}/attempts", {"Idempotency-Key": str(uuid4())}
    answers = await asyncio.gather(*(api.post(path, headers=headers) for _ in range(5)))
    assert [answer.status_code for answer in answers] == [201] * 5
    assert len({answer.text for answer in answers}) == 1
    assert_problem(await api.post(path), 409, "attempt-under-way")
    other = f"/files/{uuid4()}/attempts"
    assert_problem(await api.post(other, headers=headers), 422, "key-reused")


async def test_keys_are_forgotten_after_two_days(
    api: httpx.AsyncClient, db: asyncpg.Connection, quiet_core: QuietCore
) -> None:
    """By the sweep; younger ones stay."""
    old, young = str(uuid4()), str(uuid4())
    for key in (old, young):
        await _send(api, key)
    await db.execute(
        "update idempotency_key set created_at = now() - interval '49 hours' where key = $1", old
    )
    async with Database(DatabaseSettings.model_validate({"DATABASE_URL": quiet_core.dsn})) as pool:
        assert await forget_old_keys(pool) == 1
    kept = await db.fetch("select key from idempotency_key where key in ($1, $2)", old, young)
    assert [row["key"] for row in kept] == [young]


async def test_several_documents_are_judged_one_by_one(
    api: httpx.AsyncClient, db: asyncpg.Connection, store: ObjectStore
) -> None:
    """A bad one among them spoils nothing, nor does one that is too large; a repeat is the same."""
    large = documents.PDF.ljust(1024 * 1024 + 1, b"\n")
    sent = [("a.xlsx", documents.xlsx()), ("bad.txt", b"x"), ("large.pdf", large)]
    files = [("file", item) for item in [*sent, ("Скан.pdf", documents.PDF)]]
    headers = {"Idempotency-Key": str(uuid4())}
    data = {"client_ref": "7"}
    first = await api.post("/files", files=files, data=data, headers=headers)
    items = first.json()["items"]
    assert first.status_code == 207
    assert [item["status"] for item in items] == [201, 422, 413, 201]
    assert items[1]["problem"]["code"] == "UNSUPPORTED_FILE"
    assert (items[0]["name"], items[3]["name"]) == ("a.xlsx", "Скан.pdf")
    shown = (await api.get(f"/files/{items[3]['made']['file_id']}")).json()
    assert (shown["original_name"], shown["client_ref"]) == ("Скан.pdf", "7")
    before = await traces(db, store)
    assert (
        await api.post("/files", files=files, data=data, headers=headers)
    ).json() == first.json()
    assert await traces(db, store) == before


async def test_the_same_bytes_are_told_of(api: httpx.AsyncClient) -> None:
    """The earlier files, latest first; another document has none."""
    content = documents.PDF + uuid4().bytes
    made = [(await _send(api, str(uuid4()), content)).json() for _ in range(3)]
    assert made[0]["same_as"] == []
    assert made[1]["same_as"] == [made[0]["file_id"]]
    assert made[2]["same_as"] == [made[1]["file_id"], made[0]["file_id"]]
