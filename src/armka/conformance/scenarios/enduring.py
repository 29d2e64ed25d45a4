"""Outages, replicas and restarts (§3, §8, I8, N2, O1, O3, O5)."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from armka.conformance.findings import Contradicted
from armka.conformance.job import Job
from armka.conformance.rows import Row, shown
from armka.conformance.scenario import Demand, scenario
from armka.conformance.scenarios.demands import DISABLED
from armka.conformance.scenarios.moments import publication_held_open
from armka.conformance.surface import Surface
from armka.conformance.target import Power
from armka.conformance.transports import Trait

_OK = 200
_MANY = 200
# Of the usual patience: for what a server's return or a whole crowd needs.
_LONG = 3


def _long(surface: Surface) -> float:
    return _LONG * surface.target.patience_seconds


async def _ended_all(surface: Surface, jobs: Sequence[Job], *statuses: str) -> list[Row]:
    """Wait until all of these jobs have one of these statuses."""
    ids = [job.id for job in jobs]

    async def others() -> list[Row]:
        rows = await surface.tables.all("jobs", ids)
        return [row for row in rows if row["status"] not in statuses]

    await surface.comes(
        f"{len(jobs)} jobs are {' or '.join(statuses)}",
        others,
        until=lambda rows: not rows,
        within=_long(surface),
    )
    return await surface.tables.all("jobs", ids)


@scenario("O1 O4 W1", "NATS недоступен", powers=(Power.STOP_NATS,))
async def jobs_wait_for_the_broker(surface: Surface) -> None:
    """While NATS is away jobs stay queued, also with a past deadline, which the watchdog leaves
    alone; then each is published once, and its time is counted from then.
    """
    await surface.operator.stop_nats()
    surface.trail.add("NATS stopped")
    now = await surface.now()
    waiting = await surface.job()
    past = await surface.job(reply_deadline=now - timedelta(minutes=1))
    overdue = await surface.published(reply_deadline=now - timedelta(seconds=1))
    await surface.reaches(overdue, "timeout", within=surface.patience("WATCHDOG_PERIOD_SECONDS"))
    await surface.stays(
        "both jobs stay queued",
        lambda: surface.tables.all("jobs", [waiting.id, past.id]),
        so=lambda rows: {(row["status"], row["publish_count"]) for row in rows} == {("queued", 0)},
        seconds=1.5,
    )
    back = await surface.now()
    await surface.operator.start_nats()
    row = await surface.reaches(waiting, "published", within=_long(surface))
    surface.expect_row(str(waiting), row, publish_count=1)
    budget = surface.target.seconds("REPLY_TIMEOUT_SECONDS_TABULAR")
    if row["reply_deadline"] < back + timedelta(seconds=budget - 1):
        raise Contradicted("the whole budget from the publish on", shown(row), surface.trail.lines)
    await surface.reaches(past, "published", "timeout", within=_long(surface))
    await _published_by_the_wire(surface, waiting)


async def _published_by_the_wire(surface: Surface, job: Job) -> None:
    """The kit's own connection comes back too: it hears the next job, if not the first ones."""
    async with asyncio.timeout(_long(surface)):
        await surface.wire.connection.wait_live()
    witness = await surface.job()
    await surface.request(witness, within=_long(surface))
    ids = {heard.msg_id for heard in surface.heard(job)} - {job.request_id}
    surface.expect("foreign ids", set(), ids)


@scenario("O1 §3", powers=(Power.FREEZE_NATS,))
async def a_frozen_broker_confirms_nothing(surface: Surface) -> None:
    """A publish into a frozen server meets no error; the row stays queued until it answers."""
    await surface.reaches(await surface.job(), "published")
    surface.operator.freeze_nats()
    surface.trail.add("NATS frozen")
    try:
        job = await surface.job()
        await surface.stays(
            f"{job} stays queued",
            lambda: surface.row(job),
            so=lambda row: row["status"] == "queued",
            seconds=7.0,
        )
    finally:
        surface.operator.thaw_nats()
    await surface.reaches(job, "published", within=_long(surface))


