"""Who may call the API, and where it may listen."""

import asyncio
import contextlib
import sys

import httpx
import pytest

from tests import web
from tests.http import wire
from tests.http.serving import assert_problem, free_port
from tests.world import CoreProcess, World, until

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
async def guarded(world: World) -> CoreProcess:
    """A core with a token."""
    return await world.core(NATS_ENABLED=False, API_TOKEN=TOKEN)


async def test_without_the_token_only_the_healthcheck_answers(guarded: CoreProcess) -> None:
    """401 for everything else, also for what does not exist; the right token opens it."""
    async with web.client(base_url=guarded.url) as http:
        assert (await http.get("/healthcheck")).status_code == 200
        for path in (
            "/api/v1/files",
            "/openapi.json",
            "/nothing",
            "/healthcheck/",
            "//healthcheck",
        ):
            response = await http.get(path)
            assert_problem(response, 401, "unauthorized")
            assert response.headers["www-authenticate"] == "Bearer"
        for wrong in (TOKEN, f"Bearer {TOKEN}x", "Bearer", f"Basic {TOKEN}", "Bearer ж"):
            headers = {b"Authorization": wrong.encode()}
            assert (await http.get("/api/v1/files", headers=headers)).status_code == 401
        for scheme in ("Bearer", "bearer"):
            headers = {b"Authorization": f"{scheme} {TOKEN}".encode()}
            assert (await http.get("/api/v1/files", headers=headers)).status_code == 200
    assert TOKEN not in guarded.said()


TRICKS = [
    ("GET /api/v1/files HTTP/1.1", "Host: core/healthcheck?"),
    ("GET /api/v1/files HTTP/1.1", "Host: core", "X-Original-URL: /healthcheck"),
    ("GET /api/v1/files?/healthcheck HTTP/1.1", "Host: core"),
    ("GET /healthcheck/../api/v1/files HTTP/1.1", "Host: core"),
    ("GET http://core/healthcheck/../api/v1/files HTTP/1.1", "Host: core"),
]


async def test_no_trick_of_the_address_gets_past_the_token(guarded: CoreProcess) -> None:
    """The path that is routed is the path that is judged."""
    for lines in TRICKS:
        request = "\r\n".join(lines).encode() + b"\r\n\r\n"
        assert (await wire.send(_port(guarded), request)).status in {400, 401, 404}


async def test_an_upload_without_the_token_is_refused_before_its_body(
    guarded: CoreProcess,
) -> None:
    """Strangers cannot fill the disk."""
    answer = await wire.send(_port(guarded), wire.head("Content-Length: 50000000"))
    assert answer.status == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
async def test_without_a_token_it_listens_on_the_loopback_only(world: World, host: str) -> None:
    """The command ends with 2 and names the variable."""
    process = await _start(world, "--host", host, "--port", "0")
    said, _ = await process.communicate()
    assert process.returncode == 2
    assert "API_TOKEN is missing" in said.decode()
    assert host in said.decode()


async def test_with_a_token_it_listens_elsewhere(world: World) -> None:
    """Here on all addresses."""
    port = free_port()
    process = await _start(world, "--host", "0.0.0.0", "--port", str(port), API_TOKEN=TOKEN)

    async def serves() -> bool:
        assert process.returncode is None
        with contextlib.suppress(httpx.HTTPError):
            async with web.client() as http:
                url = f"http://127.0.0.1:{port}/healthcheck"
                return (await http.get(url)).status_code == 200
        return False

    try:
        await until(serves)
    finally:
        process.terminate()
        await process.communicate()


async def _start(world: World, *options: str, **settings: object) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "armka.cli", "core", *options,
        env=world.env(NATS_ENABLED=False, **settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip


def _port(core: CoreProcess) -> int:
    return int(core.url.rsplit(":", 1)[1])
