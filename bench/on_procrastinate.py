"""Procrastinate: no-op jobs."""

import asyncio
import os

from procrastinate import App, PsycopgConnector

from armka.core.database.queries import load
from bench.contest import Contestant, Driver
from bench.stage import Process, Stage

SQL = load(__package__)
CONCURRENCY = 20


def _app(dsn: str) -> App:
    app = App(connector=PsycopgConnector(conninfo=dsn))

    @app.task(name="job")
    async def job() -> None:
        return

    return app


def no_ops(jobs: int) -> Contestant:
    """Jobs that do nothing."""
    return Contestant(
        "Procrastinate no-ops", _start, _enqueue, SQL.procrastinate_busy, SQL.procrastinate_done,
        jobs, f"concurrency {CONCURRENCY}, a task that returns at once",
    )  # fmt: skip


async def _start(stage: Stage, _connection: Driver) -> list[Process]:
    async with _app(stage.dsn).open_async() as app:
        await app.schema_manager.apply_schema_async()
    worker = await stage.start("procrastinate", "bench.on_procrastinate")
    await worker.says("ready")
    return [worker]


async def _enqueue(connection: Driver, count: int) -> None:
    await connection.execute(SQL.procrastinate_enqueue, count)


async def main(dsn: str) -> None:
    """Work until SIGTERM."""
    async with _app(dsn).open_async() as app:
        print("ready", flush=True)  # noqa: T201 - the bench waits for it
        await app.run_worker_async(concurrency=CONCURRENCY)


if __name__ == "__main__":
    asyncio.run(main(os.environ["DATABASE_URL"]))
