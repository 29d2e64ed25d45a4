"""The scenarios of the specification that speak of scan-gateway, each under its own name."""

import importlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from armka.contract import schema_files
from tests.scan_gateway.conftest import ImageCore
from tests.scan_gateway.peer import Peer
from tests.sdk.stage import Running, new_request

PDF = {"pipeline": "image", "file_type": "PDF", "original_name": "скан.pdf"}


async def test_the_service_is_alive(core: ImageCore, gateway: Running, peer: Peer):
    """«Сервис жив»: `processing` before the file is read from S3, and before ИС has it."""
    await peer.down()
    asked = new_request(core.store.bucket, **PDF)
    await core.send(asked)
    heard = (await core.statuses(asked, 1), core.of(asked)[0])
    assert heard[0][0] == "processing"
    assert heard[1].msg_id == f"ack:{asked['job_id']}:1"
    assert heard[1].body["service"]["name"] == "scan-gateway"
    assert (await core.result(asked)).code == "FILE_READ_ERROR"


async def test_a_successful_result(core: ImageCore, gateway: Running):
    """«Успешный результат»: the result file first, then the envelope that names it."""
    asked = await core.ask()
    heard = await core.result(asked)
    key = f"results/{asked['file_id']}/{asked['job_id']}/result.json"
    assert (heard.status, heard.msg_id) == ("done", f"result:{asked['job_id']}:1")
    assert heard.body["result_s3"] == {"bucket": core.store.bucket, "key": key}
    assert heard.body["result_schema_version"] == "1.0"
    assert "group_schema" not in heard.body
    assert (await core.result_file(asked))["group_schema"] == "accounts_subaccounts"


async def test_an_error_of_processing(core: ImageCore, gateway: Running, peer: Peer):
    """«Ошибка обработки»: unreadable, out of time in the external system, of another type."""
    unreadable = {"code": "UNREADABLE", "message": "Файл поврежден"}
    peer.failure = unreadable
    assert (await core.result(await core.ask())).code == "UNREADABLE"
    spreadsheet = await core.ask(file_type="XLSX", original_name="книга.xlsx")
    assert (await core.result(spreadsheet)).code == "UNSUPPORTED_FORMAT"
    peer.finish.clear()
    assert (await core.result(await core.ask(seconds=3))).code == "TIMEOUT"


async def test_a_request_that_fails_its_schema(core: ImageCore, gateway: Running, peer: Peer):
    """«Сообщение не по схеме»: SCHEMA_MISMATCH and no ack; without an attempt, under 1 (OQ-71)."""
    spoils: list[dict[str, Any]] = [
        {"s3": {"bucket": "arm-ka"}},
        {"file_type": "DOCX"},
        {"schema_version": "2.0"},
        {"pipeline": "tabular"},
        {"attempt": 0},
        {"attempt": "3"},
    ]
    for spoil in spoils:
        asked = new_request(core.store.bucket, **PDF | {"attempt": 7} | spoil)
        await core.send(asked, f"{asked['job_id']}:9")
        heard = await core.result(asked)
        attempt = 1 if "attempt" in spoil else 7
        assert (heard.code, heard.msg_id) == (
            "SCHEMA_MISMATCH",
            f"result:{asked['job_id']}:{attempt}",
        )
        assert len(core.of(asked)) == 1
    assert peer.requests == []
    assert (await core.result(await core.ask())).status == "done"


async def test_an_unreadable_request(core: ImageCore, gateway: Running):
    """«Нечитаемый запрос»: nothing is published, and the next request is served."""
    for body in (b"{", b"[]", b'"x"', b"{}", b'{"job_id": "1", "file_id": "2"}', b"\xff"):
        await core.send(body, "no-job:1")
    asked = await core.ask()
    assert (await core.result(asked)).status == "done"
    assert {heard.job for heard in core.heard} == {asked["job_id"]}


async def test_a_repeated_request(core: ImageCore, gateway: Running, peer: Peer):
    """«Повторный запрос пришёл в работающий сервис»: an ack again, no second recognition."""
    peer.finish.clear()
    asked = await core.ask()
    await peer.wait(lambda: peer.count("GET"))
    await core.send(asked)
    assert await core.statuses(asked, 2) == ["processing", "processing"]
    peer.finish.set()
    assert (await core.result(asked)).status == "done"
    await core.send(asked)
    assert (await core.statuses(asked, 4))[3] == "processing"
    assert peer.count("POST") == 1


async def test_an_invalid_repeat(core: ImageCore, gateway: Running, peer: Peer):
    """«Невалидный повтор запроса, уже находящегося в работе»: dropped, in work and afterwards."""
    peer.finish.clear()
    asked = await core.ask()
    await peer.wait(lambda: peer.count("GET"))
    await core.send(asked | {"file_type": "DOCX"})
    peer.finish.set()
    assert await core.statuses(asked) == ["processing", "done"]
    await core.send(asked | {"s3": None})
    other = await core.ask()
    assert (await core.result(other)).status == "done"
    assert [heard.status for heard in core.of(asked)] == ["processing", "done"]


async def test_the_examples_are_illustrations(core: ImageCore, gateway: Running, peer: Peer):
    """«Примеры контракта — иллюстрации»: the example passes the schema; the service says TIMEOUT
    before the file is sent to ИС Сканирование.
    """
    example = json.loads((schema_files.root() / "examples/request-image.json").read_text())
    schema = schema_files.load(schema_files.REQUEST)
    jsonschema_rs.validator_for(schema, validate_formats=True).validate(example)
    assert datetime.fromisoformat(example["reply_deadline"]) < datetime.now(UTC)
    await core.send(example)
    assert await core.statuses(example) == ["processing", "error"]
    assert core.of(example)[1].code == "TIMEOUT"
    assert peer.requests == []


@pytest.mark.parametrize("file_type", ["PNG", "JPG"])
async def test_images_go_as_what_they_are(
    core: ImageCore, gateway: Running, peer: Peer, file_type: str
):
    asked = await core.ask(file_type=file_type, original_name=f"скан.{file_type.lower()}")
    assert (await core.result(asked)).status == "done"
    kind = peer.of(asked["job_id"]).submitted.headers["content-type"]
    assert kind == {"PNG": "image/png", "JPG": "image/jpeg"}[file_type]


def test_the_table_of_scenarios_is_true():
    """docs/operate/scan-gateway.md names each scenario's test, and the test names the scenario."""
    page = (Path(__file__).parents[2] / "docs/operate/scan-gateway.md").read_text()
    rows = re.findall(r"^\| («.+») \| `(\w+)\.py::(\w+)` \|$", page, re.MULTILINE)
    assert len(rows) == 10
    for scenario, module, name in rows:
        test = getattr(importlib.import_module(f"tests.scan_gateway.{module}"), name)
        assert scenario in " ".join((test.__doc__ or "").split()), scenario
