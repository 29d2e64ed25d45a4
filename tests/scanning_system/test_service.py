"""The HTTP side: documents are taken on, followed, answered, cancelled, kept and let go."""

import asyncio
import contextlib
import io
import os
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pypdfium2
from jsonschema_rs import validator_for

from tests import forked, web
from tests.forked import Forked
from tests.pages import samples
from tests.scanning_system.conftest import ended, problem, serving, settings_for, submitted

PDF = samples.load("bordered").pdf


def long_document(pages: int) -> bytes:
    """So many times the same page: more than is read at once."""
    with pypdfium2.PdfDocument(PDF) as source:
        document = pypdfium2.PdfDocument.new()
        document.import_pages(source, [0] * pages)
        buffer = io.BytesIO()
        document.save(buffer)
        document.close()
    return buffer.getvalue()


async def test_a_document_goes_in_and_its_answer_comes_out(tmp_path):
    async with serving(settings_for(tmp_path)) as client:
        answer = await client.post(
            "/v1/documents",
            params={"name": "ОСВ.pdf"},
            content=PDF,
            headers={"Content-Type": "application/pdf", "Idempotency-Key": "job"},
        )
        assert answer.status_code == 202
        assert answer.headers["location"] == f"/v1/documents/{answer.json()['document_id']}"
        document = answer.json()["document_id"]
        status = await ended(client, document)
        result = await client.get(f"/v1/documents/{document}/result")
        openapi = (await client.get("/openapi.json")).json()

        again = await client.post("/v1/documents", content=PDF, headers={"Idempotency-Key": "job"})
        other = await client.post(
            "/v1/documents", content=PDF + b"\n", headers={"Idempotency-Key": "job"}
        )

    pages = len(samples.load("bordered").pages)
    assert status == {
        "document_id": document,
        "status": "done",
        "error": None,
        "pages_done": pages,
        "pages_total": pages,
        "callback": False,
    }
    schema = {"$ref": "#/components/schemas/Answer", "components": openapi["components"]}
    validator_for(schema).validate(result.json())
    assert result.json()["document_id"] == document
    assert [page["number"] for page in result.json()["pages"]] == list(range(1, pages + 1))
    assert again.json()["document_id"] == document
    assert problem(other) == (409, None)


async def test_who_may_not_and_what_is_not_there(tmp_path):
    nobody = "00000000-0000-4000-8000-000000000000"
    async with serving(settings_for(tmp_path, max_bytes=1000)) as client:
        stranger = await client.get(
            f"/v1/documents/{nobody}", headers={"Authorization": "Bearer guess"}
        )
        unknown = await client.get(f"/v1/documents/{nobody}")
        nothing = await client.delete(f"/v1/documents/{nobody}")
        large = await client.post("/v1/documents", content=PDF)
        chunked = await client.post("/v1/documents", content=_in_chunks(PDF))
        word = await client.post("/v1/documents", content=b"PK\x03\x04 a text")
        wait = await client.get(f"/v1/documents/{nobody}", params={"wait": 31})

    refusals = [problem(it)[0] for it in (stranger, unknown, nothing, large, chunked, word, wait)]
    assert refusals == [401, 404, 404, 413, 413, 415, 400]


async def _in_chunks(body: bytes):
    for start in range(0, len(body), 500):
        yield body[start : start + 500]


async def test_a_full_desk_refuses_and_a_cancelled_document_makes_room(tmp_path):
    async with serving(settings_for(tmp_path, backlog=2)) as client:
        first = await submitted(client, long_document(400))
        second = await submitted(client, PDF)
        third = await client.post("/v1/documents", content=PDF)
        early = await client.get(f"/v1/documents/{second}/result")

        cancelled = [await client.delete(f"/v1/documents/{first}") for _ in range(2)]
        late = await ended(client, second)
        gone = await ended(client, first)

    assert problem(third) == (429, None)
    assert int(third.headers["retry-after"]) > 0
    assert problem(early) == (409, None)
    assert [it.status_code for it in cancelled] == [204, 204]
    assert (gone["status"], late["status"]) == ("cancelled", "done")


