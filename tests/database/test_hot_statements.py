"""Every hot statement touches the rows it acts on, however many others there are and whatever the
statistics say.

Judged by the rows that the plan's scans read (returned or thrown away), not by names of indexes or
by time.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from armka.core.database.queries import load
from armka.core.files.listing import FileFilter
from armka.core.jobs.states import FileStatus
from armka.stack import PostgresServer
from tests.servers import administer, apart

OUTBOX, INBOX = load("armka.core.outbox"), load("armka.core.inbox")
WATCHDOG, MAPPING = load("armka.core.watchdog"), load("armka.core.mapping")
FILES, JOBS = load("armka.core.files"), load("armka.core.jobs")

MANY = 30_000
BATCH = 100
# A statement reads each of its rows in a few places: the claim, the job, the file, the object, the
# guard.
BOUND = 12 * BATCH

SEED = """
with ids as materialized (
    select gen_random_uuid() as object, gen_random_uuid() as file, gen_random_uuid() as job, n
    from generate_series(1, $1) as n
), o as (
    insert into s3_object (id, bucket, key, bucket_role) select object, 'arm-ka', 'uploads/' ||
    file, 'uploads' from ids
), f as (
    insert into stored_file (id, original_name, file_type, s3_object_id, status,
    current_recognition_job_id) select file, 'a.xlsx', 'XLSX', object, $3, job from ids
)
insert into recognition_job
    (id, stored_file_id, pipeline, status, reply_deadline, published_at, last_published_at,
    publish_count, finished_at,
     mapped_at, created_at)
