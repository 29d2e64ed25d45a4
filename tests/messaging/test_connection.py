"""A connection outlives its server, whatever becomes of it."""

import asyncio
from pathlib import Path

import pytest

from armka.messaging import connection as connection_module
from armka.messaging.connection import connected
from armka.messaging.plain import PlainPublisher, PlainReceiver
from armka.stack import NatsServer
from tests.messaging.credentials import OperatorMode
from tests.messaging.wire import heard, live, message, settings
from tests.world import until


async def test_a_server_that_starts_later_is_found(tmp_path: Path) -> None:
    """The process starts first; nothing is published meanwhile, nothing fails."""
    server = NatsServer(tmp_path / "nats", fsync=False)
    async with server:
        url = server.url
    async with connected(settings(url), name="early") as connection:
        assert not connection.is_live
        async with server, asyncio.timeout(20):
            await connection.wait_live()
            await PlainPublisher(connection).publish([message()])


async def test_after_every_kill_and_restart_the_subscription_is_made_again(
    nats_server: NatsServer,
) -> None:
    """B03: what is published after the restart is received, three times over."""
    async with connected(settings(nats_server.url), name="test") as connection:
        receiver = PlainReceiver(connection, "results", "queue")
        for n in range(3):
            async with asyncio.timeout(20):
                await connection.wait_live()
                assert receiver.heard_seconds() < 20
                async with heard(nats_server.url, "nothing"):
                    await PlainPublisher(connection).publish(
                        [message(b"%d" % n, subject="results")]
                    )
                (arrived,) = await receiver.take(10)
            assert arrived.body == b"%d" % n
            nats_server.kill()
            await nats_server.start()
            # Without the sleep of a poll: the old connection is gone for good.
            await until(lambda: _heard_anew(receiver))


async def _heard_anew(receiver: PlainReceiver) -> bool:
    return 0 < receiver.heard_seconds() < 5


async def test_a_frozen_server_is_noticed_and_left(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B05: by pings without answer, here one a second; after it thaws a new connection is made."""
    monkeypatch.setattr(connection_module, "PING_INTERVAL_SECONDS", 1)
    async with live(nats_server.url) as connection:
        first = connection.client
        nats_server.pause()
        try:

            async def left() -> bool:
                return not connection.is_live

            await until(left, seconds=25, pause=0.1)
        finally:
            nats_server.resume()
        async with asyncio.timeout(20):
            await connection.wait_live()
        assert connection.client is not first
        await PlainPublisher(connection).publish([message()])


async def test_a_user_with_nkey_and_jwt_is_let_in_and_others_are_not(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """N3 in operator mode: the right pair connects; a wrong seed, a broken seed and no credentials
    are tried again and again, and no secret reaches the log.
    """
    mode = OperatorMode()
    pair, other_seed = mode.user(), mode.user()["OPENBAO__NATS__NATS_SEED"]
    async with NatsServer(tmp_path / "nats", fsync=False, config=mode.config) as server:
        async with live(server.url, **pair) as connection:
            await PlainPublisher(connection).publish([message()])
        broken = "SUBROKENCANARY"
        for bad in ({}, pair | {"OPENBAO__NATS__NATS_SEED": other_seed},
                    pair | {"OPENBAO__NATS__NATS_SEED": broken}):  # fmt: skip
            async with connected(settings(server.url, **bad), name="stranger") as connection:

                async def refused() -> bool:
                    return "connected yet" not in connection.trouble

                await until(refused)
                assert not connection.is_live
                said = "".join(capfd.readouterr()) + connection.trouble
                assert said.count("nats not reachable") == 1
                for secret in (*pair.values(), other_seed, broken):
                    assert secret not in said


async def test_a_hook_that_fails_does_not_end_the_connection(nats_server: NatsServer) -> None:
    """An error that nobody foresaw is logged, and the connection is tried again."""
    async with connected(settings(nats_server.url), name="test") as connection:
        calls = 0

        async def hook(_client: object) -> None:
            nonlocal calls
            calls += 1
            if calls < 3:
                raise KeyError("unforeseen")

        connection.on_connect(hook)
        async with asyncio.timeout(20):
            await connection.wait_live()
        assert calls == 3
