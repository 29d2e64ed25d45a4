"""What only a stream can do (§3, N4, N5, I6)."""

from datetime import timedelta

from armka.conformance.findings import Contradicted
from armka.conformance.job import Job
from armka.conformance.rows import shown
from armka.conformance.scenario import scenario
from armka.conformance.scenarios.moments import publication_held_open
from armka.conformance.stream_surface import StreamSurface
from armka.conformance.surface import Surface
from armka.conformance.target import Power
from armka.conformance.transports import Trait

_KEEPS = (Trait.KEEPS,)
_NANOSECONDS = 10**9
_MAX_DELIVER = 5
# Of the usual patience, which makes it a minute (N4).
_LONG = 3


def _on_stream(surface: Surface) -> StreamSurface:
    assert isinstance(surface, StreamSurface)
    return surface


@scenario("N4 N5", "Dev-окружение compose", traits=_KEEPS)
async def stream_and_consumer_exist(surface: Surface) -> None:
    """With NATS_MANAGE_STREAM: RECOGNITION takes recognition.>, its duplicate window is 2 min; the
    durable arm-core-results hears the results, five deliveries each, acknowledged one by one.
    """
    here = _on_stream(surface)
    stream = (await here.stream())["config"]
    surface.expect("its subjects", True, "recognition.>" in stream["subjects"])
    surface.expect("its duplicate window", 120 * _NANOSECONDS, stream["duplicate_window"])
    consumer = (await here.consumer())["config"]
    expected = {
        "durable_name": "arm-core-results",
        "filter_subject": surface.wire.subjects.result,
        "ack_policy": "explicit",
        "max_deliver": _MAX_DELIVER,
    }
    surface.expect("the consumer", expected, {key: consumer[key] for key in expected})
    surface.expect("max_ack_pending is bounded", True, consumer["max_ack_pending"] > 0)


@scenario("I6 Q1", "Отравленное сообщение", traits=_KEEPS)
async def a_poisonous_message_ends_its_job(surface: Surface) -> None:
    """A result that the database refuses each time: the fifth delivery is tried too, then the job
    is dlq / POISON_MESSAGE with its file and a fact NO_ACK, the message acknowledged.
    """
    here = _on_stream(surface)
    job = await surface.published()
    # Another hand has written the fact that belongs to the result.
    await surface.tables.all("insert_fact", job.id, job.file_id, "SERVICE_ERROR")
    surface.trail.add(f"insert of a fact SERVICE_ERROR about {job}")
    (number,) = await surface.ask((job.envelope("error"), job.result_id))
    within = 2 * surface.target.patience_seconds
    surface.expect("delivery", _MAX_DELIVER, await here.settled_on(number, within=within))
    row = await surface.row(job)
    surface.expect_row(
        str(job), row, status="dlq", error_code="POISON_MESSAGE", finished_at=..., error_message=...
    )
    surface.expect_row(
        "its file", await surface.file_of(job), status="ERROR", error_code="POISON_MESSAGE"
    )
    facts = await surface.facts(job)
    surface.expect("its facts", [("SERVICE_ERROR", None), ("NO_ACK", "POISON_MESSAGE")], facts)
    surface.expect("its moves", [("published", "dlq")], await surface.moves(job))


@scenario("I6", traits=_KEEPS)
async def a_passing_fault_is_no_poison(surface: Surface) -> None:
    """What is refused at first and taken on a later delivery is applied, and ends nothing."""
    here = _on_stream(surface)
    job = await surface.published()
    await surface.tables.all("insert_fact", job.id, job.file_id, "SERVICE_ERROR")
    (number,) = await surface.ask((job.envelope("error"), job.result_id))

    async def delivered_again() -> bool:
        return int((await here.consumer())["num_redelivered"]) > 0

    await surface.comes("a second delivery", delivered_again)
    await surface.tables.all("delete_facts", job.id)
    surface.trail.add("the fact is taken away")
    delivery = await here.settled_on(number, within=2 * surface.target.patience_seconds)
    surface.expect("before the last delivery", True, 1 < delivery <= _MAX_DELIVER)
    await surface.failed(job, "error", "SERVICE_ERROR", "UNREADABLE")


