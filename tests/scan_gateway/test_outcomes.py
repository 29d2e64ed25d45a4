"""docs/operate/scan-gateway.md says what is left after each way that ИС may take: all of it, with a
core, its database, S3 and `armka service scan-gateway`.
"""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.books.ledger import Ledger
from tests.scan_gateway.peer import TOKEN, Peer, Reply, Request, reply
from tests.scan_gateway.printed import answer
from tests.world import World, service, until

PAGE = Path(__file__).parents[2] / "docs/operate/scan-gateway.md"
AT_ONCE = -5.0
SOON = 6.0
LATER = 60.0
BROKEN_OFF = b'{"schema_version": "1.0"'
REFUSED = reply(422, {"code": "INVALID_FORMAT", "detail": "Файл защищен паролем"})


@dataclass(frozen=True)
class Way:
    """What ИС does with a document, how much time the job has, and what raw object is left."""

    seconds: float
    raw: Callable[[dict[str, Any]], bytes] | None
    state: Callable[[str], Reply | None] = lambda _: None
    result: Callable[[dict[str, Any]], Reply | None] = lambda _: None
    submit: Callable[[int], Reply | None] = lambda _: None


def _json(body: object) -> bytes:
    return json.dumps(body).encode()


def _unsure(made: dict[str, Any]) -> bytes:
    cells = made["pages"][0]["tables"][0]["cells"]
    unsure = next(cell for cell in cells if re.fullmatch(r"[\d ]+,\d\d", cell["text"]))
    return _json(made).replace(_json(unsure), _json(unsure | {"confidence": 0.1}))


def _another(made: dict[str, Any]) -> bytes:
    return _json(made | {"document_id": "another"})


def _half(made: dict[str, Any]) -> bytes:
    return _json(made)[:1000]


def _failed(document: str) -> bytes:
    error = {"code": "E17", "message": "Страницы не найдены"}
    return _json({"document_id": document, "status": "failed", "error": error})


WAYS = {
    "answers": Way(LATER, _json),
    "answers, and is unsure of an amount": Way(
        LATER, _unsure, result=lambda made: Reply(200, _unsure(made))
    ),
    "is down, and comes back in time": Way(
        LATER, _json, submit=lambda before: Reply(502) if before < 2 else None
    ),
    "is down until the deadline": Way(SOON, None, submit=lambda _: Reply(502)),
    "is too slow (it is told to cancel)": Way(
        SOON,
        None,
        state=lambda document: reply(200, {"document_id": document, "status": "running"}),
    ),
    "gets nothing: the deadline is past already": Way(AT_ONCE, None),
    "answers something that is no JSON": Way(
        LATER, lambda _: b"<html>", result=lambda _: Reply(200, b"<html>")
    ),
    "answers for another document": Way(
        LATER, _another, result=lambda made: Reply(200, _another(made))
    ),
    "answers with half a JSON": Way(LATER, _half, result=lambda made: Reply(200, _half(made))),
    "breaks off in the middle, every time": Way(
        SOON, lambda _: BROKEN_OFF, result=lambda _: Reply(200, BROKEN_OFF, length=9999)
    ),
    "refuses the file (encrypted)": Way(LATER, lambda _: REFUSED.body, submit=lambda _: REFUSED),
    "fails on the file": Way(
        LATER,
        lambda made: _failed(made["document_id"]),
        state=lambda document: Reply(200, _failed(document)),
    ),
}


class Ways:
    """Which way each document goes; its bytes say it."""

    def __init__(self, peer: Peer, ledger: Ledger) -> None:
        self.peer = peer
        self.ledger = ledger
        self.submitted: dict[str, int] = {}

    def __call__(self, request: Request) -> Reply | None:
        if request.method == "POST":
            name = request.body.decode()
            before = self.submitted.get(name, 0)
            self.submitted[name] = before + 1
            return WAYS[name].submit(before)
        document = next(
            it for it in self.peer.documents.values() if it.id == request.path.split("/")[3]
        )
        way = WAYS[document.submitted.body.decode()]
        if request.method == "DELETE":
            return None
        if request.path.endswith("/result"):
            return way.result(answer(self.ledger, document=document.id))
        return way.state(document.id)


