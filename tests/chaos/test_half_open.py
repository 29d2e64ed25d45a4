"""Connections that look well and carry nothing; a database that stands still.

Each scenario has a database, a NATS and a core of its own. All of them mostly wait for a bound to
pass, so they wait together.
"""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg
import httpx

from armka.contract import object_keys
from armka.core.database.migrations import migrate
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer, PostgresServer
from chaos.invariants import broken
from chaos.proxy import Line, Manner, Proxy, proxy
from tests import web
from tests.files import documents
from tests.http.serving import upload
from tests.mapping.results import file_status, result
from tests.servers import administer
from tests.world import TABULAR, World, until

# What the requirements allow for coming back (§8), with room for a busy machine.
RECOVERY_SECONDS = 40
HOURLY = 3600
LIFE = ("/healthcheck", "/livez")


@dataclass(frozen=True)
class Ground:
    """What the scenarios' worlds are made of."""

    postgres: PostgresServer
    template: str
    objects: ObjectServer
    fragile: PostgresServer
    folder: Path

    @contextlib.asynccontextmanager
    async def world(self, name: str) -> AsyncIterator[World]:
        """A world of a scenario's own."""
        database, folder = f"half_open_{uuid4().hex}", self.folder / name
        folder.mkdir()
        await administer(self.postgres, f"create database {database} template {self.template}")
        dsn = self.postgres.database_url(database)
        async with (
            NatsServer(folder / "nats", fsync=False) as nats,
            _world(dsn, nats, self, folder) as made,
        ):
            yield made
        await administer(self.postgres, f"drop database {database} with (force)")


@contextlib.asynccontextmanager
async def _world(dsn: str, nats: NatsServer, ground: Ground, folder: Path) -> AsyncIterator[World]:
    store = ObjectStore(ObjectSettings.model_validate(ground.objects.env()))
    world = World(dsn, nats, ground.objects, folder, await asyncpg.connect(dsn), store)
    try:
        yield world
        assert [str(one) for one in await broken(world.db)] == []
    finally:
        await world.close()


@contextlib.asynccontextmanager
async def answers_within_a_second(url: str) -> AsyncIterator[None]:
    """The process says that it lives all the time that the block takes."""

    async def ask() -> None:
        # A connection is the kernel's: that it takes long says nothing of the process.
        patience = httpx.Timeout(1.0, connect=30.0)
        async with web.client(timeout=patience) as http:
            while True:
                for path in LIFE:
                    assert (await http.get(f"{url}{path}")).status_code == 200
                await asyncio.sleep(0.1)

    asking = asyncio.create_task(ask())
    try:
        yield
        assert not asking.done(), asking.exception()
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def all_said(core_log: Callable[[], str], words: str, times: int) -> None:
    async def said() -> bool:
        return core_log().count(words) >= times

    await until(said, seconds=RECOVERY_SECONDS)


def _listens(line: Line) -> bool:
    return b"arm-ka listener" in line.opening


async def the_listener(ground: Ground) -> None:
    """LISTEN alone: noticed by its probe; what was missed is caught up with, and hints come again.

    The poll is too far off to help.
    """
    async with ground.world("listener") as world, proxy(world.dsn) as way:
        core = await world.core(DATABASE_URL=way.url, OUTBOX_POLL_SECONDS=60)
        await all_said(core.said, "listening to the database", 1)
        await world.status(await world.job(), "published")
        assert way.treat(Manner.STALL, _listens) == 1
        way.heal()
        missed = await world.job()
        await all_said(core.said, "listening to the database", 2)
        await world.status(missed, "published")
        await world.status(await world.job(), "published")


async def a_commit(ground: Ground) -> None:
    """The pool, at the worst moment: the requests are on the wire, the commit is swallowed, and the
    server goes on holding the rows. They are published once more, and counted once.
    """
    async with ground.world("commit") as world, proxy(world.dsn) as way:
        core = await world.core(DATABASE_URL=way.url, MAPPING_POLL_SECONDS=60)
        heard = await world.listen(TABULAR)
        way.trap(b"COMMIT;", Manner.STALL)
        async with world.db.transaction():
            jobs = [await world.job() for _ in range(20)]
        async with answers_within_a_second(core.url):
            await asyncio.wait_for(way.tripped.wait(), RECOVERY_SECONDS)
            for job in jobs:
                row = await world.status(job, "published", seconds=RECOVERY_SECONDS)
                assert row["publish_count"] == 1
        sent = [json.loads((await heard.get()).data)["job_id"] for _ in range(2 * len(jobs))]
        assert Counter(sent) == {str(job): 2 for job in jobs}
        assert heard.empty()
        for job in jobs:
            answer = await world.ask(await world.envelope(job, "error"), f"result:{job}:1")
            assert answer["outcome"] == "applied"


