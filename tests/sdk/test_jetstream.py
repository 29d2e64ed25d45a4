"""A service on the `jetstream` transport: a request stays in the stream until its result is stored.

The subjects are the stage's usual ones, captured by the stream, so that the played core hears the
same envelopes; it answers none, for the stream does.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.sdk import intake
from armka.sdk.replies import Replies
from armka.stack import NatsServer
from tests.exchange.streams import api, told
from tests.sdk.stage import QUICK, REQUESTS, RESULTS, Core, running
from tests.sdk.stage import until as holds
from tests.world import until


@pytest.fixture
def nats_settings(nats_server: NatsServer) -> NatsSettings:
    """A stream with the usual subjects, and a short ack wait."""
    return NatsSettings.model_validate(
        {
            "NATS_URL": nats_server.url,
            "NATS_TRANSPORT": "jetstream",
            "NATS_MANAGE_STREAM": "true",
            "NATS_SUBJECT_TABULAR_REQUEST": REQUESTS,
            "NATS_SUBJECT_RESULT": RESULTS,
            "NATS_ACK_WAIT_SECONDS": 1,
        }
    )


@pytest.fixture
async def core(nats_server: NatsServer, object_settings: ObjectSettings) -> AsyncIterator[Core]:
    async with Core(nats_server.url, ObjectStore(object_settings), answer=None) as core:
        yield core


def held(tmp_path: Path, name: str) -> dict[str, object]:
    return {"do": "wait", "begun": str(tmp_path / name), "until": str(tmp_path / "go")}


async def consumer(core: Core) -> dict[str, Any]:
    return await api(core.client, "CONSUMER.INFO.RECOGNITION.trial")


async def has_nothing_left(core: Core) -> bool:
    info = await consumer(core)
    return bool(info["num_pending"] == info["num_ack_pending"] == 0)


async def test_work_that_outlasts_the_ack_wait_is_done_once(
    core: Core, service, nats_server: NatsServer, tmp_path: Path
) -> None:
    """It is said to be in progress three times in an ack wait, and acknowledged when its result
    lies in the stream.
    """
    async with told(nats_server.url, "trial") as said:
        request = await core.order(held(tmp_path, "begun"))
        await core.statuses(request, 1)
        number = (await api(core.client, "STREAM.INFO.RECOGNITION"))["state"]["last_seq"] - 1
        await said.works_on(number, 3 * 4)
        assert number not in said.acknowledged
        (tmp_path / "go").touch()
        assert await core.statuses(request) == ["processing", "done"]
        assert await said.acknowledges(number) == 1
    assert (await consumer(core))["num_redelivered"] == 0


async def test_only_free_slots_are_taken(core: Core, service, tmp_path: Path) -> None:
    """The rest waits in the stream, for whoever is free first; nothing is lost of it."""
    await until(lambda: has_nothing_left(core))
    before = (await consumer(core))["delivered"]["consumer_seq"]
    requests = [await core.order(held(tmp_path, f"begun{n}")) for n in range(6)]
    for n in range(QUICK.concurrency):
        await holds((tmp_path / f"begun{n}").exists)
    info = await consumer(core)
    assert info["num_ack_pending"] == QUICK.concurrency
    assert info["delivered"]["consumer_seq"] == before + QUICK.concurrency
    (tmp_path / "go").touch()
    for request in requests:
        assert await core.statuses(request) == ["processing", "done"]
    await until(lambda: has_nothing_left(core))


async def test_what_is_not_done_in_time_goes_to_another_instance(
    core: Core, nats_settings: NatsSettings, object_settings: ObjectSettings, tmp_path: Path
) -> None:
    """SIGTERM: no job is answered as not done, since somebody else will do it."""
    settings = QUICK.model_copy(update={"drain_seconds": 0.1})
    async with running(nats_settings, object_settings, settings) as it:
        requests = [await core.order(held(tmp_path, f"begun{n}")) for n in range(3)]
        for request in requests[: QUICK.concurrency]:
            await core.statuses(request, 1)
        it.stop.set()
        await it.done
    assert {one.status for request in requests for one in core.of(request)} == {"processing"}
    (tmp_path / "go").touch()
    async with running(nats_settings, object_settings):
        for request in requests:
            assert (await core.result(request)).status == "done"
        await until(lambda: has_nothing_left(core))


async def test_a_repeat_of_a_job_in_work_waits_for_its_result(
    core: Core, service, tmp_path: Path
) -> None:
    """C4.4, N4: after a lost stream the repeat may be the only copy: it is acknowledged with the
    job, not before.
    """
    request = await core.order(held(tmp_path, "begun"))
    await core.statuses(request, 1)
    await core.client.publish(REQUESTS, json.dumps(request).encode())

    async def both_are_in_hand() -> bool:
        return bool((await consumer(core))["num_ack_pending"] == 2)

    await until(both_are_in_hand)
    (tmp_path / "go").touch()
    assert (await core.result(request)).status == "done"
    await until(lambda: has_nothing_left(core))


async def test_a_job_lost_to_an_unforeseen_error_is_taken_on_again(
    core: Core, service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same instance may be the only one: the redelivered request is no repeat to it."""
    answer = Replies.result
    failures: list[Any] = []

    def fail_once(self: Replies, *args: Any) -> Any:
        if not failures:
            failures.append(args)
            raise RuntimeError("unforeseen")
        return answer(self, *args)

    monkeypatch.setattr(Replies, "result", fail_once)
    monkeypatch.setattr(intake, "_NOT_MET_SECONDS", 0.2)
    request = await core.order({"do": "read"})
    assert (await core.result(request)).status == "done"
    assert failures
    await until(lambda: has_nothing_left(core))


async def test_a_result_waits_for_room_in_the_stream(core: Core, service, tmp_path: Path) -> None:
    """A PubAck that refuses is no answer: the same result is sent again until it is taken."""
    request = await core.order(held(tmp_path, "begun"))
    await core.statuses(request, 1)
    config = (await api(core.client, "STREAM.INFO.RECOGNITION"))["config"]
    count = (await api(core.client, "STREAM.INFO.RECOGNITION"))["state"]["messages"]
    full = config | {"max_msgs": count, "discard": "new"}
    assert "error" not in await api(core.client, "STREAM.UPDATE.RECOGNITION", full)
    (tmp_path / "go").touch()
    await core.statuses(request, 3)  # heard twice at least, by whoever listens beside the stream
    info = await api(core.client, "STREAM.INFO.RECOGNITION")
    assert info["state"]["messages"] == count
    await api(core.client, "STREAM.UPDATE.RECOGNITION", config | {"max_msgs": -1})
    await until(lambda: has_nothing_left(core))
