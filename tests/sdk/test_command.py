"""`armka service NAME`."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from tests.sdk.stage import Core, answers

ROOT = Path(__file__).parents[2]
PROGRAM = "import typer; from armka.cli.service import service; typer.run(service)"


async def command(*arguments: str, **environment: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, *arguments),
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
        stderr=asyncio.subprocess.PIPE,
    )


async def test_the_tabular_parser_serves_until_sigterm(
    core: Core, nats_server, object_store_server
):
    env = nats_server.env() | object_store_server.env()
    process = await command("tabular-parser", **env)
    try:
        await answers(core.nats_url)
        request = await core.order(b"no spreadsheet at all")
        result = await core.result(request)
    finally:
        process.send_signal(signal.SIGTERM)
        _, log = await process.communicate()

    assert result.status == "error"
    assert result.body["service"]["name"] == "tabular-parser"
    assert process.returncode == 0
    assert "оборотка.xlsx" not in log.decode()
    assert request["job_id"] in log.decode()
    assert env["S3_SECRET_ACCESS_KEY"] not in log.decode()


async def test_a_service_that_there_is_none_of_is_named():
    process = await command("crystal-ball")
    _, said = await process.communicate()

    assert process.returncode == 2
    assert "tabular-parser" in said.decode()


async def test_wrong_settings_are_named_without_their_values():
    process = await command(
        "tabular-parser", OPENBAO__NATS__NATS_SEED="canary", SERVICE_BACKLOG="no"
    )
    _, said = await process.communicate()

    assert process.returncode == 2
    assert "OPENBAO__NATS__NATS_JWT" in said.decode()
    assert "canary" not in said.decode()