async def the_broker(ground: Ground) -> None:
    """NATS: nothing counts as published that was not confirmed; noticed by the client's own PING.
    A result that went into the dead connection is repeated and applied.
    """
    async with ground.world("broker") as world, proxy(world.nats.url) as way:
        core = await world.core(NATS_URL=way.url)
        job = await world.job()
        await world.status(job, "published")
        envelope = await world.envelope(job, "error")
        assert way.treat(Manner.STALL) == 1
        way.heal()
        waiting_one = await world.job()

        async def answered() -> bool:
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                answer = await world.ask(envelope, f"result:{job}:1", 2)
                return bool(answer["outcome"] == "applied")
            return False

        async with answers_within_a_second(core.url):
            await until(answered, seconds=RECOVERY_SECONDS)
            await world.status(waiting_one, "published", seconds=RECOVERY_SECONDS)
        assert (await world.row(waiting_one))["publish_count"] == 1
        assert "nats connection lost" in core.said()


async def the_object_store(ground: Ground) -> None:
    """S3: an upload and a mapping hang, no longer than a request may take; the same ones succeed
    afterwards.
    """
    async with ground.world("store") as world, proxy(world.objects.url) as way:
        core = await world.core(S3_ENDPOINT_URL=way.url, MAPPING_POLL_SECONDS=1)
        http = web.client(base_url=f"{core.url}/api/v1", timeout=90)
        mapped = await world.job()
        row = await world.status(mapped, "published")
        body = json.dumps(result(mapped, row["stored_file_id"])).encode()
        await world.store.put(object_keys.result(row["stored_file_id"], mapped), body)
        async with http as api, answers_within_a_second(core.url):
            way.treat(Manner.STALL)
            answer = await world.ask(await world.envelope(mapped, "done"), f"result:{mapped}:1")
            assert answer["outcome"] == "applied"
            sending = asyncio.create_task(upload(api, "a.pdf", documents.PDF))
            await until(lambda: _stalled(way, 2))
            way.heal()
            await file_status(world, mapped, "DONE", seconds=60)
            assert (await sending).status_code in {201, 503}
            assert (await upload(api, "b.pdf", documents.PDF)).status_code == 201


async def _stalled(way: Proxy, count: int) -> bool:
    return sum(line.manner is Manner.STALL for line in way.lines) >= count


async def a_frozen_database(ground: Ground) -> None:
    """PostgreSQL stands still for 30 s: the process answers throughout, nothing is lost, and all is
    well at most 30 s after.
    """
    folder, postgres = ground.folder / "frozen", ground.fragile
    folder.mkdir()
    async with (
        NatsServer(folder / "nats", fsync=False) as nats,
        _world(postgres.url, nats, ground, folder) as world,
    ):
        core = await world.core()
        known = await world.job()
        await world.status(known, "published")
        envelope, fresh = await world.envelope(known, "error"), uuid4()
        http = web.client(base_url=f"{core.url}/api/v1", timeout=60)
        async with http as api, answers_within_a_second(core.url):
            async with _still(postgres):
                asked = asyncio.create_task(world.ask(envelope, f"result:{known}:1", HOURLY))
                listed = await asyncio.gather(*(api.get("/files") for _ in range(20)))
                assert {answer.status_code for answer in listed} == {503}
            async with asyncio.timeout(30):
                assert (await asked)["outcome"] == "applied"
                await world.status(await world.job(id=fresh), "published", seconds=30)
                assert (await api.get("/files")).status_code == 200


@contextlib.asynccontextmanager
async def _still(postgres: PostgresServer, seconds: float = 30) -> AsyncIterator[None]:
    """Frozen for so long, whatever the block takes."""
    postgres.pause()
    try:
        thaw = asyncio.create_task(asyncio.sleep(seconds))
        yield
        await thaw
    finally:
        postgres.resume()


SCENARIOS: list[Callable[[Ground], Awaitable[None]]] = [
    the_listener,
    a_commit,
    the_broker,
    the_object_store,
    a_frozen_database,
]


async def test_dead_connections_are_noticed_and_nothing_is_lost(
    postgres: PostgresServer,
    database_template: str,
    object_store_server: ObjectServer,
    tmp_path: Path,
) -> None:
    """Every scenario above; the traceback names the one that failed."""
    async with PostgresServer(tmp_path / "postgres", fsync=False) as fragile:
        await migrate(fragile.url)
        ground = Ground(postgres, database_template, object_store_server, fragile, tmp_path)
        async with asyncio.TaskGroup() as group:
            for scenario in SCENARIOS:
                group.create_task(_run(scenario, ground))


async def _run(scenario: Callable[[Ground], Awaitable[None]], ground: Ground) -> None:
    await scenario(ground)
