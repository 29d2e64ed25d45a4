"""The scenarios of the specification that speak of the services, played against `armka service`.

The test is the core: it publishes requests and listens to the envelopes of a real process.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import jsonschema_rs
import pytest
from nats.aio.msg import Msg

from armka.contract import schema_files
from tests import forked
from tests.world import RESULTS, TABULAR, World, until

SAMPLES = Path(__file__).parents[2] / "samples"
GOOD = next(SAMPLES.glob("ОСВ Ромашка*.xls"))
BROKEN = next(SAMPLES.glob("Повреж*.xlsx"))

_envelopes = jsonschema_rs.validator_for(
    schema_files.load(schema_files.ENVELOPE), validate_formats=True
)


class Service:
    """A running tabular-parser and what it says."""

    def __init__(self, world: World, heard: asyncio.Queue[Msg], log: Path) -> None:
        self.world = world
        self.heard = heard
        self.log = log

    async def ask(self, request: dict[str, Any] | bytes, msg_id: str | None) -> None:
        """Publish a request."""
        client = self.world.clients[0]
        body = request if isinstance(request, bytes) else json.dumps(request).encode()
        headers = {"Nats-Msg-Id": msg_id} if msg_id else None
        await client.publish(TABULAR, body, headers=headers)
        await client.flush()

    async def says(self, seconds: float = 20) -> tuple[str, dict[str, Any]]:
        """The next envelope: its message id and its body, which passes its schema."""
        async with asyncio.timeout(seconds):
            message = await self.heard.get()
        body = json.loads(message.data)
        _envelopes.validate(body)
        return (message.headers or {})["Nats-Msg-Id"], body

    async def logged(self, text: str) -> None:
        """Wait until its log has this."""

        async def seen() -> bool:
            return text in self.log.read_text()

        await until(seen)


@pytest.fixture
async def service(world: World) -> AsyncIterator[Service]:
    """`armka service tabular-parser`, subscribed."""
    heard: asyncio.Queue[Msg] = asyncio.Queue()
    client = await world.client()

    async def hear(message: Msg) -> None:
        if message.reply:
            await client.publish(message.reply, b'{"outcome": "applied"}')
        await heard.put(message)

    await client.subscribe(RESULTS, cb=hear)
    log = world.folder / "service.log"
    process = forked.start(("service", "tabular-parser"), world.env(), log)
    running = Service(world, heard, log)
    try:
        await _subscribed(running)
        yield running
    finally:
        process.terminate()
        assert await process.wait() == 0
        print(log.read_text())  # noqa: T201 - pytest shows it where a test fails


async def _subscribed(service: Service) -> None:
    """A request that only a subscribed service answers: one with readable ids and nothing else."""

    async def answers() -> bool:
        await service.ask({"job_id": str(uuid4()), "file_id": str(uuid4()), "attempt": 1}, None)
        with contextlib.suppress(TimeoutError):
            await service.says(0.2)
            return True
        return False

    await until(answers)
    while not service.heard.empty():
        service.heard.get_nowait()


async def request(world: World, source: Path = GOOD, **fields: Any) -> dict[str, Any]:
    """A valid request about a stored file."""
    file_id = uuid4()
    key = f"uploads/{file_id}/source{source.suffix}"
    await world.store.put(key, await asyncio.to_thread(source.read_bytes))
    base = {
        "schema_version": "1.0",
        "job_id": str(uuid4()),
        "file_id": str(file_id),
        "pipeline": "tabular",
        "file_type": source.suffix[1:].upper(),
        "original_name": source.name,
        "s3": {"bucket": "arm-ka", "key": key},
        "reply_deadline": (datetime.now(UTC) + timedelta(minutes=5)).isoformat(),
        "attempt": 1,
    }
    return base | fields


async def test_a_file_is_recognised(world: World, service: Service) -> None:
    """«Успешный результат»: ack, then the result file in S3, then the envelope about it."""
    asked = await request(world)
    job, file = asked["job_id"], asked["file_id"]
    await service.ask(asked, f"{job}:1")
    ack_id, ack = await service.says()
    assert (ack_id, ack["status"], ack["service"]["name"]) == (
        f"ack:{job}:1",
        "processing",
        "tabular-parser",
    )
    result_id, result = await service.says()
    key = f"results/{file}/{job}/result.json"
    assert (result_id, result["status"]) == (f"result:{job}:1", "done")
    assert result["result_s3"] == {"bucket": "arm-ka", "key": key}
    assert "group_schema" not in result
    written = json.loads(await world.store.get(key, limit=10**7))
    jsonschema_rs.validator_for(
        schema_files.load(schema_files.RESULT), validate_formats=True
    ).validate(written)
    assert (written["job_id"], written["file_id"]) == (job, file)


async def test_an_unreadable_file_is_an_error(world: World, service: Service) -> None:
    """«Ошибка обработки»."""
    asked = await request(world, BROKEN)
    await service.ask(asked, f"{asked['job_id']}:1")
    assert (await service.says())[1]["status"] == "processing"
    msg_id, answer = await service.says()
    assert (msg_id, answer["status"], answer["error"]["code"]) == (
        f"result:{asked['job_id']}:1", "error", "UNREADABLE",
    )  # fmt: skip
    assert answer["error"]["message"]


@pytest.mark.parametrize(
    "spoil",
    [{"s3": {"bucket": "arm-ka"}}, {"file_type": "DOCX"}, {"reply_deadline": "tomorrow"},
     {"schema_version": "2.0"}, {"pipeline": "image"}, {"original_name": None}],
)  # fmt: skip
async def test_a_request_that_fails_its_schema_is_answered(
    world: World, service: Service, spoil: dict[str, Any]
) -> None:
    """«Сообщение не по схеме»: SCHEMA_MISMATCH without an ack before it, and the service lives."""
    asked = await request(world, attempt=7, **spoil)
    await service.ask(asked, None)
    msg_id, answer = await service.says()
    assert (msg_id, answer["status"]) == (f"result:{asked['job_id']}:7", "error")
    assert answer["error"]["code"] == "SCHEMA_MISMATCH"
    valid = await request(world)
    await service.ask(valid, f"{valid['job_id']}:1")
    assert (await service.says())[1]["job_id"] == valid["job_id"]


async def test_the_attempt_of_an_invalid_request_may_stand_in_its_header(
    world: World, service: Service
) -> None:
    """«Сообщение не по схеме», OQ-71: from `Nats-Msg-Id`, or no answer."""
    asked = await request(world)
    del asked["attempt"]
    await service.ask(asked, None)
    await service.ask(asked, f"{asked['job_id']}:3")
    msg_id, answer = await service.says()
    assert (msg_id, answer["error"]["code"]) == (f"result:{asked['job_id']}:3", "SCHEMA_MISMATCH")
    assert service.heard.empty()


@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"{}", b'{"job_id": "1", "file_id": "2"}'])
async def test_an_unreadable_request_is_dropped(
    world: World, service: Service, body: bytes
) -> None:
    """«Нечитаемый запрос»: nothing is published; the next request is served."""
    await service.ask(body, f"{uuid4()}:1")
    valid = await request(world)
    await service.ask(valid, f"{valid['job_id']}:1")
    assert (await service.says())[1]["job_id"] == valid["job_id"]


async def test_a_repeated_request_is_only_acknowledged(world: World, service: Service) -> None:
    """«Повторный запрос пришёл в работающий сервис»: while it works and after it has finished."""
    asked = await request(world)
    job = asked["job_id"]
    for _ in range(2):
        await service.ask(asked, f"{job}:1")
    said = [await service.says() for _ in range(3)]
    assert sorted(msg_id for msg_id, _ in said) == [
        f"ack:{job}:1",
        f"ack:{job}:1",
        f"result:{job}:1",
    ]
    await service.ask(asked, f"{job}:1")
    assert (await service.says())[0] == f"ack:{job}:1"
    other = await request(world)
    await service.ask(other, f"{other['job_id']}:1")
    assert {(await service.says())[1]["job_id"] for _ in range(2)} == {other["job_id"]}


async def test_an_invalid_repeat_is_dropped(world: World, service: Service) -> None:
    """«Невалидный повтор запроса, уже находящегося в работе»: its id would be the result's."""
    asked = await request(world)
    job = asked["job_id"]
    await service.ask(asked, f"{job}:1")
    said = [await service.says() for _ in range(2)]
    await service.ask(asked | {"file_type": "DOCX"}, f"{job}:1")
    other = await request(world)
    await service.ask(other, f"{other['job_id']}:1")
    said += [await service.says() for _ in range(2)]
    assert [body["status"] for _, body in said] == ["processing", "done", "processing", "done"]
    assert said[2][1]["job_id"] == other["job_id"]


async def test_a_deadline_in_the_past_is_the_services_business(
    world: World, service: Service
) -> None:
    """«Примеры контракта — иллюстрации»: it passes the schema, and is answered TIMEOUT."""
    example = json.loads((schema_files.root() / "examples/request-image.json").read_text())
    jsonschema_rs.validator_for(
        schema_files.load(schema_files.REQUEST), validate_formats=True
    ).validate(example)
    assert datetime.fromisoformat(example["reply_deadline"]) < datetime.now(UTC)
    asked = await request(world, reply_deadline=example["reply_deadline"])
    await service.ask(asked, f"{asked['job_id']}:1")
    assert (await service.says())[1]["status"] == "processing"
    assert (await service.says())[1]["error"]["code"] == "TIMEOUT"
