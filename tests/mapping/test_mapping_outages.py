"""The mapping under replicas, crashes, outages and load: each result is mapped exactly once."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg

from tests import web
from tests.http.proxy import refusing_proxy
from tests.mapping import results
from tests.mapping.results import VALUES, document, line
from tests.world import World, until

MANY = 60


async def _all_mapped_once(world: World, jobs: list[UUID], lines: int) -> None:
    """All files are DONE, each with one document of so many lines, and no fact was written."""

    async def done() -> bool:
        left = "select count(*) from stored_file where status = 'PROCESSING'"
        return bool(await world.db.fetchval(left) == 0)

    await until(done)
    rows = await world.db.fetch(
        """select d.recognition_job_id as job, count(distinct d.id) as documents,
            count(l.n) as lines
        from osv_document d left join osv_line l on l.osv_document_id = d.id group by 1"""
    )
    assert {row["job"] for row in rows} == set(jobs)
    assert {(row["documents"], row["lines"]) for row in rows} == {(1, lines)}
    statuses = await world.db.fetch("select distinct status from stored_file")
    assert [row["status"] for row in statuses] == ["DONE"]
    assert await world.db.fetchval("select count(*) from quality_failure_fact") == 0


def _content(lines: int) -> dict[str, object]:
    return {"documents": [document(lines=[line(n) for n in range(1, lines + 1)])]}


async def test_replicas_share_the_results_and_map_each_once(world: World) -> None:
    """Three cores; no line is doubled, no transaction is lost to another."""
    jobs = [await results.waiting(world, _content(50)) for _ in range(MANY)]
    cores = await asyncio.gather(*(world.core() for _ in range(3)))
    await _all_mapped_once(world, jobs, 50)
    for core in cores:
        assert "Traceback" not in core.said()
        assert "cannot be mapped" not in core.said()


async def test_what_a_killed_core_had_begun_its_successor_maps(world: World) -> None:
    """`kill -9` in the middle of writing: what was written is whole, the rest follows."""
    jobs = [await results.waiting(world, _content(400)) for _ in range(MANY)]
    first = jobs[0]
    async with _lock(world, first):
        core = await world.core()
        await until(lambda: _waits_for_a_lock(world))
        core.kill()
        await core.process.wait()
    assert await world.db.fetchval("select count(*) from osv_document") == 0
    await world.core()
    await _all_mapped_once(world, jobs, 400)


async def test_a_core_killed_between_two_batches_leaves_whole_ones(world: World) -> None:
    """Some results are mapped, some are not, none is half."""
    jobs = [await results.waiting(world, _content(1500)) for _ in range(MANY)]
    core = await world.core()
    await until(lambda: world.db.fetchval("select count(*) from osv_document"), pause=0.005)
    core.kill()
    await core.process.wait()
    halves = """select count(*) from osv_document d
        where (select count(*) from osv_line l where l.osv_document_id = d.id) <> d.line_count
        or exists (
            select from stored_file f where f.id = d.stored_file_id and f.status = 'PROCESSING'
        )"""
    assert await world.db.fetchval(halves) == 0
    await world.core()
    await _all_mapped_once(world, jobs, 1500)


@contextlib.asynccontextmanager
async def _lock(world: World, job_id: UUID) -> AsyncIterator[None]:
    """Hold a job's row, so that whoever writes its result waits."""
    connection = await asyncpg.connect(world.dsn)
    try:
        async with connection.transaction():
            await connection.fetchrow(
                "select from recognition_job where id = $1 for update", job_id
            )
            yield
    finally:
        await connection.close()


async def _waits_for_a_lock(world: World) -> bool:
    return bool(
        await world.db.fetchval(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
            "and application_name = 'arm-ka' and datname = current_database()"
        )
    )


