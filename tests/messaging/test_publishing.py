"""A burst is published when the live connection answered after it, and never otherwise."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armka.messaging.connection import (
    CONFIRM_TIMEOUT_SECONDS,
    Connection,
    NotConfirmed,
    NotConnected,
    confirm,
)
from armka.messaging.plain import PlainPublisher
from armka.stack import NatsServer
from tests.messaging.wire import SUBJECT, heard, live, message
from tests.world import until


async def test_a_confirmed_burst_has_arrived_in_its_order(nats_server: NatsServer) -> None:
    """With bodies and headers, also non-ASCII ones."""
    async with (
        heard(nats_server.url, SUBJECT) as queue,
        live(nats_server.url) as connection,
    ):
        burst = [message(b"%d" % n, Name="ОСВ") for n in range(500)]
        published = await PlainPublisher(connection).publish(burst)
        assert (published.too_large, published.forbidden) == ({}, {})
        arrived = [await queue.get() for _ in burst]
    assert [item.data for item in arrived] == [item.body for item in burst]
    assert arrived[0].headers == {"Nats-Msg-Id": "1", "Name": "ОСВ"}


async def test_a_message_too_large_fails_alone_and_the_connection_lives(
    nats_server: NatsServer,
) -> None:
    """Body and headers count together; the server would hang up over either."""
    async with (
        heard(nats_server.url, SUBJECT) as queue,
        live(nats_server.url) as connection,
    ):
        client = connection.client
        limit = client.max_payload
        burst = [
            message(b"first"),
            message(b"x" * (limit + 1)),
            message(b"x" * (limit - 10)),
            message(b"x", Large="y" * limit),
            message(b"last"),
        ]
        published = await PlainPublisher(connection).publish(burst)
        assert set(published.too_large) == {1, 2, 3}
        assert str(limit) in published.too_large[1]
        assert [(await queue.get()).data for _ in range(2)] == [b"first", b"last"]
        assert connection.client is client


async def test_without_a_server_nothing_is_published(nats_server: NatsServer) -> None:
    """Not connected before, and not during."""
    async with live(nats_server.url) as connection:
        publisher = PlainPublisher(connection)
        await nats_server.stop()
        with pytest.raises((NotConnected, NotConfirmed)):
            await publisher.publish([message()])
        await until(lambda: _is(not connection.is_live))
        with pytest.raises(NotConnected):
            await publisher.publish([message()])


async def test_a_frozen_server_never_confirms_and_bounds_the_wait(
    nats_server: NatsServer,
) -> None:
    """B06, B07, O1: a small burst that fits the socket, and a large one that does not."""
    async with live(nats_server.url) as one, live(nats_server.url) as two:
        nats_server.pause()
        try:
            begun = time.monotonic()
            outcomes = await asyncio.gather(
                PlainPublisher(one).publish([message(b"{}")] * 40),
                PlainPublisher(two).publish([message(b"x" * 900_000)] * 40),
                return_exceptions=True,
            )
            assert [type(outcome) for outcome in outcomes] == [NotConfirmed, NotConfirmed]
            assert time.monotonic() - begun < 3 * CONFIRM_TIMEOUT_SECONDS
        finally:
            nats_server.resume()


async def test_a_late_answer_neither_confirms_nor_deafens(nats_server: NatsServer) -> None:
    """The PONG of a burst that was given up comes after all: the next burst is confirmed by its
    own, and what others send is still heard.
    """
    async with live(nats_server.url) as connection:
        client = connection.client
        received: asyncio.Queue[bytes] = asyncio.Queue()

        async def receive(arrived: object) -> None:
            received.put_nowait(getattr(arrived, "data", b""))

        await client.subscribe("somewhere", cb=receive)
        nats_server.pause()
        with pytest.raises(NotConfirmed):
            await confirm(client, 0.2)
        nats_server.resume()
        await PlainPublisher(connection).publish([message(subject="somewhere")])
        async with asyncio.timeout(10):
            assert await received.get() == b"{}"
        assert connection.client is client


async def test_a_connection_whose_reader_has_died_counts_as_lost(nats_server: NatsServer) -> None:
    """It cannot confirm anything, and is made again."""
    async with live(nats_server.url) as connection:
        deaf = connection.client
        reader = deaf._reading_task
        assert reader is not None
        reader.cancel()
        await asyncio.wait({reader})
        with pytest.raises((NotConfirmed, NotConnected)):
            await confirm(deaf)
        await until(lambda: _is(connection.is_live))
        assert connection.client is not deaf
        await PlainPublisher(connection).publish([message()])


PERMISSIONS = """
authorization {
  users = [
    { user: admin, password: admin }
    { user: core, password: canary, permissions: {
        publish: ["files.tabular_uploaded", "_INBOX.>"], subscribe: [">"] } }
  ]
}
"""


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """A server that lets `core` publish to one subject only."""
    async with NatsServer(tmp_path / "guarded", fsync=False, config=PERMISSIONS) as server:
        yield server


async def test_a_missing_permission_is_reported_for_its_subject_alone(
    guarded: NatsServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """B10: the server refuses in silence; the burst says which messages it refused, and the
    credentials of the address are not in the log.
    """
    url = guarded.url.replace("//", "//core:canary@")
    admin = guarded.url.replace("//", "//admin:admin@")
    async with heard(admin, "files.>") as queue, live(url) as connection:
        burst = [
            message(b"1"),
            message(b"2", subject="files.img_uploaded"),
            message(b"3"),
            message(b"4", subject="files.img_uploaded"),
        ]
        for _ in range(2):
            published = await PlainPublisher(connection).publish(burst)
            assert set(published.forbidden) == {1, 3}
            assert "files.img_uploaded" in published.forbidden[1]
            assert published.too_large == {}
            assert [(await queue.get()).data for _ in range(2)] == [b"1", b"3"]
        assert queue.empty()
        await _reports_are_bounded(connection)
    said = "".join(capfd.readouterr())
    assert "nats connected" in said
    assert "canary" not in said


async def _reports_are_bounded(connection: Connection) -> None:
    """Nobody has to ask for the errors, and the same one is kept once."""
    connection.permission_errors()
    for _ in range(50):
        await connection.client.publish("files.img_uploaded", b"")
    await confirm(connection.client)
    assert len(connection.permission_errors()) == 1


async def _is(fact: bool) -> bool:
    return fact
