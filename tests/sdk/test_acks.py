"""Acks reach the wire in order, and survive the want of a connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from armka.messaging.connection import Connection
from armka.messaging.messages import Outgoing
from armka.messaging.plain import PlainPublisher
from armka.messaging.settings import NatsSettings
from armka.sdk.acks import Acks
from tests.sdk.stage import Core


def ack(n: int) -> Outgoing:
    return Outgoing("acks", str(n).encode(), {"Nats-Msg-Id": f"ack:{n}"})


@pytest.fixture
async def heard(core: Core) -> "asyncio.Queue[str]":
    heard = asyncio.Queue[str]()

    async def hear(message) -> None:
        heard.put_nowait(message.data.decode())

    await core.client.subscribe("acks", cb=hear)
    await core.client.flush()
    return heard


@pytest.fixture
def connection(nats_settings: NatsSettings) -> Connection:
    """One that is not being made yet."""
    return Connection(nats_settings, name="test")


@contextlib.asynccontextmanager
async def background(*works) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(work) for work in works]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_acks_wait_for_a_connection(connection: Connection, heard):
    acks = Acks(PlainPublisher(connection), connection)
    async with background(acks.run()):
        sent = [acks.send(ack(n)) for n in range(3)]
        await asyncio.sleep(0)
        assert heard.empty()
        assert not any(it.done() for it in sent)

        async with background(connection.run()):
            async with asyncio.timeout(10):
                await asyncio.gather(*sent)
                assert [await heard.get() for _ in range(3)] == ["0", "1", "2"]


async def test_an_ack_that_is_wanted_no_more_is_not_sent(connection: Connection, heard):
    acks = Acks(PlainPublisher(connection), connection)
    sent = [acks.send(ack(n)) for n in range(3)]
    sent[1].cancel()

    async with background(acks.run(), connection.run()), asyncio.timeout(10):
        assert [await heard.get() for _ in range(2)] == ["0", "2"]


async def test_one_that_can_never_be_sent_holds_back_no_other(connection: Connection, heard):
    acks = Acks(PlainPublisher(connection), connection)
    large = acks.send(Outgoing("acks", b"x" * 2 * 1024 * 1024, {}))
    acks.send(ack(1)).add_done_callback(lambda _: None)

    async with background(acks.run(), connection.run()), asyncio.timeout(10):
        assert await heard.get() == "1"
        await large
