"""Batches that are written in parts side by side."""

import json
import signal

from tests.world import RESULTS, World, until

_JOBS = 750


async def test_a_jobs_envelopes_keep_their_order_in_a_large_batch(world: World) -> None:
    """Fifteen hundred envelopes that a core finds at once: each job takes every step, once."""
    core = await world.core()
    jobs = [await world.job(status="published") for _ in range(_JOBS)]
    core.signal(signal.SIGSTOP)
    client = await world.client()
    for job in jobs:
        for status, kind in (("processing", "ack"), ("error", "result")):
            body = json.dumps(await world.envelope(job, status)).encode()
            await client.publish(RESULTS, body, headers={"Nats-Msg-Id": f"{kind}:{job}:1"})
    await client.flush()
    core.signal(signal.SIGCONT)

    async def all_ended() -> bool:
        return bool(
            await world.db.fetchval(
                "select count(*) = $1 from recognition_job where status = 'error'", _JOBS
            )
        )

    await until(all_ended)
    moves = await world.db.fetch(
        "select array_agg(from_status || '>' || to_status order by id) as moves "
        "from recognition_job_event group by recognition_job_id"
    )
    assert len(moves) == _JOBS
    assert {tuple(row["moves"]) for row in moves} == {("published>processing", "processing>error")}
    assert await world.db.fetchval("select count(*) from quality_failure_fact") == _JOBS
    assert "a large batch is written in parts" in core.said()