async def test_a_frozen_replica_holds_back_nobody_for_good(world: World) -> None:
    """SIGSTOP of one core while it waits to write: what it had claimed waits for it, or is mapped
    by the other as soon as it is gone; the rest is mapped at once.
    """
    jobs = [await results.waiting(world, _content(5)) for _ in range(MANY)]
    async with _lock(world, jobs[0]):
        frozen = await world.core()
        await until(lambda: _waits_for_a_lock(world))
        frozen.signal(signal.SIGSTOP)
        await world.core()

        async def others() -> bool:
            return bool(
                await world.db.fetchval("select count(*) from stored_file where status = 'DONE'")
                >= 10
            )

        await until(others)
        frozen.kill()
        await frozen.process.wait()
    await _all_mapped_once(world, jobs, 5)


async def test_without_s3_results_wait_and_are_mapped_when_it_is_back(own_store: World) -> None:
    """No file fails because the store is away; its absence is said in the log."""
    world = own_store
    jobs = [await results.waiting(world, _content(2)) for _ in range(10)]
    await world.objects.stop()
    core = await world.core()

    async def complained() -> bool:
        return "loop is waiting for a server" in core.said()

    await until(complained, seconds=40)
    assert {row["status"] for row in await world.db.fetch("select status from stored_file")} == {
        "PROCESSING"
    }
    await world.objects.start()
    await _all_mapped_once(world, jobs, 2)


async def test_one_object_that_cannot_be_read_does_not_hold_back_the_others(world: World) -> None:
    """Its file waits; as soon as it can be read it is mapped too."""
    jobs = [await results.waiting(world, _content(2)) for _ in range(12)]
    refused = {str(jobs[0]).encode()}
    async with refusing_proxy(world.objects.url, refused) as address:
        await world.core(S3_ENDPOINT_URL=address)
        for job_id in jobs[1:]:
            await results.file_status(world, job_id, "DONE")
        assert (await world.file_of(jobs[0]))["status"] == "PROCESSING"
        refused.clear()
        await _all_mapped_once(world, jobs, 2)


async def test_without_its_bucket_no_result_counts_as_missing(world: World) -> None:
    """A core with a wrong S3_BUCKET must not fail every file."""
    job_id = await results.waiting(world)
    await world.db.execute("update s3_object set bucket = 'nowhere'")
    core = await world.core(S3_BUCKET="nowhere")

    async def complained() -> bool:
        return "loop is waiting for a server" in core.said()

    await until(complained)
    assert (await world.file_of(job_id))["status"] == "PROCESSING"


async def test_a_hundred_thousand_lines_are_mapped_while_the_core_answers(world: World) -> None:
    """M1, B30: the healthcheck answers all the time; neighbours are not lost; the
    lines can be read back page by page.
    """
    rows = [line(n, values=[*VALUES[:5], f"{n}.{n % 100:02}"]) for n in range(1, 100_001)]
    large = await results.waiting(world, {"documents": [document(lines=rows)]})
    small = await results.waiting(world)
    core = await world.core()
    async with web.client(base_url=core.url, timeout=20.0) as http:

        async def mapped() -> bool:
            assert (await http.get("/healthcheck")).status_code == 200
            return bool((await world.file_of(large))["status"] == "DONE")

        await until(mapped, pause=0.1)
        await results.file_status(world, small, "DONE")
        file_id = (await world.file_of(large))["id"]
        reading = asyncio.create_task(_read_back(core.url, file_id))
        while not reading.done():
            assert (await http.get("/healthcheck")).status_code == 200
            await asyncio.wait({reading}, timeout=0.1)
    assert await reading == [(n, f"{n}.{n % 100:02}") for n in range(1, 100_001)]


async def _read_back(url: str, file_id: UUID) -> list[tuple[int, str]]:
    read: list[tuple[int, str]] = []
    after: dict[str, Any] = {}
    async with web.client(timeout=30) as http:
        while True:
            response = await http.get(
                f"{url}/api/v1/files/{file_id}/lines", params={"limit": 60_000} | after
            )
            page = json.loads(response.content)
            lines = [row for part in page["documents"] for row in part["lines"]]
            read += [(row["n"], row["values"][5]) for row in lines]
            if page["next"] is None:
                return read
            after = {"after": page["next"]}
