"""I8: a result is sent until somebody answers for it."""

import asyncio
import itertools
import json
import time

import pytest

from armka.contract.outcome import Outcome, OutcomeKind
from armka.messaging.connection import connected
from armka.messaging.delivery import Captured, Deliverer, TooLargeToSend
from armka.messaging.messages import Outgoing
from armka.messaging.settings import NatsSettings
from tests.sdk.stage import QUICK, Core, Running, running


async def test_an_unanswered_result_is_repeated_unchanged(core: Core, service: Running):
    core.answer = None
    request = await core.order({"do": "read"})
    await core.statuses(request, 4)
    core.answer = b'{"outcome":"applied"}'

    _, *results = core.of(request)
    assert len(results) >= 3
    assert all(it.body == results[0].body and it.msg_id == results[0].msg_id for it in results)
    assert all(it.reply for it in results)


@pytest.mark.parametrize("outcome", list(OutcomeKind))
async def test_any_outcome_ends_the_repeats(core: Core, service: Running, outcome):
    core.answer = json.dumps({"outcome": outcome, "reason": "because"}).encode()
    request = await core.order({"do": "read"})
    await core.result(request)

    await a_repeat_would_have_come(core)
    assert [it.status for it in core.of(request)] == ["processing", "done"]


async def test_an_answer_that_is_none_is_no_answer(core: Core, service: Running):
    core.answer = b"+ACK"
    request = await core.order({"do": "read"})

    assert (await core.statuses(request, 3))[1:3] == ["done"] * 2
    core.answer = b'{"outcome":"applied"}'


async def test_a_result_waits_for_a_core_that_is_absent(core: Core, service: Running):
    request = await core.upload({"do": "read"})
    await core.stop_listening()
    await core.send(request)
    await core.object_of(request)  # it is done, and nobody has heard
    await core.listen()

    assert (await core.result(request)).status == "done"


async def test_repeats_end_with_the_deadline(nats_server, core: Core):
    """With pauses of 0.2 and 0.4 s, no third sending fits into half a second."""
    async with connected(NatsSettings(url=nats_server.url), name="test") as connection:
        await connection.wait_live()
        deliverer = Deliverer(connection, pause_seconds=0.2, last_chance_seconds=3)
        sent = asyncio.Queue[float]()
        await listen(core, sent)

        answer = await deliverer.deliver(RESULT, until=time.time() + 0.5)

    assert answer is None
    assert 1 <= sent.qsize() <= 2


async def test_a_stream_that_takes_the_result_answers_for_the_core(
    core: Core, nats_settings: NatsSettings, object_settings
):
    """An operator's stream captures the subject; its PubAck is the answer."""
    core.answer = None
    await core.client.jetstream().add_stream(name="KEPT", subjects=["files.tabular_parsed"])
    async with running(nats_settings, object_settings, QUICK):
        request = await core.order({"do": "read"})
        await core.result(request)
        await a_repeat_would_have_come(core)

    assert [it.status for it in core.of(request)] == ["processing", "done"]


async def a_repeat_would_have_come(core: Core) -> None:
    """Several pauses pass, and with them whatever a service would send in them."""
    loop = asyncio.get_running_loop()
    enough = loop.time() + 5 * QUICK.repeat_seconds
    while loop.time() < enough:
        await asyncio.sleep(0.05)
        await core.client.flush()


RESULT = Outgoing("files.tabular_parsed", b"{}", {"Nats-Msg-Id": "result:1:1"})


async def test_the_pause_grows_and_starts_anew_with_a_new_connection(nats_server, core: Core):
    """Sent at 0, 0.3, 0.9 and 2.1 s or a little later; on a new connection at once."""
    async with connected(NatsSettings(url=nats_server.url), name="test") as connection:
        deliverer = Deliverer(connection, pause_seconds=0.3)
        sent = asyncio.Queue[float]()
        await listen(core, sent)
        delivery = asyncio.create_task(deliverer.deliver(RESULT, until=4e9))
        times = [await sent.get() for _ in range(4)]

        nats_server.kill()
        await nats_server.start()
        await core.connect()
        await listen(core, sent)
        times += [await sent.get() for _ in range(3)]
        delivery.cancel()

    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert pauses[0] >= 0.3
    assert pauses[1] >= 0.6
    assert pauses[2] >= 1.2
    assert pauses[4] < pauses[2], "the short pause again"


async def listen(core: Core, sent: "asyncio.Queue[float]") -> None:
    async def hear(_: object) -> None:
        sent.put_nowait(asyncio.get_running_loop().time())

    await core.client.subscribe("files.tabular_parsed", cb=hear)
    await core.client.flush()


async def test_an_outcome_and_a_capture_can_be_told_apart(nats_server, core: Core):
    async with connected(NatsSettings(url=nats_server.url), name="test") as connection:
        deliverer = Deliverer(connection, pause_seconds=0.2)

        async def answer(message) -> None:
            await core.client.publish(message.reply, b'{"outcome":"late","reason":"too late"}')

        await core.client.subscribe("answered", cb=answer)
        await core.client.jetstream().add_stream(name="KEPT", subjects=["kept"])

        outcome = await deliverer.deliver(Outgoing("answered", b"{}", {}), until=0)
        captured = await deliverer.deliver(Outgoing("kept", b"{}", {}), until=0)

    assert outcome == Outcome(OutcomeKind.LATE, "too late")
    assert captured == Captured("KEPT", 1)


async def test_nobody_answers_for_a_message_in_time(nats_server):
    async with connected(NatsSettings(url=nats_server.url), name="test") as connection:
        deliverer = Deliverer(connection, pause_seconds=0.2, last_chance_seconds=0.5)

        assert await deliverer.deliver(RESULT, until=0) is None


async def test_a_message_above_max_payload_is_not_sent(nats_server):
    """The server would close the connection over it."""
    async with connected(NatsSettings(url=nats_server.url), name="test") as connection:
        deliverer = Deliverer(connection, pause_seconds=0.2)
        message = Outgoing("any", b"x" * 1024 * 1024, {"Nats-Msg-Id": "x"})

        with pytest.raises(TooLargeToSend):
            await deliverer.deliver(message, until=2e9)
        assert connection.is_live
