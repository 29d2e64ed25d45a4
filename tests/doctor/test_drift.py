"""Every check of the database is silent on a healthy one and fires when the state really drifts."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import asyncpg
import pytest

from armka.core.doctor import records
from armka.core.doctor.findings import State
from armka.core.doctor.records import CHECKS
from tests.doctor.conftest import Examine
from tests.world import World, until

GUARD = "alter table recognition_job {} trigger recognition_job_moved"


async def unguarded(world: World, statement: str, *values: object) -> None:
    """Write as somebody who has switched the guard off."""
    await world.db.execute(GUARD.format("disable"))
    await world.db.execute(statement, *values)
    await world.db.execute(GUARD.format("enable"))


async def ended(world: World, status: str, **columns: object) -> UUID:
    """A job that was brought to a final status by an update, with its file."""
    job = await world.job(status="published")
    await world.db.execute(
        "update recognition_job set status = $2, finished_at = now() where id = $1", job, status
    )
    for name, value in columns.items():
        await world.db.execute(f"update recognition_job set {name} = $2 where id = $1", job, value)
    return job


async def file_is(world: World, job: UUID, status: str) -> None:
    await world.db.execute(
        "update stored_file set status = $2 where current_recognition_job_id = $1", job, status
    )


async def no_clock(world: World) -> None:
    await world.db.execute("set timezone = 'UTC'")
    job = await world.job(status="processing")
    await world.db.execute(
        "update recognition_job set reply_deadline = 'infinity' where id = $1", job
    )


async def no_clock_undated(world: World) -> None:
    job = await world.job(status="published")
    await world.db.execute(
        "update recognition_job set published_at = now() + interval '1 year' where id = $1", job
    )


async def overdue(world: World) -> None:
    job = await world.job(status="published")
    await world.db.execute(
        "update recognition_job set reply_deadline = now() - interval '2 minutes' where id = $1",
        job,
    )


async def not_published(world: World) -> None:
    job = await world.job()
    await world.db.execute(
        "update recognition_job set created_at = now() - interval '2 minutes' where id = $1", job
    )


async def not_mapped(world: World) -> None:
    job = await ended(world, "done")
    await file_is(world, job, "PROCESSING")
    await world.db.execute(
        "update recognition_job set finished_at = now() - interval '6 minutes' where id = $1", job
    )


async def without_finish(world: World) -> None:
    await ended(world, "timeout", finished_at=None)


async def two_ends(world: World) -> None:
    job = await ended(world, "timeout")
    await world.db.execute(
        "insert into recognition_job_event (recognition_job_id, from_status, to_status, cause) "
        "values ($1, 'processing', 'done', 'result')",
        job,
    )


async def off_the_graph(world: World) -> None:
    job = await world.job(status="published")
    await world.db.execute(
        "insert into recognition_job_event (recognition_job_id, from_status, to_status, cause) "
        "values ($1, 'done', 'published', 'a script')",
        job,
    )


async def moved_in_silence(world: World) -> None:
    job = await ended(world, "done")
    await unguarded(world, "update recognition_job set status = 'processing' where id = $1", job)


async def doubled_attempt(world: World) -> None:
    first = await world.job(status="processing")
    row = await world.row(first)
    await world.job(row["stored_file_id"], status="processing", current=False)


async def stuck_file(world: World) -> None:
    job = await ended(world, "timeout", error_code="TIMEOUT")
    await file_is(world, job, "PROCESSING")


async def file_without_job(world: World) -> None:
    file = await world.file()
    await world.db.execute("update stored_file set status = 'PROCESSING' where id = $1", file)


async def no_result(world: World) -> None:
    await ended(world, "needs_check")


async def foreign_result(world: World) -> None:
    job = await ended(world, "done")
    await world.db.execute(
        "update recognition_job j set result_s3_object_id = f.s3_object_id "
        "from stored_file f where f.id = j.stored_file_id and j.id = $1",
        job,
    )


async def no_document(world: World) -> None:
    job = await ended(world, "done")
    await file_is(world, job, "DONE")


async def no_fact(world: World) -> None:
    await ended(world, "dlq")


async def surplus_fact(world: World) -> None:
    job = await world.job(status="processing")
    await world.db.execute(
        "insert into quality_failure_fact (recognition_job_id, failure_kind) "
        "values ($1, 'TIMEOUT')",
        job,
    )


async def two_facts(world: World) -> None:
    job = await ended(world, "timeout")
    await world.db.execute(
        "insert into quality_failure_fact (recognition_job_id, failure_kind) "
        "values ($1, 'TIMEOUT'), ($1, 'NO_ACK')",
        job,
    )


async def blocked(world: World) -> None:
    await world.job(pipeline="image")
    await world.db.execute("insert into outbox_obstacle values ('image', 'no permission')")


async def guard_off(world: World) -> None:
    await world.db.execute(GUARD.format("disable"))


async def guard_gone(world: World) -> None:
    await world.db.execute("drop trigger recognition_job_added on recognition_job")


DRIFTS: list[tuple[str, Callable[[World], Awaitable[None]]]] = [
    ("job_without_clock", no_clock),
    ("job_without_clock", no_clock_undated),
    ("job_overdue", overdue),
    ("job_not_published", not_published),
    ("pipeline_blocked", blocked),
    ("result_not_mapped", not_mapped),
    ("final_without_finish", without_finish),
    ("two_final_events", two_ends),
    ("event_off_the_graph", off_the_graph),
    ("status_without_event", moved_in_silence),
    ("attempt_doubled", doubled_attempt),
    ("file_not_its_job", stuck_file),
    ("file_not_its_job", file_without_job),
    ("done_without_result", no_result),
    ("result_of_another", foreign_result),
    ("file_done_without_document", no_document),
    ("failure_not_counted", no_fact),
    ("failure_not_counted", surplus_fact),
    ("failure_not_counted", two_facts),
    ("guard_off", guard_off),
    ("guard_off", guard_gone),
]
# Fired below, by what it takes more than a statement to bring about.
ELSEWHERE = {"old_transaction", "bloated_table"}


def test_every_check_is_made_to_fire() -> None:
    """A check that no test makes fire may be unable to."""
    assert {name for name, _ in DRIFTS} | ELSEWHERE == {asked.check.name for asked in CHECKS}


@pytest.mark.parametrize(("check", "drift"), DRIFTS, ids=[drift.__name__ for _, drift in DRIFTS])
async def test_a_drift_is_found(
    world: World, examine: Examine, check: str, drift: Callable[[World], Awaitable[None]]
) -> None:
    """It is silent before, and tells one thing after."""
    before = (await examine())[check]
    await drift(world)
    after = (await examine())[check]

    assert (before.state, before.count) == (State.OK, 0)
    assert (after.state, after.count) == (State.DRIFT, 1), after
    assert after.examples
    assert after.remedy


async def test_a_transaction_that_stays_open_is_found(world: World, examine: Examine) -> None:
    """Its start cannot be dated back, so the statement is asked with a shorter patience."""
    (asked,) = [it for it in CHECKS if it.check.name == "old_transaction"]
    patient, impatient = "interval '5 minutes'", "interval '0 seconds'"
    assert patient in asked.statement
    other = await asyncpg.connect(world.dsn, server_settings={"application_name": "a dump"})
    try:
        async with other.transaction():
            await other.execute("select 1")
            rows = await world.db.fetch(asked.statement.replace(patient, impatient), 100)
            assert any("(a dump)" in row[0] for row in rows)
    finally:
        await other.close()
    assert (await examine())["old_transaction"].state is State.OK


async def test_a_table_full_of_dead_rows_is_found(world: World, examine: Examine) -> None:
    """Counted by the server's own statistics."""
    await world.db.execute("alter table rejected_message set (autovacuum_enabled = off)")
    await world.db.execute(
        "insert into rejected_message (reason) select 'invalid' from generate_series(1, 60000)"
    )
    await world.db.execute("delete from rejected_message")

    async def found() -> bool:
        await world.db.execute("select pg_stat_force_next_flush()")
        return (await examine())["bloated_table"].state is State.DRIFT

    await until(found, pause=0.2)


