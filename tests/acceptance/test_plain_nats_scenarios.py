"""The scenarios of the specification that speak of plain NATS, each against real servers and a real
core.
"""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx
import jsonschema_rs

from armka.contract import schema_files
from tests.world import IMAGE, RESULTS, TABULAR, World, until


async def test_the_outbox_publishes_a_request_to_the_parser(world: World) -> None:
    """«Публикация запроса парсеру», «Публикация запроса ядром»."""
    heard = await world.listen(TABULAR)
    await world.core()
    job = await world.job()
    row = await world.status(job, "published")
    message = await heard.get()
    body = json.loads(message.data)
    jsonschema_rs.validator_for(
        schema_files.load(schema_files.REQUEST), validate_formats=True
    ).validate(body)
    assert message.headers == {"Nats-Msg-Id": f"{job}:1"}
    assert (body["job_id"], body["file_id"]) == (str(job), str(row["stored_file_id"]))
    assert body["s3"] == {"bucket": "arm-ka", "key": f"uploads/{row['stored_file_id']}/source.xlsx"}
    assert (body["attempt"], body["original_name"]) == (1, "ОСВ за 2023 год.xlsx")
    assert datetime.fromisoformat(body["reply_deadline"]) == row["reply_deadline"]
    assert (row["request_msg_id"], row["request_subject"]) == (f"{job}:1", TABULAR)
    assert row["published_at"] is not None
    assert (await world.file_of(job))["status"] == "PROCESSING"


async def test_the_subject_corresponds_to_the_pipeline(world: World) -> None:
    """«Subject SHALL соответствовать pipeline»."""
    heard = await world.listen(IMAGE)
    await world.core()
    job = await world.job(await world.file(file_type="PDF"), pipeline="image")
    assert json.loads((await heard.get()).data)["pipeline"] == "image"
    assert (await world.status(job, "published"))["request_subject"] == IMAGE


async def test_a_job_stays_queued_while_nats_is_away_and_is_published_when_it_returns(
    world: World,
) -> None:
    """«NATS недоступен»."""
    await world.core()
    await world.nats.stop()
    job = await world.job()
    core = world.cores[0]

    async def noticed() -> bool:
        return "waiting for a server" in core.said()

    await until(noticed)
    assert (await world.row(job))["status"] == "queued"
    await world.nats.start()
    heard = await world.listen(TABULAR)
    row = await world.status(job, "published")
    assert row["publish_count"] == 1
    assert (await heard.get()).headers == {"Nats-Msg-Id": f"{job}:1"}


async def test_an_acknowledged_job_is_processing(world: World) -> None:
    """«Сервис жив»."""
    await world.core()
    job = await world.job()
    await world.status(job, "published")
    await world.send(await world.envelope(job, "processing"), f"ack:{job}:1")
    row = await world.status(job, "processing")
    assert row["started_at"] is not None
    assert (row["service_name"], row["service_version"]) == ("test-parser", "9.9")


async def test_a_job_that_nobody_takes_is_published_again_and_then_given_up(world: World) -> None:
    """«Сервис недоступен»."""
    heard = await world.listen(TABULAR)
    await world.core(ACK_TIMEOUT_SECONDS=0.5, OUTBOX_MAX_REPUBLISH=3)
    job = await world.job()
    row = await world.status(job, "dlq")
    assert (row["error_code"], row["publish_count"], row["request_msg_id"]) == (
        "NO_ACK",
        4,
        f"{job}:1",
    )
    assert row["finished_at"] is not None
    assert heard.qsize() == 4
    assert [heard.get_nowait().headers for _ in range(4)] == [{"Nats-Msg-Id": f"{job}:1"}] * 4
    file = await world.file_of(job)
    assert (file["status"], file["error_code"]) == ("ERROR", "NO_ACK")
    assert await world.facts(job) == [("NO_ACK", "NO_ACK")]


async def test_a_successful_result_is_applied_and_the_file_waits_for_the_mapping(
    world: World,
) -> None:
    """«Успешный результат»: the mapping of another process is not run here, the file stays
    PROCESSING until it is.
    """
    await world.core(MAPPING_POLL_SECONDS=60)
    job = await world.job()
    await world.status(job, "published")
    envelope = await world.envelope(job, "done", metrics={"rows": 12})
    answer = await world.ask(envelope, f"result:{job}:1")
    assert answer == {"outcome": "applied"}
    row = await world.row(job)
    assert (row["status"], row["result_msg_id"]) == ("done", f"result:{job}:1")
    assert row["finished_at"] is not None
    assert json.loads(row["metrics"]) == {"rows": 12}
    stored = await world.db.fetchrow(
        "select * from s3_object where id = $1", row["result_s3_object_id"]
    )
    assert stored is not None
    assert stored["key"] == envelope["result_s3"]["key"]
    assert (stored["bucket_role"], stored["created_by"]) == ("results", "test-parser")