async def test_nobody_waits_past_the_deadline(tmp_path):
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    async with serving(settings_for(tmp_path)) as client:
        answer = await client.post(
            "/v1/documents", params={"deadline": soon}, content=long_document(400)
        )
        status = await ended(client, answer.json()["document_id"])

    assert (status["status"], status["error"]["code"]) == ("failed", "TIMEOUT")


async def test_what_is_accepted_outlives_the_process(tmp_path):
    document = long_document(60)
    async with serving(settings_for(tmp_path)) as client:
        running = await submitted(client, document, **{"Idempotency-Key": "long"})
        waiting = await submitted(client, PDF)
        await begun(client, running)

    async with serving(settings_for(tmp_path)) as client:
        statuses = [await ended(client, it) for it in (running, waiting)]
        again = await submitted(client, document, **{"Idempotency-Key": "long"})

    assert [it["status"] for it in statuses] == ["done", "done"]
    assert statuses[0]["pages_done"] == 60
    assert again == running


async def test_a_kill_costs_no_accepted_document(tmp_path):
    """The whole command, ended as by a power cut while it reads: it goes on where it was."""
    document = long_document(60)
    async with commanded(tmp_path) as (client, process):
        running = await submitted(client, document)
        waiting = await submitted(client, PDF)
        await begun(client, running)
        process.kill()
        await process.wait()

    async with commanded(tmp_path) as (client, _):
        statuses = [await ended(client, it) for it in (running, waiting)]

    assert [it["status"] for it in statuses] == ["done", "done"]
    assert statuses[0]["pages_done"] == 60


@contextlib.asynccontextmanager
async def commanded(folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Forked]]:
    """`armka scanning-system` in a process of its own, ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {"PATH": os.environ["PATH"], "SCANNING_DATA_DIR": str(folder / "data")}
    process = forked.start(("scanning-system", "--port", str(port)), env, folder / "log")
    url = f"http://127.0.0.1:{port}"
    try:
        async with web.client(base_url=url, timeout=30) as client:
            await until_answered(client, process)
            yield client, process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def until_answered(client: httpx.AsyncClient, process: Forked) -> None:
    """Wait until the process listens."""
    async with asyncio.timeout(60):
        while True:
            assert process.returncode is None
            with contextlib.suppress(httpx.TransportError):
                await client.get("/openapi.json")
                return
            await asyncio.sleep(0.05)


async def begun(client: httpx.AsyncClient, document: str) -> None:
    """Wait until a page is read."""
    async with asyncio.timeout(60):
        while not (await client.get(f"/v1/documents/{document}")).json()["pages_done"]:  # noqa: ASYNC110 - it is asked over HTTP
            await asyncio.sleep(0.01)


async def test_the_oldest_answers_give_way_and_a_full_disk_refuses(tmp_path):
    padded = PDF + b"%" * 930_000
    async with serving(settings_for(tmp_path, max_data_mb=1)) as client:
        documents = []
        for number in range(2):
            documents.append(await submitted(client, padded + b"%d" % number))
            await ended(client, documents[-1])
        oldest = await client.get(f"/v1/documents/{documents[0]}")
        newest = await client.get(f"/v1/documents/{documents[-1]}/result")
        too_much = await client.post("/v1/documents", content=PDF + b"%" * 1_100_000)

    assert (problem(oldest)[0], newest.status_code) == (404, 200)
    assert problem(too_much) == (503, None)
    assert "retry-after" in too_much.headers


async def test_without_the_engine_pictures_fail_and_text_layers_are_read(tmp_path):
    picture = samples.picture()
    async with serving(settings_for(tmp_path, tessdata_dir=tmp_path)) as client:
        status = await ended(client, await submitted(client, picture))
        text = await ended(client, await submitted(client, PDF))
        ready = (await client.get("/readyz")).json()

    assert (status["status"], status["error"]["code"]) == ("failed", "NOT_IMPLEMENTED")
    assert "rus" in status["error"]["message"]
    assert text["status"] == "done"
    assert "rus.traineddata" in ready["ocr"]