@contextlib.asynccontextmanager
async def gateway(world: World, peer: Peer) -> AsyncIterator[None]:
    """`armka service scan-gateway`; its log never names the token."""
    async with service(
        world, "scan-gateway", SCANNING_URL=peer.url, SCANNING_TOKEN=TOKEN,
        SCAN_GATEWAY_CONCURRENCY=20, SCAN_GATEWAY_FAILURES_TO_PAUSE=1000,
    ) as running:  # fmt: skip
        yield
    assert TOKEN not in running.said()


async def test_what_is_left_after_each_way(world: World, peer: Peer, ledger: Ledger):
    """«Сырой ответ зарегистрирован» and «Факт отказа сервиса» are in it."""
    rows = _table(PAGE.read_text())
    assert sorted(rows) == sorted(WAYS)
    peer.meddle = Ways(peer, ledger)
    await world.core(WATCHDOG_PERIOD_SECONDS=1)
    async with gateway(world, peer):
        jobs = {name: await _job(world, name, way.seconds) for name, way in WAYS.items()}
        for name, job in jobs.items():
            await _ended(world, job)
            left = await _left(world, job)
            assert _agrees(rows[name][:3], left), (name, rows[name], left)
            assert await _raw(world, job) == _expected(peer, ledger, name, job), name
            assert (rows[name][3] == "none") == (WAYS[name].raw is None)
        await _lines_are_placed(world, jobs["answers"], ledger)
        slow = peer.of(str(jobs["is too slow (it is told to cancel)"]))
        assert slow.cancelled
        assert str(jobs["gets nothing: the deadline is past already"]) not in peer.documents


async def _lines_are_placed(world: World, job: UUID, ledger: Ledger) -> None:
    """The core keeps each line's page, boxes and confidence."""
    lines = await world.db.fetch(
        "select l.page, l.boxes::text, l.confidence::text from osv_line l "
        "join osv_document d on d.id = l.osv_document_id where d.recognition_job_id = $1",
        job,
    )
    assert len(lines) == len(ledger.accounts) + 1
    for page, boxes, confidence in lines:
        assert page == 1
        assert [len(box) for box in json.loads(boxes)] == [4] * 6
        assert json.loads(confidence) == [None] * 6


def _table(text: str) -> dict[str, list[str]]:
    section = text.partition("## What is left after each")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in rows[2:]}


def _agrees(said: list[str], left: list[str]) -> bool:
    """Whether each cell says what is left: words in backticks, some of them alternatives."""
    for cell, found in zip(said, left, strict=True):
        parts = [set(re.findall(r"`(\w+)`", part)) or {"none"} for part in cell.split(", ")]
        words = found.split(", ")
        if len(parts) != len(words):
            return False
        if not all(word in part for part, word in zip(parts, words, strict=True)):
            return False
    return True


async def _job(world: World, name: str, seconds: float) -> UUID:
    file = await world.file(file_type="PDF", name=f"{name}.pdf")
    await world.store.put(f"uploads/{file}/source.pdf", name.encode())
    deadline = datetime.now(UTC) + timedelta(seconds=seconds)
    return await world.job(file, pipeline="image", reply_deadline=deadline)


async def _ended(world: World, job: UUID) -> None:
    async def ended() -> bool:
        status = (await world.file_of(job))["status"]
        return bool(status in {"DONE", "NEEDS_CHECK", "ERROR"})

    await until(ended, seconds=90)


async def _left(world: World, job: UUID) -> list[str]:
    row, file = await world.row(job), await world.file_of(job)
    facts = await world.facts(job)
    return [
        ", ".join(filter(None, (row["status"], row["error_code"]))),
        ", ".join(filter(None, (file["status"], file["error_code"]))),
        "; ".join(", ".join(filter(None, fact)) for fact in facts) or "none",
    ]


async def _raw(world: World, job: UUID) -> bytes | None:
    """The raw answer that is registered for a job; «Сырой ответ зарегистрирован»."""
    found = await world.db.fetchrow(
        "select o.* from s3_object o join recognition_job j on j.raw_s3_object_id = o.id "
        "where j.id = $1",
        job,
    )
    if found is None:
        return None
    assert (found["key"], found["bucket_role"], found["created_by"]) == (
        f"raw/{job}.json",
        "raw",
        "scan-gateway",
    )
    return await world.store.get(found["key"], limit=10**8)


def _expected(peer: Peer, ledger: Ledger, name: str, job: UUID) -> bytes | None:
    way = WAYS[name]
    if way.raw is None:
        return None
    document = peer.documents.get(str(job))
    return way.raw(answer(ledger, document=document.id if document else ""))