async def test_only_with_nats_a_queued_job_is_late(world: World, examine: Examine) -> None:
    """Without a broker, waiting is what a queued job should do."""
    await not_published(world)
    assert (await examine())["job_not_published"].state is State.DRIFT
    await world.nats.stop()

    async def skipped() -> bool:
        return (await examine())["job_not_published"].state is State.SKIPPED

    await until(skipped)


async def test_what_an_import_inserted_is_no_drift(world: World, examine: Examine) -> None:
    """An INSERT may use any status and leave the rest empty."""
    for status in ("done", "needs_check", "error", "timeout", "dlq"):
        await world.job(status=status, current=False)
    findings = await examine()

    assert [name for name, found in findings.items() if not found.is_well] == []


async def test_a_check_that_is_too_slow_says_so(
    world: World, examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that is not given up makes it unreached, not endless, and the others go on."""
    monkeypatch.setattr(records, "STATEMENT_SECONDS", 1)
    holder = await asyncpg.connect(world.dsn)
    try:
        async with holder.transaction():
            await holder.execute("lock table osv_document in access exclusive mode")
            async with asyncio.timeout(20):
                findings = await examine()
    finally:
        await holder.close()

    slow = findings["file_done_without_document"]
    assert (slow.state, "QueryCanceled" in slow.reason) == (State.UNREACHED, True)
    assert findings["failure_not_counted"].state is State.OK