@scenario(
    "O3",
    demands=(
        Demand("ACK_TIMEOUT_SECONDS", 4, at_least=3, at_most=60),
        Demand("OUTBOX_MAX_REPUBLISH", 0),
    ),
    powers=(Power.STOP_CORE, Power.START_CORE),
    traits=(Trait.GIVES_UP,),
)
async def who_does_not_listen_does_not_judge(surface: Surface) -> None:
    """A core that has just subscribed listens for the whole ack timeout before it says that nobody
    answered.
    """
    await surface.operator.stop_cores()
    long_ago = await surface.now() - timedelta(hours=1)
    job = await surface.published(published_at=long_ago, last_published_at=long_ago)
    await surface.operator.start_core()
    surface.trail.add("all cores stopped, one started")
    await surface.stays(
        f"{job} stays published",
        lambda: surface.row(job),
        so=lambda row: row["status"] == "published",
        seconds=1.5,
    )
    await surface.deliver(job.envelope("processing"), job.ack_id, "applied")
    await surface.reaches(job, "processing")


@scenario(
    "O5",
    demands=(Demand("OUTBOX_BATCH_SIZE", 20, at_most=100),),
    powers=(Power.STOP_CORE, Power.START_CORE),
)
async def replicas_publish_each_job_once(surface: Surface) -> None:
    """Three publishers, two hundred jobs, two hundred messages."""
    await surface.operator.stop_cores()
    jobs = [await surface.job() for _ in range(_MANY)]
    await asyncio.gather(*(surface.operator.start_core() for _ in range(3)))
    surface.trail.add("three cores started")
    rows = await _ended_all(surface, jobs, "published")
    surface.expect("publish_count", {1}, {row["publish_count"] for row in rows})
    sent = Counter(heard.msg_id for heard in surface.wire.requests)
    surface.expect("messages that were sent twice", {}, {k: n for k, n in sent.items() if n > 1})
    surface.expect("messages", len(jobs), len(sent))


@scenario("O1", powers=(Power.KILL_CORE, Power.START_CORE))
async def a_publisher_killed_before_its_commit(surface: Surface) -> None:
    """The job is still queued; the next core publishes it, with the same id."""
    async with publication_held_open(surface) as (job, _):
        await surface.operator.kill_cores()
        surface.trail.add("the core is killed")
    surface.expect_row(str(job), await surface.row(job), status="queued", publish_count=0)
    await surface.operator.start_core()
    row = await surface.reaches(job, "published", within=_long(surface))
    surface.expect_row(str(job), row, publish_count=1)
    second = await surface.request(job, 2)
    surface.expect("Nats-Msg-Id", job.request_id, second.msg_id)
    surface.expect("its moves", [("queued", "published")], await surface.moves(job))


@scenario("§8", powers=(Power.STOP_CORE, Power.START_CORE))
async def stopping_leaves_nothing_half_done(surface: Surface) -> None:
    """SIGTERM amid publishing and results: exit code 0, every row says one thing, and the next core
    goes on.
    """
    answered = [await surface.published() for _ in range(30)]
    queued = [await surface.job() for _ in range(30)]
    await surface.send(*[(job.envelope("error"), job.result_id) for job in answered])
    surface.expect("exit codes", [0], await surface.operator.stop_cores())
    surface.trail.add("SIGTERM")
    for row in await surface.tables.all("jobs", [job.id for job in queued]):
        published = row["status"] == "published"
        surface.expect("published_at is set", published, row["published_at"] is not None)
    await surface.operator.start_core()
    await _ended_all(surface, answered, "error")
    for job in answered:
        await surface.failed(job, "error", "SERVICE_ERROR", "UNREADABLE")
    await _ended_all(surface, queued, "published")


@scenario("I8", powers=(Power.STOP_CORE, Power.START_CORE))
async def a_result_is_healed_by_its_repeat(surface: Surface) -> None:
    """Nobody listens while the core is away; the same envelope with the same id is applied
    afterwards, once.
    """
    job = await surface.published()
    envelope = (job.envelope("error"), job.result_id)
    await surface.operator.stop_cores()
    (reply,) = await surface.ask(envelope)

    async def outcomes() -> int:
        return surface.answer_count(reply)

    await surface.stays("no outcome", outcomes, so=lambda seen: not seen, seconds=0.5)
    await surface.operator.start_core()
    await surface.deliver(*envelope, "applied")
    await surface.deliver(*envelope, "duplicate")
    await surface.failed(job, "error", "SERVICE_ERROR", "UNREADABLE")


@scenario("§3 I8", powers=(Power.START_CORE,))
async def an_envelope_reaches_one_replica(surface: Surface) -> None:
    """The queue group: two cores answer each envelope once."""
    await surface.operator.start_core()
    jobs = [await surface.published() for _ in range(60)]
    replies = await surface.ask(*[(job.envelope("error"), job.result_id) for job in jobs])
    for reply in replies:
        surface.expect_outcome("applied", await surface.answer(reply))

    async def counts() -> set[int]:
        return {surface.answer_count(reply) for reply in replies}

    await surface.stays("one answer to each", counts, so=lambda seen: seen == {1}, seconds=1.0)


