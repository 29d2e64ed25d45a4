"""Hostile and broken documents: each gets the right code, and the service goes on."""

import pytest

from tests.pages import hostile, samples
from tests.scanning_system.conftest import ended, problem, serving, settings_for, submitted

REFUSED = {
    "encrypted": (hostile.encrypted, "INVALID_FORMAT"),
    "100,000 pages": (lambda: hostile.many_pages(100_000), "FILE_READ_ERROR"),
    "no pages": (lambda: hostile.many_pages(0), "UNREADABLE"),
    "damaged": (lambda: b"%PDF-1.7\n" + b"\0" * 500, "UNREADABLE"),
    "50,000 x 50,000 pixels": (lambda: hostile.huge_png(50_000), "FILE_READ_ERROR"),
    "animated": (hostile.animated_png, "INVALID_FORMAT"),
    "truncated": (hostile.truncated_jpeg, "UNREADABLE"),
    "a head and nothing else": (lambda: b"\x89PNG\r\n\x1a\n", "UNREADABLE"),
}


async def test_what_cannot_be_read_is_refused_with_its_code(tmp_path):
    codes = {}
    async with serving(settings_for(tmp_path)) as client:
        for name, (make, _) in REFUSED.items():
            answer = await client.post("/v1/documents", content=make())
            codes[name] = problem(answer)
            assert answer.json()["detail"]
        good = await ended(client, await submitted(client, samples.load("light").pdf))

    assert codes == {name: (422, code) for name, (_, code) in REFUSED.items()}
    assert good["status"] == "done"


async def test_bombs_end_their_child_and_nothing_else(tmp_path):
    limits = {"memory_mb": 400, "page_seconds": 30}
    async with serving(settings_for(tmp_path, **limits)) as client:
        bomb = await ended(client, await submitted(client, samples.bomb()))
        picture = await ended(client, await submitted(client, hostile.huge_picture_pdf(50_000)))
        good = await ended(client, await submitted(client, samples.load("light").pdf))

    assert bomb["status"] == "failed"
    assert bomb["error"]["code"] in ("RECOGNITION_FAILED", "UNREADABLE")
    assert picture["status"] in ("failed", "done")  # a picture that is not there shows nothing
    assert good["status"] == "done"


async def test_scripts_do_not_run_and_names_do_not_matter(tmp_path):
    async with serving(settings_for(tmp_path)) as client:
        scripted = await submitted(client, hostile.scripted())
        named = await client.post(
            "/v1/documents",
            params={"name": "scan.jpg"},
            content=samples.load("light").pdf,
            headers={"Content-Type": "image/jpeg"},
        )
        ends = [await ended(client, it) for it in (scripted, named.json()["document_id"])]
        result = await client.get(f"/v1/documents/{named.json()['document_id']}/result")

    assert [it["status"] for it in ends] == ["done", "done"]
    assert any("image/jpeg" in warning for warning in result.json()["warnings"])


@pytest.mark.parametrize("body", [b"", b"%PD"])
async def test_next_to_nothing_is_none_of_the_kinds(tmp_path, body):
    async with serving(settings_for(tmp_path)) as client:
        assert problem(await client.post("/v1/documents", content=body))[0] == 415
