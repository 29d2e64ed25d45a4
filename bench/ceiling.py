"""The exchange's own ceiling: the same named statements in the same transactions, no broker.

Two connections, as in the core: one claims and marks, the other writes acknowledgements with their
results. A batch is 1,000 jobs on either side; what a service would answer is known beforehand.
"""

import asyncio
import os
from collections.abc import Sequence

from pydantic import SecretStr

from armka.core.database.pool import Database, Record
from armka.core.database.queries import load
from armka.core.database.settings import DatabaseSettings
from bench.contest import Contestant, Driver, load_jobs
from bench.stage import Process, Stage

SQL = load(__package__)
OUTBOX, INBOX = load("armka.core.outbox"), load("armka.core.inbox")
BATCH = 1000
_BUDGETS = (600.0, 1800.0)
_METRICS = '{"documents":1,"lines":120,"pages":3,"seconds":0.25,"checks":{"passed":13,"failed":0}}'
_IDLE_SECONDS = 0.005

Batch = Sequence[Record]


def contestant(jobs: int) -> Contestant:
    """What the database alone allows."""
    return Contestant(
        "SQL ceiling", _start, load_jobs, SQL.under_way, SQL.done, jobs,
        "the exchange's statements on two connections, no broker, no messages",
    )  # fmt: skip


async def _start(stage: Stage, _connection: Driver) -> list[Process]:
    process = await stage.start("ceiling", "bench.ceiling", DATABASE_URL=stage.dsn)
    await process.says("ready")
    return [process]


async def main(dsn: str) -> None:
    """Bring every queued job to `done`, until killed."""
    published: asyncio.Queue[Batch] = asyncio.Queue(4)
    async with Database(DatabaseSettings(url=SecretStr(dsn))) as database:
        print("ready", flush=True)  # noqa: T201 - the bench waits for it
        async with asyncio.TaskGroup() as group:
            group.create_task(_outbox(database, published))
            group.create_task(_inbox(database, published))


async def _outbox(database: Database, published: "asyncio.Queue[Batch]") -> None:
    while True:
        async with database.transaction() as connection:
            batch = await connection.fetch(OUTBOX.claim_queued, BATCH, *_BUDGETS, [])
            if batch:
                await connection.fetchval(
                    OUTBOX.mark_published,
                    [row["id"] for row in batch],
                    [f"{row['id']}:{row['attempt']}" for row in batch],
                    ["files.tabular_uploaded"] * len(batch),
                    [row["reply_deadline"] for row in batch],
                )
        if batch:
            await published.put(batch)
        else:
            await asyncio.sleep(_IDLE_SECONDS)


async def _inbox(database: Database, published: "asyncio.Queue[Batch]") -> None:
    while True:
        await _apply(database, await published.get())


async def _apply(database: Database, batch: Batch) -> None:
    count = len(batch)
    ids, files = [row["id"] for row in batch], [row["stored_file_id"] for row in batch]
    keys = [f"results/{row['stored_file_id']}/{row['id']}/result.json" for row in batch]
    echo, none = ["echo"] * count, [None] * count
    async with database.transaction() as connection:
        await connection.fetch(INBOX.lock_jobs, ids)
        await connection.execute(INBOX.begin_files, ids, files)
        rows = await connection.fetch(
            INBOX.register_objects, ["arm-ka"] * count, keys, ["results"] * count, echo
        )
        objects = {row["key"]: row["id"] for row in rows}
        await connection.execute(
            INBOX.apply_results, ids, ["done"] * count, echo, ["1.0"] * count,
            [_METRICS] * count, none, none, ["1.0"] * count, [objects[key] for key in keys], none,
            [f"result:{ident}:1" for ident in ids], [True] * count,
        )  # fmt: skip


if __name__ == "__main__":
    import uvloop

    uvloop.run(main(os.environ["DATABASE_URL"]))