async def test_a_repeated_result_changes_nothing(world: World) -> None:
    """«Повторная доставка»."""
    await world.core()
    job = await world.job()
    await world.status(job, "published")
    envelope = await world.envelope(job, "error")
    assert (await world.ask(envelope, f"result:{job}:1"))["outcome"] == "applied"
    before = (await world.row(job), await world.db.fetch("select * from s3_object"))
    assert (await world.ask(envelope, f"result:{job}:1"))["outcome"] == "duplicate"
    assert (await world.row(job), await world.db.fetch("select * from s3_object")) == before
    assert await world.rejected(job) == []


async def test_an_error_of_the_service_fails_the_job_and_the_file_with_a_fact(world: World) -> None:
    """«Ошибка сервиса», «Факт отказа сервиса»."""
    await world.core()
    job = await world.job()
    await world.status(job, "published")
    error = {"code": "UNSUPPORTED_FORMAT", "message": "Формат не поддерживается"}
    await world.ask(await world.envelope(job, "error", error=error), f"result:{job}:1")
    row, file = await world.row(job), await world.file_of(job)
    assert (row["status"], row["error_code"], row["error_message"]) == ("error", *error.values())
    assert row["result_s3_object_id"] is None
    assert (file["status"], file["error_code"], file["error_message"]) == ("ERROR", *error.values())
    assert await world.facts(job) == [("SERVICE_ERROR", "UNSUPPORTED_FORMAT")]


async def test_a_result_after_the_timeout_is_kept_but_not_applied(world: World) -> None:
    """«Результат пришёл после таймаута»."""
    await world.core()
    job = await world.job(status="timeout", error_code="TIMEOUT")
    before = await world.row(job)
    answer = await world.ask(await world.envelope(job, "done"), f"result:{job}:1")
    assert answer["outcome"] == "late"
    assert await world.row(job) == before
    kept = await world.rejected(job)
    assert [item["reason"] for item in kept] == ["late"]
    assert (
        await world.db.fetchval("select count(*) from s3_object where bucket_role = 'results'") == 0
    )


async def test_a_raw_answer_is_registered(world: World) -> None:
    """«Сырой ответ зарегистрирован»."""
    await world.core()
    job = await world.job()
    await world.status(job, "published")
    await world.ask(
        await world.envelope(job, "done", raw_s3_key=f"raw/{job}.json"), f"result:{job}:1"
    )
    row = await world.row(job)
    raw = await world.db.fetchrow("select * from s3_object where id = $1", row["raw_s3_object_id"])
    assert raw is not None
    assert (raw["bucket_role"], raw["key"], raw["created_by"]) == (
        "raw",
        f"raw/{job}.json",
        "test-parser",
    )


async def test_a_service_that_took_the_job_and_never_answered_times_out(world: World) -> None:
    """«Сервис взял, но не ответил», «Сервис не ответил», «Факт таймаута»."""
    await world.core(WATCHDOG_PERIOD_SECONDS=0.5)
    past = datetime.now(UTC) - timedelta(seconds=1)
    for status in ("published", "processing"):
        job = await world.job(status=status, reply_deadline=past)
        row, file = await world.status(job, "timeout"), await world.file_of(job)
        assert (row["error_code"], file["status"], file["error_code"]) == (
            "TIMEOUT",
            "ERROR",
            "TIMEOUT",
        )
        assert row["finished_at"] is not None
        assert await world.facts(job) == [("TIMEOUT", "TIMEOUT")]


async def test_an_unknown_job_is_logged_and_kept(world: World) -> None:
    """«Неизвестный job_id SHALL быть залогирован»."""
    core = await world.core()
    job = await world.job()
    stranger = uuid4()
    envelope = (await world.envelope(job, "error")) | {"job_id": str(stranger)}
    assert (await world.ask(envelope, f"result:{stranger}:1"))["outcome"] == "unknown_job"
    assert [item["reason"] for item in await world.rejected(stranger)] == ["unknown_job"]
    assert str(stranger) in core.said()


async def test_without_nats_the_application_runs_and_no_background_task_does(world: World) -> None:
    """«NATS выключен»."""
    await world.nats.stop()
    core = await world.core(NATS_ENABLED="false", WATCHDOG_PERIOD_SECONDS=0.1)
    job = await world.job(status="published", reply_deadline=datetime.now(UTC) - timedelta(hours=1))
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"{core.url}/healthcheck")
    assert answer.status_code == 200
    assert answer.json()["loops"] == {}
    assert (await world.row(job))["status"] == "published"
    assert await core.stop() == 0
    assert RESULTS not in core.said()