select job, file, 'tabular', $2, now() + interval '1 day' * $4::float8, $5, $5, $6, $7, $8, now() -
interval '1 second' * n from ids
"""

# What most rows are, in each of the worlds that a statement must not drown in.
CROWDS: dict[str, tuple[object, ...]] = {
    "finished": ("done", "DONE", 1, True, 1, True, True),
    "queued": ("queued", "UPLOADED", None, False, 0, False, False),
    "waiting": ("processing", "PROCESSING", 1, True, 1, False, False),
    "published": ("published", "PROCESSING", 1, True, 1, False, False),
    "unmapped": ("done", "PROCESSING", 1, True, 1, True, False),
}


async def _add(
    connection: asyncpg.Connection, count: int, kind: tuple[Any, ...], *, age: float = 0.0
) -> None:
    """Add `count` files with a job each; `age`: seconds since the last publication."""
    status, file_status, days, published, times, finished, mapped = kind
    now = await connection.fetchval("select now() - interval '1 second' * $1::float8", age)
    await connection.execute(
        SEED, count, status, file_status, days, now if published else None, times,
        now if finished else None, now if mapped else None,
    )  # fmt: skip


@pytest.fixture(scope="module", params=list(CROWDS))
def crowd(
    request: pytest.FixtureRequest, postgres: PostgresServer, database_template: str
) -> Iterator[tuple[str, str]]:
    """A database with many rows of one kind, whose statistics were taken when there were few;
    its name and kind.
    """
    name = f"crowd_{request.param}"

    async def fill() -> None:
        await administer(postgres, f"create database {name} template {database_template}")
        connection = await asyncpg.connect(postgres.database_url(name), timeout=10)
        for table in ("recognition_job", "stored_file", "s3_object"):
            await connection.execute(f"alter table {table} set (autovacuum_enabled = off)")
        for kind in CROWDS.values():
            await _add(connection, 20, kind)
        await connection.execute("analyze")
        await _add(connection, MANY, CROWDS[request.param])
        await connection.close()

    apart(fill)
    yield name, request.param
    apart(lambda: administer(postgres, f"drop database {name} with (force)"))


@pytest.fixture(params=["stale", "fresh", "generic"])
async def connection(
    crowd: tuple[str, str], postgres: PostgresServer, request: pytest.FixtureRequest
) -> AsyncIterator[asyncpg.Connection]:
    """A connection as the core makes them, in a transaction that is undone.

    `generic`: with the plans that PostgreSQL may settle on after five executions.
    """
    mode = "force_generic_plan" if request.param == "generic" else "auto"
    opened = await asyncpg.connect(
        postgres.database_url(crowd[0]),
        server_settings={"jit": "off", "random_page_cost": "1.1", "plan_cache_mode": mode},
    )
    if request.param != "stale":
        await opened.execute("analyze")
    undone = opened.transaction()
    await undone.start()
    yield opened
    await undone.rollback()
    await opened.close()


async def touched(connection: asyncpg.Connection, statement: str, *values: object) -> int:
    """Execute a statement and count the rows that its scans, and those of its triggers' tables,
    read.
    """
    prepared = await connection.prepare(statement)
    plan = await prepared.explain(*values, analyze=True)
    return _rows_read(plan[0]["Plan"])


def _rows_read(node: dict[str, Any]) -> int:
    read = 0
    if node["Node Type"].endswith("Scan") and node["Node Type"] not in {
        "CTE Scan",
        "Function Scan",
        "Subquery Scan",
    }:
        thrown = node.get("Rows Removed by Filter", 0) + node.get(
            "Rows Removed by Index Recheck", 0
        )
        read = round((node["Actual Rows"] + thrown) * node["Actual Loops"])
    return read + sum(_rows_read(child) for child in node.get("Plans", ()))


async def _jobs(connection: asyncpg.Connection, status: str) -> list[UUID]:
    rows = await connection.fetch(
        "select id from recognition_job where status = $1 limit $2", status, BATCH
    )
    return [row["id"] for row in rows]


async def _files(connection: asyncpg.Connection, jobs: list[UUID]) -> list[UUID]:
    rows = await connection.fetch(
        "select j.stored_file_id from unnest($1::uuid[]) with ordinality x (id, n) "
        "join recognition_job j using (id) "
        "order by n",
        jobs,
    )
    return [row["stored_file_id"] for row in rows]


async def test_the_outbox_reads_what_it_publishes(connection: asyncpg.Connection) -> None:
    """Claim, mark, refuse, and the moment of the next republish."""
    assert await touched(connection, OUTBOX.claim_queued, BATCH, 600.0, 1800.0, []) <= BOUND
    jobs = await _jobs(connection, "queued")
    deadline = await connection.fetchval("select now()")
    marks = (jobs, ["1"] * len(jobs), ["s"] * len(jobs), [deadline] * len(jobs))
    assert await touched(connection, OUTBOX.mark_published, *marks) <= BOUND
    assert await touched(connection, OUTBOX.refuse, jobs, ["odd"] * len(jobs)) <= BOUND
    assert await touched(connection, OUTBOX.next_unanswered_seconds, 30.0) <= BOUND


async def test_the_outbox_reads_what_it_publishes_again_or_gives_up(
    connection: asyncpg.Connection,
) -> None:
    """Few of many publications are overdue."""
    await _add(connection, BATCH, CROWDS["published"], age=60)
    assert (
        await touched(connection, OUTBOX.claim_unanswered, BATCH, 600.0, 1800.0, [], 30.0, 3)
        <= BOUND
    )
    jobs = await _jobs(connection, "published")
    assert await touched(connection, OUTBOX.mark_republished, jobs) <= BOUND
    assert await touched(connection, OUTBOX.give_up, jobs) <= BOUND


async def test_the_inbox_reads_the_jobs_of_its_batch(connection: asyncpg.Connection) -> None:
    """Lock, acknowledge, apply, fail and begin files, write facts."""
    jobs = await _jobs(connection, "published")
    files = await _files(connection, jobs)
    texts = ["x"] * len(jobs)
    nothing = [None] * len(jobs)
    assert await touched(connection, INBOX.lock_jobs, jobs) <= BOUND
    assert await touched(connection, INBOX.acknowledge, jobs, texts, texts) <= BOUND
    assert await touched(connection, INBOX.fail_files, jobs, files, texts, texts) <= BOUND
    assert await touched(connection, INBOX.begin_files, jobs, files) <= BOUND
    results = (
        jobs,
        ["done"] * len(jobs),
        texts,
        texts,
        nothing,
        nothing,
        nothing,
        texts,
        nothing,
        nothing,
        texts,
        [True] * len(jobs),
    )
    assert await touched(connection, INBOX.apply_results, *results) <= BOUND
    assert await touched(connection, INBOX.write_facts, jobs, "SERVICE_ERROR") <= BOUND
    keys = [f"results/{uuid4()}" for _ in jobs]
    objects = (["arm-ka"] * len(jobs), keys, ["results"] * len(jobs), texts)
    assert await touched(connection, INBOX.register_objects, *objects) <= BOUND


async def test_the_watchdog_reads_what_is_overdue(connection: asyncpg.Connection) -> None:
    """Few of many deadlines have passed."""
    status, file_status, _, *others = CROWDS["waiting"]
    await _add(connection, BATCH, (status, file_status, -1, *others))
    assert await touched(connection, WATCHDOG.end_overdue, BATCH, 600.0, 1800.0) <= BOUND
    assert await touched(connection, WATCHDOG.next_deadline_seconds) <= BOUND


async def test_the_mapping_reads_what_it_maps(connection: asyncpg.Connection) -> None:
    """Claim and finish."""
    assert await touched(connection, MAPPING.claim, BATCH, BATCH) <= BOUND
    jobs = await _jobs(connection, "done")
    assert await touched(connection, MAPPING.lock_waiting, jobs) <= BOUND
    assert (
        await touched(
            connection, MAPPING.finish, jobs, ["accounts"] * len(jobs), ["DONE"] * len(jobs)
        )
        <= BOUND
    )
    assert await touched(connection, MAPPING.fail, jobs[:1], ["missing"]) <= BOUND


async def test_the_lists_read_a_page(connection: asyncpg.Connection) -> None:
    """First page and a later one, with and without a status or a client."""
    moment = await connection.fetchval("select now()")
    filters = [FileFilter(status=status) for status in FileStatus]
    for wanted in (FileFilter(), FileFilter(client_ref="7"), *filters):
        statement, is_all = wanted.index()
        assert is_all
        for after in ((None, None), (moment, uuid4())):
            values = (*after, *wanted.values(), BATCH, BATCH, *wanted.period())
            assert await touched(connection, statement, *values) <= BOUND
            assert await touched(connection, JOBS.look, *after, *[None] * 7, BATCH, BATCH) <= BOUND
    files = [row["id"] for row in await connection.fetch("select id from stored_file limit 100")]
    assert await touched(connection, FILES.files, files) <= BOUND
    assert await touched(connection, FILES.statuses, files) <= BOUND


async def test_an_upload_reads_its_like(connection: asyncpg.Connection) -> None:
    """Earlier files with the same bytes are found by their digest, also where many have them."""
    await connection.execute(
        "update s3_object set sha256 = $1 where id in (select id from s3_object limit $2)",
        "0" * 64,
        4 * BOUND,
    )
    values = (uuid4(), uuid4(), "arm-ka", "uploads/new", 1, "0" * 64, "a.xlsx", "XLSX", "tabular")
    keyed = (None, "files", "key", 0, "digest")
    by = ("api", "open", None, "api", "127.0.0.1")
    assert await touched(connection, FILES.register_upload, *values, *keyed, *by) <= BOUND
