"""Forms that no decent client sends: an answer in time, nothing left behind (B43)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from armka.objects.store import ObjectStore
from tests.files import documents
from tests.http import wire
from tests.http.serving import QuietCore, traces
from tests.world import until

MEGABYTE = 1024 * 1024
GOOD = wire.file_part("a.pdf", documents.PDF)
OTHER = GOOD.replace(b'name="file"', b'name="other"')
_FIELD = 'Content-Disposition: form-data; name="client_ref"'
_HEADER = "X: y\r\n"


@pytest.fixture
async def nothing_is_left(
    quiet_core: QuietCore, db: asyncpg.Connection, store: ObjectStore
) -> AsyncIterator[None]:
    """After the test there is what there was before it, and the core lives."""
    before = await traces(db, store)
    yield
    assert await traces(db, store) == before
    assert not list(quiet_core.spool.iterdir())
    assert (
        await wire.send(quiet_core.port, b"GET /healthcheck HTTP/1.1\r\nHost: a\r\n\r\n")
    ).status == 200


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(wire.form(), id="no part"),
        pytest.param(wire.form(wire.part(_FIELD, b"7")), id="no file"),
        pytest.param(wire.form(OTHER), id="other name"),
        pytest.param(wire.form(wire.part("X: y", documents.PDF)), id="no disposition"),
        pytest.param(wire.form(*[wire.part(_FIELD, b"7")] * 3000), id="many parts"),
        pytest.param(wire.form(*[OTHER] * 3000), id="many files"),
        pytest.param(wire.form(wire.part(_FIELD, b"7" * 5000), GOOD), id="long field"),
        pytest.param(wire.form(wire.part(_HEADER * 50_000 + _FIELD, b"7")), id="many headers"),
        pytest.param(wire.form(wire.part("X: " + "y" * 60_000, b"7")), id="long header"),
        pytest.param(GOOD, id="not closed"),
        pytest.param(GOOD[: len(GOOD) // 2], id="breaks off"),
        pytest.param(b"\0" * 5000, id="noise"),
        pytest.param(wire.form(GOOD, boundary=b"other"), id="another boundary"),
        pytest.param(wire.form(wire.part(_FIELD, b"\xff\xfe"), GOOD), id="field not UTF-8"),
    ],
)  # fmt: skip
async def test_what_is_no_form_with_one_file_is_a_bad_request(
    quiet_core: QuietCore, body: bytes
) -> None:
    """400 as a problem document."""
    answer = await wire.post(quiet_core.port, body)
    assert answer.status == 400
    assert answer.json()["type"] == "urn:arm-ka:problem:invalid-request"


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=----armka",
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain; =",
    ],
)
async def test_what_is_no_multipart_form_is_an_unsupported_media_type(
    quiet_core: QuietCore, content_type: str
) -> None:
    """415, whatever the body is."""
    answer = await wire.post(quiet_core.port, wire.form(GOOD), content_type=content_type)
    assert answer.status == 415
    assert answer.json()["type"] == "urn:arm-ka:problem:unsupported-media-type"


@pytest.mark.usefixtures("nothing_is_left")
async def test_an_overlong_boundary_is_a_bad_request(quiet_core: QuietCore) -> None:
    """RFC 2046 allows 70 characters."""
    kind = f"multipart/form-data; boundary={'b' * 5000}"
    assert (await wire.post(quiet_core.port, b"x", content_type=kind)).status == 400


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("filler", [b"\r\n", b"\r\n-", b"\n"])
async def test_megabytes_before_the_boundary_cost_next_to_nothing(
    quiet_core: QuietCore, filler: bytes
) -> None:
    """B43: of 10 MB of filler less than a second of CPU is spent, and the answer is 4xx."""
    before = _cpu_seconds(quiet_core.pid)
    pieces = [filler * (65536 // len(filler))] * 160
    body = wire.chunked([*pieces, wire.form(GOOD)])
    answer = await wire.send(quiet_core.port, wire.head("Transfer-Encoding: chunked") + body)
    assert answer.status in {400, 413}
    assert _cpu_seconds(quiet_core.pid) - before < 1.0


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize(
    "length", ["-1", "+5", "5, 5", "٥", "1e3", "99999999999999999999999999", "abc"]
)
async def test_a_false_length_is_refused(quiet_core: QuietCore, length: str) -> None:
    """4xx or no answer at all, never a crash."""
    request = wire.head(f"Content-Length: {length}") + wire.form(GOOD)
    assert (await wire.send(quiet_core.port, request)).status in {0, 400, 413}


@pytest.mark.usefixtures("nothing_is_left")
async def test_a_length_over_the_limit_is_refused_before_the_body_comes(
    quiet_core: QuietCore,
) -> None:
    """Nobody has to send 100 MB to hear that they are too many."""
    answer = await wire.send(quiet_core.port, wire.head(f"Content-Length: {100 * MEGABYTE}"))
    assert answer.status == 413
    assert answer.json()["code"] == "FILE_TOO_LARGE"


@pytest.mark.usefixtures("nothing_is_left")
async def test_an_endless_body_without_length_is_cut_off(quiet_core: QuietCore) -> None:
    """The answer comes when the limit is passed, not when the body ends."""
    start = wire.file_part("a.pdf", documents.PDF)[:-2]
    async with wire.connection(quiet_core.port) as (reader, writer):
        writer.write(wire.head("Transfer-Encoding: chunked"))
        for piece in [start, *[b"x" * 65536] * 20]:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
        async with asyncio.timeout(20):
            answer = await wire.read(reader)
    assert answer.status == 413
    assert answer.json()["code"] == "FILE_TOO_LARGE"


@pytest.mark.usefixtures("nothing_is_left")
async def test_a_client_that_hangs_up_in_the_middle_leaves_nothing(quiet_core: QuietCore) -> None:
    """The core notices, and says so once, without a traceback."""
    heard = quiet_core.log.read_text().count("a client hung up")
    async with wire.connection(quiet_core.port) as (_, writer):
        writer.write(wire.head("Content-Length: 900000") + GOOD[:-20] + b"x" * 100_000)
        await writer.drain()

    async def noticed() -> bool:
        return quiet_core.log.read_text().count("a client hung up") == heard + 1

    await until(noticed)
    assert "Traceback" not in quiet_core.log.read_text()


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("a\rb.pdf", "ab.pdf"),
        ("a\0b.pdf", "ab.pdf"),
        ('a\\"b.pdf', 'a"b.pdf'),
        ("a;b.pdf", "a;b.pdf"),
        ("Отчёт.pdf", "Отчёт.pdf"),
    ],
)
async def test_odd_bytes_in_a_raw_name_are_kept_or_dropped_never_obeyed(
    quiet_core: QuietCore, db: asyncpg.Connection, raw: str, kept: str
) -> None:
    """Header injection ends as a name without controls, or as a bad request."""
    answer = await wire.post(quiet_core.port, wire.form(wire.file_part(raw, documents.PDF)))
    if answer.status != 201:
        assert answer.status == 400
        assert "\r" in raw
        return
    name = await db.fetchval(
        "select original_name from stored_file where id = $1", answer.json()["file_id"]
    )
    assert name == kept


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
