"""What is received waits in a bounded buffer until it is settled, and its age can be asked for."""

import asyncio
from uuid import uuid4

import nats

from armka.contract.outcome import Outcome, OutcomeKind
from armka.messaging.connection import connected
from armka.messaging.plain import PlainReceiver
from armka.stack import NatsServer
from tests.messaging.wire import settings
from tests.world import until


async def test_a_message_is_heard_taken_settled_and_answered(nats_server: NatsServer) -> None:
    """I8: the answer goes to the reply subject; the lag is the age of what is not settled."""
    async with connected(settings(nats_server.url), name="test") as connection:
        receiver = PlainReceiver(connection, "results", "queue")
        assert receiver.heard_seconds() == 0
        await connection.wait_live()
        client = await nats.connect(nats_server.url)
        asked = asyncio.create_task(
            client.request("results", b"body", headers={"A": "б"}, timeout=10)
        )
        (incoming,) = await receiver.take(10)
        assert (incoming.subject, incoming.body, incoming.headers) == (
            "results",
            b"body",
            {"A": "б"},
        )
        assert receiver.lag_seconds() > 0
        assert not receiver.has_waiting()
        await receiver.settle([(incoming, Outcome(OutcomeKind.APPLIED))])
        assert receiver.lag_seconds() == 0
        assert b"applied" in (await asked).data
        await client.close()


async def test_replicas_of_a_queue_group_share_the_messages(nats_server: NatsServer) -> None:
    """Each message reaches one of them."""
    async with (
        connected(settings(nats_server.url), name="one") as one,
        connected(settings(nats_server.url), name="two") as two,
    ):
        receivers = [PlainReceiver(each, "results", "queue") for each in (one, two)]
        await one.wait_live()
        await two.wait_live()
        client = await nats.connect(nats_server.url)
        bodies = {uuid4().bytes for _ in range(200)}
        for body in bodies:
            await client.publish("results", body)
        await client.flush()
        got: list[bytes] = []

        async def all_came() -> bool:
            for receiver in receivers:
                if receiver.has_waiting():
                    got.extend(item.body for item in await receiver.take(1000))
            return len(got) >= len(bodies)

        await until(all_came)
        assert set(got) == bodies
        assert len(got) == len(bodies)
        await client.close()


async def test_a_full_buffer_holds_back_and_loses_nothing_that_fits(
    nats_server: NatsServer,
) -> None:
    """The buffer never holds more than its capacity; the order stays."""
    async with connected(settings(nats_server.url), name="test") as connection:
        receiver = PlainReceiver(connection, "results", "queue", capacity=10)
        await connection.wait_live()
        client = await nats.connect(nats_server.url)
        for n in range(100):
            await client.publish("results", b"%d" % n)
        await client.flush()
        got: list[bytes] = []
        async with asyncio.timeout(10):
            while len(got) < 100:
                batch = await receiver.take(1000)
                assert len(batch) <= 10
                got += [item.body for item in batch]
        assert got == [b"%d" % n for n in range(100)]
        await client.close()


async def test_what_was_dropped_was_not_heard(nats_server: NatsServer) -> None:
    """B08: after messages were lost in this process, hearing counts from that moment (O3)."""
    async with connected(settings(nats_server.url), name="test") as connection:
        receiver = PlainReceiver(connection, "results", "queue", capacity=1)
        await connection.wait_live()
        await until(lambda: _heard(receiver, 0.5))
        assert receiver._subscription is not None
        receiver._subscription[1]._pending_queue = asyncio.Queue(maxsize=1)
        client = await nats.connect(nats_server.url)
        for _ in range(50):
            await client.publish("results", b"x")
        await client.flush()

        async def anew() -> bool:
            return receiver.heard_seconds() < 0.5

        await until(anew)
        await client.close()


async def _heard(receiver: PlainReceiver, seconds: float) -> bool:
    return receiver.heard_seconds() > seconds


async def test_a_stopped_receiver_gives_out_what_it_has_and_no_more(
    nats_server: NatsServer,
) -> None:
    """Drain: what was received can be taken and answered; then `take` returns at once, empty."""
    async with connected(settings(nats_server.url), name="test") as connection:
        receiver = PlainReceiver(connection, "results", "queue")
        await connection.wait_live()
        client = await nats.connect(nats_server.url)
        asked = asyncio.create_task(client.request("results", b"before", timeout=10))
        await until(lambda: _has_waiting(receiver))
        await receiver.stop()
        assert receiver.heard_seconds() == 0
        await client.publish("results", b"after")
        await client.flush()
        (incoming,) = await receiver.take(10)
        await receiver.settle([(incoming, Outcome(OutcomeKind.DUPLICATE))])
        assert b"duplicate" in (await asked).data
        assert await receiver.take(10) == []
        await client.close()


async def _has_waiting(receiver: PlainReceiver) -> bool:
    return receiver.has_waiting()


async def test_an_answer_that_cannot_be_sent_is_no_failure(nats_server: NatsServer) -> None:
    """The server is away when the commit is done: the sender will ask again."""
    async with connected(settings(nats_server.url), name="test") as connection:
        receiver = PlainReceiver(connection, "results", "queue")
        await connection.wait_live()
        client = await nats.connect(nats_server.url)
        await client.publish("results", b"x", reply="somewhere")
        await client.close()
        (incoming,) = await receiver.take(1)
        await nats_server.stop()
        await receiver.settle([(incoming, Outcome(OutcomeKind.APPLIED))])
        assert receiver.lag_seconds() == 0
