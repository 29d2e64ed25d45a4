"""`armka` against a running core, without a process of its own."""

import asyncio

from typer.testing import CliRunner

from armka.cli.main import app


async def armka(url: str, *arguments: object) -> tuple[int, str]:
    """Run a command in a thread: acceptance tests start the real process."""
    line = [*map(str, arguments), "--url", url]
    ran = await asyncio.to_thread(CliRunner().invoke, app, line)
    return ran.exit_code, ran.output
