"""What a batch costs the database, in numbers that no busy machine can move.

The limits are what was measured, and a little slack: whoever adds a statement, a round trip or an
index will be asked whether it is worth it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import asyncpg
import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from armka.contract.subjects import CORE_RESULTS
from armka.core.database.migrations import migrate
from armka.core.database.pool import Database
from armka.core.database.queries import load
from armka.core.database.settings import DatabaseSettings
from armka.core.inbox.receiver import Inbox
from armka.core.outbox.publisher import Outbox, OutboxConfig
from armka.core.settings import ExchangeSettings
from armka.messaging.connection import connected
from armka.messaging.plain import PlainPublisher, PlainReceiver
from armka.messaging.settings import NatsSettings
from armka.stack import NatsServer
from bench import ceiling
from tests.bench.counting import CountingPostgres, Turns, counted_wire
from tests.servers import apart
from tests.world import RESULTS, TABULAR, until

SQL = load("bench")
BATCH = 400
FAST = 200  # two envelopes each, and still one batch


@dataclass(frozen=True)
class Cost:
    """Of one batch; WAL by the job."""

    statements: int
    round_trips: int
    wal_bytes: float


# Statements and turns are exact; begin, commit, and four statements in one turn that reset the
# connection for the pool are among them. WAL was 1,400, 1,000 and 1,740 bytes a job.
LIMITS = {
    "publishing": Cost(statements=8, round_trips=5, wal_bytes=1540),
    "acknowledging": Cost(statements=8, round_trips=5, wal_bytes=1080),
    "results": Cost(statements=15, round_trips=9, wal_bytes=1900),
}
BYTES_OF_AN_EVENT = 330


@pytest.fixture(scope="module")
def counting_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CountingPostgres]:
    """A server of these tests' own, with the schema."""
    server = CountingPostgres(tmp_path_factory.mktemp("counting") / "postgres")
    apart(server.start)
    try:
        apart(lambda: _migrate(server.url))
        yield server
    finally:
        apart(server.stop)


async def _migrate(dsn: str) -> None:
    await migrate(dsn)


class Exchange:
    """Outbox and inbox in this process, cycle by cycle, and a service that answers in whole
    batches.
    """

    def __init__(
        self, db: asyncpg.Connection, dsn: str, turns: Turns, client: Client, inbox: Inbox,
        outbox: Outbox, receiver: PlainReceiver,
    ) -> None:  # fmt: skip
        self.db, self.dsn, self.turns, self.client = db, dsn, turns, client
        self.inbox, self.outbox, self.receiver = inbox, outbox, receiver
        self.requests: asyncio.Queue[Msg] = asyncio.Queue()

    async def batch(self) -> dict[str, Cost]:
        """A batch of jobs all the way through, with the cost of each step."""
        await self.db.execute(SQL.load_jobs, BATCH)
        costs = {"publishing": await self._cost(self.outbox)}
        requests = [json.loads((await self.requests.get()).data) for _ in range(BATCH)]
        await self._send([(f"ack:{it['job_id']}:1", acknowledgement(it)) for it in requests])
        costs["acknowledging"] = await self._cost(self.inbox)
        await self._send([(f"result:{it['job_id']}:1", result(it)) for it in requests])
        costs["results"] = await self._cost(self.inbox)
        return costs

    async def fast_batch(self) -> Cost:
        """What writing it costs where the service was done before the inbox came to look."""
        await self.db.execute(SQL.load_jobs, FAST)
        await self.outbox.run_once()
        requests = [json.loads((await self.requests.get()).data) for _ in range(FAST)]
        acks = [(f"ack:{it['job_id']}:1", acknowledgement(it)) for it in requests]
        results = [(f"result:{it['job_id']}:1", result(it)) for it in requests]
        await self._send([message for pair in zip(acks, results, strict=True) for message in pair])
        return await self._cost(self.inbox, FAST)

    async def _cost(self, cycle: Inbox | Outbox, jobs: int = BATCH) -> Cost:
        statements, wal = await self._statements(), await self.db.fetchval(SQL.wal_position)
        turns = self.turns.count
        await cycle.run_once()
        turns = self.turns.count - turns
        written = await self.db.fetchval(SQL.wal_bytes, wal)
        return Cost(await self._statements() - statements, turns, written / jobs)

    async def _statements(self) -> int:
        count: int = await self.db.fetchval(SQL.statements)
        return count

    async def _send(self, envelopes: list[tuple[str, dict[str, object]]]) -> None:
        for msg_id, envelope in envelopes:
            body = json.dumps(envelope).encode()
            await self.client.publish(RESULTS, body, headers={"Nats-Msg-Id": msg_id})

        async def arrived() -> bool:
            return len(self.receiver._buffer) == len(envelopes)

        await until(arrived)


