"""The gateway beside the scanning system that comes with it: the interface, from both its ends."""

import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import forked
from tests.scan_gateway.conftest import ImageCore, Start
from tests.scan_gateway.peer import TOKEN
from tests.world import until

SAMPLES = Path(__file__).parents[2] / "samples"
PRINTED = next(SAMPLES.glob("*.pdf"))


@pytest.fixture
async def scanning_system(tmp_path: Path) -> AsyncIterator[str]:
    """`armka scanning-system`; its address."""
    log = tmp_path / "scanning.log"
    env = {"PATH": os.environ["PATH"], "SCANNING_DATA_DIR": str(tmp_path / "scanning")}
    env |= {"SCANNING_TOKEN": TOKEN, "SCANNING_CONCURRENCY": "1"}
    process = forked.start(("scanning-system", "--port", "0"), env, log)

    async def address() -> str | None:
        assert process.returncode is None, log.read_text()
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        return found.group() if found else None

    try:
        yield await until(address)
    finally:
        process.terminate()
        assert await process.wait() == 0


async def test_a_printed_trial_balance_is_read_and_other_files_are_refused(
    core: ImageCore, start: Start, scanning_system: str
):
    printed = PRINTED.read_bytes()
    files = {
        "printed": printed,
        "cut": printed[: len(printed) // 3],
        "no image": b"PK\x03\x04 a spreadsheet in another dress",
    }
    async with start(SCANNING_URL=scanning_system):
        asked = {
            name: await core.upload(
                body, pipeline="image", file_type="PDF", original_name=f"{name}.pdf"
            )
            for name, body in files.items()
        }
        for request in asked.values():
            await core.send(request)
        heard = {name: await core.result(request, 60) for name, request in asked.items()}
        (document,) = (await core.result_file(asked["printed"]))["documents"]
    assert heard["printed"].status == "done"
    assert document["source"]["pages"] == [1, 2, 3]
    assert {line["page"] for line in document["lines"]} == {1, 2, 3}
    assert all(
        box is None or box[0] < box[2] for line in document["lines"] for box in line["boxes"]
    )
    assert json.loads(await core.raw(asked["printed"]))["pages"][0]["source"] == "text"
    assert heard["cut"].code == "UNREADABLE"
    assert heard["no image"].code == "INVALID_FORMAT"
