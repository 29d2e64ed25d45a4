"""The gateway beside the scanning system that comes with it: the interface, from both its ends."""

import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armka.contract.vocabulary import Column
from armka.services.scanning_system.tessdata import find_ocr
from tests import forked
from tests.needed import lacking
from tests.pages.scans import SCANS
from tests.scan_gateway.conftest import ImageCore, Start
from tests.scan_gateway.peer import TOKEN
from tests.world import until

SAMPLES = Path(__file__).parents[2] / "samples"
PRINTED = next(SAMPLES.glob("*.pdf"))
COLUMNS = [column.value for column in Column]


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


async def test_pictures_end_as_their_samples_promise(
    core: ImageCore, start: Start, scanning_system: str
):
    """A scan and a photograph with a seal, recognised for good: whose amounts are not all sure goes
    to an analyst, and nothing unsure is a value.
    """
    missing = find_ocr(None).missing
    if missing:
        lacking(f"pictures cannot be read here: {missing}")
    pictures = [scan for scan in SCANS if not scan.name.endswith(".pdf")]
    async with start(SCANNING_URL=scanning_system):
        asked = [
            await core.upload(
                (SAMPLES / scan.name).read_bytes(),
                pipeline="image",
                file_type=Path(scan.name).suffix[1:].upper(),
                original_name=scan.name,
            )
            for scan in pictures
        ]
        for request in asked:
            await core.send(request)
        for scan, request in zip(pictures, asked, strict=True):
            assert (await core.result(request, 240)).status == scan.ends
            (document,) = (await core.result_file(request))["documents"]
            unknown = [it for line in document["lines"] for it in line.get("unknown", ())]
            assert bool(unknown) == (scan.ends == "needs_check")
            assert all(
                line["values"][COLUMNS.index(it["column"])] is None
                for line in document["lines"]
                for it in line.get("unknown", ())
            )
            assert {line["page"] for line in document["lines"]} == {1}
            assert json.loads(await core.raw(request))["pages"][0]["source"] == "ocr"