@scenario("O1 §3", "NATS недоступен", traits=_KEEPS)
async def a_duplicate_confirms_too(surface: Surface) -> None:
    """The publisher dies before its commit, and publishes again: the stream keeps one request, and
    its answer `duplicate` makes the job published.
    """
    here = _on_stream(surface)
    async with publication_held_open(surface) as (job, publisher):
        await surface.tables.value("cut", publisher)
        surface.trail.add("the publisher's connection is cut")
    row = await surface.reaches(job, "published")
    surface.expect_row(str(job), row, publish_count=1, published_at=...)
    await surface.request(job, 2)
    surface.expect("requests in the stream", 1, await here.kept_requests(job))


@scenario("N4", traits=_KEEPS, powers=(Power.STOP_NATS,))
async def a_lost_stream_is_made_again(surface: Surface) -> None:
    """Every waiting job is on the wire again within 60 s, with the same id and attempt, and its
    event says why; what was acknowledged or is past its deadline is left alone.
    """
    here = _on_stream(surface)
    waiting = [await surface.job(attempt=2) for _ in range(3)]
    taken = await surface.job()
    for job in (*waiting, taken):
        await surface.reaches(job, "published")
    await surface.deliver(taken.envelope("processing"), taken.ack_id, "applied")
    past = await surface.now() - timedelta(seconds=1)
    overdue = await surface.published(reply_deadline=past)
    await here.delete_stream()
    for job in waiting:
        await _expect_sent_again(here, job)
    surface.expect("requests for an acknowledged job", 1, len(surface.heard(taken)))
    surface.expect("requests for an overdue job", 0, len(surface.heard(overdue)))
    await surface.deliver(waiting[0].envelope("error"), waiting[0].result_id, "applied")


async def _expect_sent_again(surface: StreamSurface, job: Job) -> None:
    again = await surface.request(job, 2, within=_LONG * surface.target.patience_seconds)
    surface.expect("Nats-Msg-Id", job.request_id, again.msg_id)
    surface.expect("attempt", job.attempt, again.fields["attempt"])

    async def events() -> list[dict[str, object]]:
        return [
            event
            for event in await surface.tables.all("events", job.id)
            if event["from_status"] == event["to_status"] == "published"
        ]

    told = await surface.comes("an event that tells of it", events)
    surface.expect("its cause speaks of the stream", True, "stream" in str(told[0]["cause"]))
    row = await surface.row(job)
    surface.expect_row(str(job), row, status="published", request_msg_id=job.request_id)
    if row["last_published_at"] <= row["published_at"]:
        raise Contradicted("last_published_at moves", shown(row), surface.trail.lines)
    surface.expect("requests in the stream", 1, await surface.kept_requests(job))


@scenario("N4", traits=_KEEPS, powers=(Power.STOP_NATS,))
async def a_lost_consumer_is_made_again(surface: Surface) -> None:
    """Results that come meanwhile are applied when it is back."""
    here = _on_stream(surface)
    jobs = [await surface.published() for _ in range(3)]
    await surface.deliver(jobs[0].envelope("error"), jobs[0].result_id, "applied")
    await here.delete_consumer()
    for job in jobs[1:]:
        await surface.send((job.envelope("error"), job.result_id))
        row = await surface.reaches(job, "error", within=_LONG * surface.target.patience_seconds)
        surface.expect_row(str(job), row, result_msg_id=job.result_id)
    surface.expect("what was rejected", [], await surface.reasons(jobs[0]))


@scenario("N4", traits=_KEEPS, powers=(Power.STOP_CORE, Power.START_CORE))
async def another_configuration_is_left_as_it_is(surface: Surface) -> None:
    """A stream and a consumer that somebody set otherwise stay so, and the exchange goes on."""
    here = _on_stream(surface)
    await surface.operator.stop_cores()
    await here.delete_stream()
    theirs = {
        "name": "RECOGNITION",
        "subjects": ["recognition.>"],
        "duplicate_window": _NANOSECONDS,
    }
    await here.stream_wire.api("STREAM.CREATE.RECOGNITION", theirs)
    surface.trail.add("a stream with a duplicate window of 1 s")
    await surface.operator.start_core()
    job = await surface.job()
    await surface.reaches(job, "published", within=_LONG * surface.target.patience_seconds)
    await surface.deliver(job.envelope("error"), job.result_id, "applied")
    config = (await here.stream())["config"]
    surface.expect("the duplicate window", _NANOSECONDS, config["duplicate_window"])
