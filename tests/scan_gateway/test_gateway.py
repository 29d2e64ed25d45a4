"""A file goes to ИС Сканирование and comes back as a result, whatever ИС does meanwhile."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from armka.objects.store import ObjectMissing
from tests.scan_gateway.conftest import ImageCore, Start
from tests.scan_gateway.peer import Peer, Reply, Request, reply
from tests.scan_gateway.printed import answer
from tests.sdk.stage import Running

SHORT = 4
PDF = {"pipeline": "image", "file_type": "PDF", "original_name": "скан, 1 стр.pdf"}


async def test_a_file_goes_there_and_its_lines_come_back(
    core: ImageCore, gateway: Running, peer: Peer, ledger
):
    asked = await core.ask()
    assert await core.statuses(asked) == ["processing", "done"]
    envelope = core.of(asked)[1].body
    assert envelope["service"]["name"] == "scan-gateway"
    assert envelope["raw_s3_key"] == f"raw/{asked['job_id']}.json"
    assert json.loads(await core.raw(asked)) == answer(ledger, document="doc-0")
    result = await core.result_file(asked)
    assert result["source"]["file_type"] == "PDF"
    (document,) = result["documents"]
    assert [it["account"] for it in document["lines"][:-1]] == [it.code for it in ledger.accounts]
    submitted = peer.of(asked["job_id"]).submitted
    assert submitted.body == b"%PDF-1.7 as it was scanned"
    assert submitted.headers["content-type"] == "application/pdf"
    assert submitted.query["name"] == "скан, 1 стр.pdf"
    deadline = datetime.fromisoformat(submitted.query["deadline"])
    assert datetime.now(UTC) < deadline < datetime.fromisoformat(asked["reply_deadline"])


async def test_what_was_not_read_surely_needs_a_check(
    core: ImageCore, gateway: Running, peer: Peer, ledger
):
    unsure = answer(ledger, document="doc-0")
    cell = next(it for it in unsure["pages"][0]["tables"][0]["cells"] if it["text"].endswith(",00"))
    cell["confidence"] = 0.2
    peer.answer = lambda _: unsure
    asked = await core.ask()
    assert await core.statuses(asked) == ["processing", "needs_check"]
    lines = (await core.result_file(asked))["documents"][0]["lines"]
    assert [len(it.get("unknown", [])) for it in lines].count(1) == 1


def hangs_up(_: Request) -> Reply:
    """Break the connection off."""
    raise ConnectionResetError


async def test_a_request_waits_acknowledged_while_it_is_down(
    core: ImageCore, gateway: Running, peer: Peer
):
    await peer.down()
    asked = [await core.ask() for _ in range(3)]
    await core.wait(lambda: len(core.heard) == 3)
    peer.meddle = hangs_up
    await peer.up()
    await peer.wait(lambda: peer.requests)
    peer.meddle = lambda _: None
    for request in asked:
        assert (await core.result(request)).status == "done"


async def test_down_until_the_deadline_is_a_timeout_before_it(
    core: ImageCore, gateway: Running, peer: Peer
):
    await peer.down()
    asked = await core.ask(seconds=SHORT)
    heard = await core.result(asked)
    assert (heard.code, "raw_s3_key" in heard.body) == ("TIMEOUT", False)
    assert "недоступна" in heard.body["error"]["message"]
    assert datetime.now(UTC) < datetime.fromisoformat(asked["reply_deadline"])
    with pytest.raises(ObjectMissing):
        await core.raw(asked)


async def test_a_document_that_takes_too_long_is_cancelled(
    core: ImageCore, gateway: Running, peer: Peer
):
    peer.finish.clear()
    asked = await core.ask(seconds=SHORT)
    heard = await core.result(asked)
    assert (heard.code, "не закончила" in heard.body["error"]["message"]) == ("TIMEOUT", True)
    await peer.wait(lambda: peer.of(asked["job_id"]).cancelled)


async def test_a_past_deadline_sends_nothing(core: ImageCore, gateway: Running, peer: Peer):
    """C4.6."""
    asked = await core.ask(seconds=-1)
    assert await core.statuses(asked) == ["processing", "error"]
    assert core.of(asked)[1].code == "TIMEOUT"
    assert peer.requests == []


LIES = {
    "submit-html": ("POST", "documents", b"<html>"),
    "submit-path": ("POST", "documents", b'{"document_id": "../../v2/secrets"}'),
    "submit-deep": ("POST", "documents", b'{"document_id": ' + b"[" * 60_000),
    "submit-large": ("POST", "documents", b" " * 65_537),
    "state-word": ("GET", "", b'{"document_id": "doc-0", "status": "ready"}'),
    "state-id": ("GET", "", b'{"document_id": "doc-9", "status": "done"}'),
    "result-text": ("GET", "result", b"not json"),
    "result-cut": (
        "GET",
        "result",
        b'{"schema_version": "1.0", "document_id": "doc-0", "pages": [',
    ),
    "result-deep": ("GET", "result", b'{"a":' * 200_000),
    "result-version": ("GET", "result", b'{"schema_version": "9.0", "document_id": "doc-0"}'),
}


async def test_an_answer_that_is_none_is_kept_and_said(
    core: ImageCore, gateway: Running, peer: Peer
):
    for name, (method, ending, body) in LIES.items():
        peer.meddle = lying(method, ending, body)
        asked = await core.ask()
        heard = await core.result(asked)
        key = f"raw/{asked['job_id']}.json"
        assert (name, heard.code, heard.body["raw_s3_key"]) == (name, "SCHEMA_MISMATCH", key)
        assert await core.raw(asked) == body
    peer.meddle = lambda _: None
    assert (await core.result(await core.ask())).status == "done"


def lying(method: str, ending: str, body: bytes) -> Callable[[Request], Reply | None]:
    def lie(request: Request) -> Reply | None:
        met = request.method == method and request.path.endswith(ending)
        return Reply(200, body) if met else None

    return lie


async def test_the_result_of_another_document_is_kept_and_said(
    core: ImageCore, gateway: Running, peer: Peer, ledger
):
    wrong = answer(ledger, document="doc-77")
    peer.answer = lambda _: wrong
    asked = await core.ask()
    assert (await core.result(asked)).code == "SCHEMA_MISMATCH"
    assert json.loads(await core.raw(asked)) == wrong


async def test_half_an_answer_is_fetched_again(core: ImageCore, gateway: Running, peer: Peer):
    def half(request: Request) -> Reply | None:
        first = peer.count("GET", "/result") == 1 and request.path.endswith("/result")
        return Reply(200, b'{"schema_version"', length=10_000) if first else None

    peer.meddle = half
    assert (await core.result(await core.ask())).status == "done"


async def test_what_there_is_of_half_an_answer_is_kept(
    core: ImageCore, gateway: Running, peer: Peer
):
    def half(request: Request) -> Reply | None:
        cut = Reply(200, b'{"schema_version"', length=10_000)
        return cut if request.path.endswith("/result") else None

    peer.meddle = half
    asked = await core.ask(seconds=SHORT)
    heard = await core.result(asked)
    assert (heard.code, heard.body["raw_s3_key"]) == ("TIMEOUT", f"raw/{asked['job_id']}.json")
    assert await core.raw(asked) == b'{"schema_version"'


async def test_an_answer_is_taken_up_to_a_size(core: ImageCore, start: Start, peer: Peer):
    async with start(SCAN_GATEWAY_MAX_ANSWER_BYTES=1000):
        asked = await core.ask()
        assert (await core.result(asked)).code == "SCHEMA_MISMATCH"
        assert len(await core.raw(asked)) == 1000


async def test_an_answer_that_needs_too_much_memory_is_one_files_failure(
    core: ImageCore, gateway: Running, peer: Peer
):
    huge = b'{"schema_version":"1.0","document_id":"doc-0","engine":{"name":"x","version":"1"},'
    huge += b'"warnings":["' + b'","'.join([b"ab"] * 5_000_000) + b'"],"pages":[]}'
    peer.meddle = lambda it: Reply(200, huge) if it.path.endswith("/result") else None
    asked = await core.ask()
    heard = await core.result(asked)
    assert heard.code == "RECOGNITION_FAILED"
    assert "raw_s3_key" in heard.body
    peer.meddle = lambda _: None
    assert (await core.result(await core.ask())).status == "done"


REFUSALS = {
    "413": (reply(413, {"title": "Too large"}), "FILE_READ_ERROR"),
    "415": (reply(415, {"title": "Unsupported"}), "INVALID_FORMAT"),
    "encrypted": (
        reply(422, {"code": "INVALID_FORMAT", "detail": "под паролем"}),
        "INVALID_FORMAT",
    ),
    "pages": (reply(422, {"code": "FILE_READ_ERROR", "detail": "100000"}), "FILE_READ_ERROR"),
    "own code": (reply(422, {"code": "E_5432"}), "UNREADABLE"),
    "garbage": (Reply(422, b"\xff\xff"), "UNREADABLE"),
    "409": (reply(409, {"title": "Conflict"}), "RECOGNITION_FAILED"),
}


async def test_a_refused_file_is_refused_by_the_contracts_code(
    core: ImageCore, gateway: Running, peer: Peer
):
    for count, (name, (given, code)) in enumerate(REFUSALS.items(), 1):
        peer.meddle = refusing(given)
        asked = await core.ask()
        heard = await core.result(asked)
        assert (name, heard.code, peer.count("POST")) == (name, code, count)
        assert await core.raw(asked) == given.body
        assert (name == "encrypted") == ("под паролем" in heard.body["error"]["message"])


def refusing(given: Reply) -> Callable[[Request], Reply | None]:
    return lambda request: given if request.method == "POST" else None


async def test_a_failed_document_fails_by_the_contracts_code(
    core: ImageCore, gateway: Running, peer: Peer
):
    for failure, code in (
        ({"code": "UNREADABLE", "message": "Страница пуста"}, "UNREADABLE"),
        ({"code": "UNHEARD_OF", "message": "?"}, "RECOGNITION_FAILED"),
        ({"detail": "no code"}, "RECOGNITION_FAILED"),
    ):
        peer.failure = failure
        asked = await core.ask()
        assert (await core.result(asked)).code == code
        assert json.loads(await core.raw(asked))["status"] == "failed"
        assert not peer.of(asked["job_id"]).cancelled


async def test_trouble_that_passes_costs_nothing_but_time(
    core: ImageCore, gateway: Running, peer: Peer
):
    troubles = {
        "wrong token": Reply(401),
        "forbidden": Reply(403),
        "no such path": Reply(404),
        "too many": reply(429, {}, Retry_After="1"),
        "broken": Reply(500, b"<html>"),
        "bad gateway": Reply(502),
        "full": reply(503, {}, Retry_After="1"),
    }
    asked = {name: await core.upload(b"%PDF " + name.encode(), **PDF) for name in troubles}
    spent: set[bytes] = set()

    def trouble(request: Request) -> Reply | None:
        name = request.body.removeprefix(b"%PDF ").decode()
        if request.method != "POST" or request.body in spent:
            return None
        spent.add(request.body)
        return troubles[name]

    peer.meddle = trouble
    for request in asked.values():
        await core.send(request)
    heard = {name: (await core.result(request)).status for name, request in asked.items()}
    assert heard == dict.fromkeys(troubles, "done")
    assert len(spent) == len(troubles)


async def test_a_lost_document_is_submitted_again(core: ImageCore, gateway: Running, peer: Peer):
    def forget(request: Request) -> Reply | None:
        if request.method == "GET" and peer.count("POST") == 1:
            peer.documents.clear()
        return None

    peer.meddle = forget
    assert (await core.result(await core.ask())).status == "done"
    assert peer.count("POST") == 2


async def test_a_document_that_is_lost_again_and_again_is_given_up(
    core: ImageCore, gateway: Running, peer: Peer
):
    peer.meddle = lambda request: Reply(404) if request.method == "GET" else None
    assert (await core.result(await core.ask())).code == "RECOGNITION_FAILED"
    assert peer.count("POST") == 3


async def test_two_instances_ask_for_one_document(core: ImageCore, start: Start, peer: Peer):
    """A repeat after a crash does not cost a second recognition: the job's id is the key."""
    async with start():
        asked = await core.ask()
        assert (await core.result(asked)).status == "done"
    core.heard.clear()
    async with start():
        await core.send(asked)
        assert (await core.result(asked)).status == "done"
    assert (peer.count("POST"), len(peer.documents)) == (2, 1)


