"""The database guards a job's life, whoever asks."""

import asyncpg
import pytest

from armka.core.jobs.states import JobStatus, may_move
from tests.world import World

PAIRS = [(before, after) for before in JobStatus for after in JobStatus if before is not after]


async def test_the_database_allows_exactly_the_moves_of_the_graph(world: World) -> None:
    """Each pair of statuses, by a bare UPDATE."""
    for before, after in PAIRS:
        job = await world.job(status=before.value)
        move = world.db.execute(
            "update recognition_job set status = $2 where id = $1", job, after.value
        )
        if may_move(before, after):
            await move
            assert await world.events(job) == [(before.value, after.value)]
        else:
            with pytest.raises(
                asyncpg.CheckViolationError, match=f"{before.value} -> {after.value}"
            ):
                await move
            assert (await world.row(job))["status"] == before.value


async def test_one_illegal_move_refuses_the_whole_statement(world: World) -> None:
    """A batch moves together or not at all."""
    good, bad = await world.job(status="published"), await world.job(status="done")
    with pytest.raises(asyncpg.CheckViolationError):
        await world.db.execute(
            "update recognition_job set status = 'timeout' where id = any ($1)", [good, bad]
        )
    assert (await world.row(good))["status"] == "published"
    assert await world.events(good) == []


async def test_a_job_keeps_its_id(world: World) -> None:
    """The guard recognises a row by its id, so that it may not change on the way."""
    job = await world.job(status="done")
    with pytest.raises(asyncpg.CheckViolationError):
        await world.db.execute(
            "update recognition_job set id = gen_random_uuid(), status = 'queued' where id = $1",
            job,
        )


async def test_an_import_may_insert_any_status(world: World) -> None:
    """Imports and tests begin anywhere; only moves are guarded."""
    for status in JobStatus:
        job = await world.job(status=status.value)
        assert (await world.row(job))["status"] == status.value


async def test_a_move_by_hand_names_who_moved_it(world: World) -> None:
    """The event of an UPDATE that gives no cause names the database role."""
    job = await world.job(status="published")
    await world.db.execute("update recognition_job set status = 'error' where id = $1", job)
    cause = await world.db.fetchval(
        "select cause from recognition_job_event where recognition_job_id = $1", job
    )
    assert cause.startswith("sql by ")


async def test_a_job_fails_once(world: World) -> None:
    """The second fact of a kind about the same job is refused."""
    job = await world.job()
    statement = (
        "insert into quality_failure_fact (recognition_job_id, failure_kind) values ($1, 'TIMEOUT')"
    )
    await world.db.execute(statement, job)
    with pytest.raises(asyncpg.UniqueViolationError):
        await world.db.execute(statement, job)


async def test_a_transaction_that_is_rolled_back_leaves_no_event(world: World) -> None:
    """Events are part of the move."""
    job = await world.job(status="published")
    undone = world.db.transaction()
    await undone.start()
    await world.db.execute("update recognition_job set status = 'timeout' where id = $1", job)
    assert await world.events(job) == [("published", "timeout")]
    await undone.rollback()
    assert await world.events(job) == []
