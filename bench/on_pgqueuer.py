"""PGQueuer: no-op jobs, and jobs of the exchange's shape.

The shape, as somebody would build it on a queue: the handler asks the service by NATS request and
writes the answer in one transaction. It writes less than the exchange does: the job moves once, not
three times, and nobody is answered.
"""

import asyncio
import json
import os
import sys
from typing import Any
from uuid import UUID

import asyncpg
import nats
import uvloop
from nats.aio.client import Client
from pgqueuer import PgQueuer
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pydantic import SecretStr

from armka.contract import codec
from armka.contract.envelope import Done
from armka.core.database.pool import Connection, Database
from armka.core.database.queries import load
from armka.core.database.settings import DatabaseSettings
from bench.contest import Contestant, Driver, load_jobs
from bench.echo import REQUESTS
from bench.stage import Process, Stage

SQL, INBOX = load(__package__), load("armka.core.inbox")
BATCH = 100
_ENTRYPOINT = "job"
_NATS_SECONDS = 30.0
_TRANSACTIONS_AT_ONCE = 12


def no_ops(jobs: int) -> Contestant:
    """Jobs that do nothing."""
    return Contestant(
        "PGQueuer no-ops", _start_no_ops, _enqueue_no_ops, SQL.pgqueuer_busy, SQL.pgqueuer_done,
        jobs, f"batch {BATCH}, a handler that returns at once",
    )  # fmt: skip


def exchange_shape(jobs: int) -> Contestant:
    """Jobs that ask the service and write what the exchange writes."""
    return Contestant(
        "PGQueuer, same shape", _start_exchange, _enqueue_exchange, SQL.pgqueuer_busy, SQL.done,
        jobs, f"batch {BATCH}, handler = NATS request + one transaction of the same writes",
    )  # fmt: skip


async def _start_no_ops(stage: Stage, connection: Driver) -> list[Process]:
    return [await _start_worker(stage, connection, "no-ops")]


async def _start_exchange(stage: Stage, connection: Driver) -> list[Process]:
    echo = await stage.echo()
    return [await _start_worker(stage, connection, "exchange"), echo]


async def _start_worker(stage: Stage, connection: Driver, kind: str) -> Process:
    await Queries.from_asyncpg_connection(connection).install()
    worker = await stage.start(f"pgqueuer-{kind}", "bench.on_pgqueuer", kind)
    await worker.says("ready")
    return worker


async def _enqueue_no_ops(connection: Driver, count: int) -> None:
    await _enqueue(connection, [b""] * count)


async def _enqueue_exchange(connection: Driver, count: int) -> None:
    await load_jobs(connection, count)
    rows = await connection.fetch(SQL.queued_jobs)
    await _enqueue(connection, [json.dumps(dict(row)).encode() for row in rows])


async def _enqueue(connection: Driver, payloads: list[bytes]) -> None:
    count = len(payloads)
    queries = Queries.from_asyncpg_connection(connection)
    async with connection.transaction():
        await queries.enqueue([_ENTRYPOINT] * count, list(payloads), [0] * count)


async def _work_no_ops(queue: PgQueuer) -> None:
    @queue.entrypoint(_ENTRYPOINT)
    async def handle(_job: Job) -> None:
        return

    await queue.run(batch_size=BATCH)


async def _work_exchange(queue: PgQueuer, dsn: str, nats_url: str) -> None:
    client = await nats.connect(nats_url)
    # It starts handlers without limit: those beyond the pool wait here, not in the pool's timeout.
    turns = asyncio.Semaphore(_TRANSACTIONS_AT_ONCE)
    async with Database(DatabaseSettings(url=SecretStr(dsn))) as database:

        @queue.entrypoint(_ENTRYPOINT)
        async def handle(job: Job) -> None:
            envelope = await _recognised(client, json.loads(job.payload or b"{}"))
            async with turns:
                await database.run(lambda connection: _write(connection, envelope))

        await queue.run(batch_size=BATCH)


async def _recognised(client: Client, address: dict[str, str]) -> Done:
    request = {
        "schema_version": "1.0",
        **address,
        "pipeline": "tabular",
        "file_type": "XLSX",
        "original_name": "ОСВ за 2023 год.xlsx",
        "s3": {"bucket": "arm-ka", "key": f"uploads/{address['file_id']}/source.xlsx"},
        "reply_deadline": "2099-01-01T00:00:00Z",
        "attempt": 1,
    }
    answer = await client.request(
        REQUESTS.decode(), json.dumps(request).encode(), timeout=_NATS_SECONDS
    )
    envelope = codec.decode_envelope(answer.data)
    assert isinstance(envelope, Done)
    return envelope


async def _write(connection: Connection, envelope: Done) -> None:
    ids, files = [envelope.job], [envelope.file]
    service, version = [envelope.service.name], [envelope.service.version]
    none: list[Any] = [None]
    await connection.fetch(INBOX.lock_jobs, ids)
    await connection.execute(INBOX.begin_files, ids, files)
    rows = await connection.fetch(
        INBOX.register_objects, ["arm-ka"], [envelope.result_s3.key], ["results"], service
    )
    objects: list[UUID] = [row["id"] for row in rows]
    await connection.execute(
        INBOX.apply_results, ids, ["done"], service, version, [json.dumps(envelope.metrics)], none,
        none, [envelope.result_schema_version], objects, none, [f"result:{envelope.job_id}:1"],
        [False],
    )  # fmt: skip


async def main(kind: str, dsn: str, nats_url: str) -> None:
    """Work until SIGTERM."""
    connection = await asyncpg.connect(dsn)
    queue = PgQueuer.from_asyncpg_connection(connection)
    print("ready", flush=True)  # noqa: T201 - the bench waits for it
    if kind == "exchange":
        await _work_exchange(queue, dsn, nats_url)
    else:
        await _work_no_ops(queue)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], os.environ["DATABASE_URL"], os.environ["NATS_URL"]))