@scenario("W1 I5 O5", powers=(Power.START_CORE,))
async def results_and_watchdogs_meet_at_the_deadline(surface: Surface) -> None:
    """Two hundred results and two watchdogs at the same moment: each job ends once, and its file,
    its fact and its event say the same.
    """
    await surface.operator.start_core()
    deadline = await surface.now() + timedelta(seconds=4)
    jobs = [
        await surface.published(status="processing", reply_deadline=deadline) for _ in range(_MANY)
    ]
    moment = deadline - timedelta(milliseconds=100)
    await surface.comes("the deadline nears", surface.now, until=lambda now: now > moment)
    await surface.send(*[(job.envelope("error"), job.result_id) for job in jobs])
    await _ended_all(surface, jobs, "error", "timeout")
    for job in jobs:
        await _expect_ended_once(surface, job)


async def _expect_ended_once(surface: Surface, job: Job) -> None:
    row = await surface.row(job)
    kind = "TIMEOUT" if row["status"] == "timeout" else "SERVICE_ERROR"
    surface.expect(f"moves of {job}", [("processing", row["status"])], await surface.moves(job))
    surface.expect(f"facts of {job}", [(kind, row["error_code"])], await surface.facts(job))
    file = await surface.file_of(job)
    surface.expect_row(f"the file of {job}", file, status="ERROR", error_code=row["error_code"])


@scenario("I1 I2 O5 Q1", powers=(Power.START_CORE,))
async def a_service_that_says_everything_twice(surface: Surface) -> None:
    """Two cores, and every envelope twice: each job is asked for once, acknowledged once, and ends
    once with one fact.
    """
    await surface.operator.start_core()
    jobs = [await surface.job() for _ in range(_MANY // 2)]
    await _ended_all(surface, jobs, "published")
    for status, ids in (("processing", [job.ack_id for job in jobs]),
                        ("error", [job.result_id for job in jobs])):  # fmt: skip
        envelopes = [(job.envelope(status), msg_id) for job, msg_id in zip(jobs, ids, strict=True)]
        await surface.send(*envelopes, *envelopes)
    await _ended_all(surface, jobs, "error")
    for job in jobs:
        surface.expect(f"requests for {job}", 1, len(surface.heard(job)))
        moves = [move for move in await surface.moves(job) if move[1] != "processing"]
        ended = moves[-1][1], len(moves)
        surface.expect(f"its end, and moves but the ack: {moves}", ("error", 2), ended)
        surface.expect(
            f"facts of {job}", [("SERVICE_ERROR", "UNREADABLE")], await surface.facts(job)
        )


@scenario("§8 I8 O1", powers=(Power.CUT,))
async def cut_connections_lose_nothing(surface: Surface) -> None:
    """Every connection of the core to the database is cut, again and again, while jobs and results
    pass: all of them come to their end.
    """
    answered, queued = [], []
    for _ in range(4):
        answered += [await surface.published() for _ in range(5)]
        queued += [await surface.job() for _ in range(5)]
        await surface.send(*[(job.envelope("error"), job.result_id) for job in answered[-5:]])
        await surface.tables.value("cut_all")
        surface.trail.add("all connections to the database cut")
    await _ended_all(surface, answered, "error")
    for job in answered:
        await surface.failed(job, "error", "SERVICE_ERROR", "UNREADABLE")
    await _ended_all(surface, queued, "published")
    past = await surface.now() - timedelta(seconds=1)
    overdue = await surface.published(reply_deadline=past)
    await surface.failed(overdue, "timeout", "TIMEOUT", "TIMEOUT")


@scenario("N2", "NATS выключен", demands=DISABLED, powers=(Power.HEALTH,))
async def without_nats_no_loop_runs(surface: Surface) -> None:
    """NATS_ENABLED=false: /healthcheck answers 200, and neither outbox, inbox nor watchdog touches
    a row.
    """
    surface.expect("/healthcheck", _OK, await surface.operator.health())
    past = await surface.now() - timedelta(hours=1)
    jobs = [await surface.job(), await surface.published(reply_deadline=past)]
    before = [await surface.traces(job) for job in jobs]
    await surface.send((jobs[1].envelope("error"), jobs[1].result_id))

    async def look() -> list[dict[str, object]]:
        return [await surface.traces(job) for job in jobs]

    await surface.stays("nothing changes", look, so=lambda seen: seen == before, seconds=2.0)
    surface.expect("/healthcheck", _OK, await surface.operator.health())