async def test_stopping_cancels_what_nobody_will_fetch(core: ImageCore, start: Start, peer: Peer):
    peer.finish.clear()
    async with start() as running:
        asked = await core.ask()
        await peer.wait(lambda: peer.count("GET"))
        running.stop.set()
        await running.done
    assert (await core.result(asked)).code == "UNKNOWN_ERROR"
    assert peer.of(asked["job_id"]).cancelled


async def test_so_many_files_are_given_to_it_at_once(core: ImageCore, start: Start, peer: Peer):
    peer.finish.clear()
    async with start(SCAN_GATEWAY_CONCURRENCY=2, SCAN_GATEWAY_POLL_SECONDS=1):
        asked = [await core.ask() for _ in range(5)]
        await core.wait(lambda: len(core.heard) == 5)
        await peer.wait(lambda: peer.count("GET") >= 6 or len(peer.documents) > 2)
        assert len(peer.documents) == 2
        peer.finish.set()
        assert {(await core.result(request)).status for request in asked} == {"done"}
    assert len(peer.documents) == 5


async def test_an_invalid_request_without_attempt_is_answered_under_the_first(
    core: ImageCore, gateway: Running, peer: Peer
):
    """C4.2, OQ-71."""
    asked = await core.upload(b"%PDF", pipeline="image", file_type="DOCX")
    del asked["attempt"]
    await core.send(asked, f"{asked['job_id']}:5")
    heard = await core.result(asked)
    assert (heard.code, heard.msg_id) == ("SCHEMA_MISMATCH", f"result:{asked['job_id']}:1")
    assert peer.requests == []