def acknowledgement(request: dict[str, str]) -> dict[str, object]:
    return {
        "schema_version": "1.0",
        "job_id": request["job_id"],
        "file_id": request["file_id"],
        "status": "processing",
        "service": {"name": "echo", "version": "1.0"},
    }


def result(request: dict[str, str]) -> dict[str, object]:
    key = f"results/{request['file_id']}/{request['job_id']}/result.json"
    return acknowledgement(request) | {
        "status": "done",
        "result_s3": {"bucket": "arm-ka", "key": key},
        "result_schema_version": "1.0",
        "metrics": {"documents": 1, "lines": 120, "seconds": 0.25},
    }


@pytest.fixture
async def exchange(
    counting_postgres: CountingPostgres, nats_server: NatsServer
) -> AsyncIterator[Exchange]:
    """The exchange over a counted wire."""
    where = urlsplit(counting_postgres.url)
    db = await asyncpg.connect(counting_postgres.url)
    await db.execute(SQL.enable_statements)
    settings, nats_settings = ExchangeSettings(), NatsSettings(url=nats_server.url)
    client = await nats.connect(nats_server.url)
    async with counted_wire("127.0.0.1", where.port or 0) as (port, turns):
        dsn = counting_postgres.url.replace(f":{where.port}/", f":{port}/")
        async with (
            Database(DatabaseSettings.model_validate({"DATABASE_URL": dsn})) as database,
            connected(nats_settings, name="bench") as connection,
        ):
            subjects = nats_settings.subjects
            receiver = PlainReceiver(connection, subjects.result, CORE_RESULTS)
            await connection.wait_live()
            outbox = Outbox(
                OutboxConfig.of(settings), database, PlainPublisher(connection), receiver,
                subjects, lambda: True,
            )  # fmt: skip
            inbox = Inbox(database, receiver, "arm-ka")
            made = Exchange(db, dsn, turns, client, inbox, outbox, receiver)
            await client.subscribe(TABULAR, cb=made.requests.put)
            await client.flush()
            yield made
    await client.close()
    await db.close()


async def test_a_batch_costs_no_more_than_it_did(exchange: Exchange) -> None:
    """Statements, round trips and WAL of publishing, acknowledging and applying 400 jobs."""
    await exchange.batch()  # the statements are prepared
    costs = await exchange.batch()

    for step, limit in LIMITS.items():
        print(step, costs[step])  # noqa: T201 - pytest shows it where the test fails
        assert costs[step].statements <= limit.statements, step
        assert costs[step].round_trips <= limit.round_trips, step
        assert costs[step].wal_bytes <= limit.wal_bytes, step


async def test_a_result_that_comes_with_its_acknowledgement_is_one_update(
    exchange: Exchange,
) -> None:
    """No dearer than a result alone, and the job tells of both transitions, in their order."""
    await exchange.batch()
    cost, limit = await exchange.fast_batch(), LIMITS["results"]

    assert (cost.statements, cost.round_trips) <= (limit.statements, limit.round_trips)
    assert cost.wal_bytes <= limit.wal_bytes + BYTES_OF_AN_EVENT
    lives = await exchange.db.fetch(
        "select array_agg(e.from_status || ' -> ' || e.to_status || ': ' || e.cause order by e.id)"
        " as life"
        " from recognition_job j join recognition_job_event e on e.recognition_job_id = j.id"
        " where j.started_at = j.finished_at group by j.id"
    )
    assert len(lives) == FAST
    assert {tuple(row["life"]) for row in lives} == {
        (
            "queued -> published: published",
            "published -> processing: acknowledged",
            "processing -> done: result",
        )
    }


async def test_the_ceiling_brings_jobs_to_their_end(exchange: Exchange) -> None:
    """It calls the statements of the exchange with what they want."""
    await exchange.db.execute(SQL.load_jobs, FAST)
    playing = asyncio.create_task(ceiling.main(exchange.dsn))

    async def ended() -> bool:
        if playing.done():
            playing.result()
        return not await exchange.db.fetchval(SQL.under_way)

    await until(ended)
    playing.cancel()


async def test_the_meter_sees_what_is_dear(exchange: Exchange) -> None:
    """Sixteen jobs, each alone: as many turns for a job as a batch takes for all of its own."""
    await exchange.batch()
    exchange.outbox._config = OutboxConfig.of(ExchangeSettings(outbox_batch_size=1))
    await exchange.db.execute(SQL.load_jobs, 16)
    turns = exchange.turns.count
    for _ in range(16):
        await exchange.outbox.run_once()

    assert exchange.turns.count - turns > 16 * 4
