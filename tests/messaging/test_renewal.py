"""Credentials are read again: before they end, after they ended, while their store is away."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from armka.messaging.connection import connected
from armka.messaging.credentials import JWT_FIELD, SEED_FIELD
from armka.messaging.plain import PlainPublisher, PlainReceiver
from armka.stack import NatsServer
from tests.messaging.credentials import OperatorMode
from tests.messaging.wire import live, message, settings
from tests.world import until


class Store:
    """A store of secrets that the test fills, and takes away."""

    refresh_seconds = 0.1

    def __init__(self) -> None:
        self.fields: dict[str, SecretStr] = {}
        self.is_away = False
        self.reads = 0

    def put(self, pair: Mapping[str, str]) -> None:
        self.fields = {
            name.removeprefix("OPENBAO__"): SecretStr(value) for name, value in pair.items()
        }

    async def read(self) -> Mapping[str, SecretStr]:
        self.reads += 1
        if self.is_away:
            raise ConnectionRefusedError("the store is away")
        return self.fields


@pytest.fixture
def mode() -> OperatorMode:
    return OperatorMode()


@pytest.fixture
async def server(mode: OperatorMode, tmp_path: Path) -> AsyncIterator[NatsServer]:
    async with NatsServer(tmp_path / "nats", fsync=False, config=mode.config) as server:
        yield server


async def test_a_jwt_that_ends_is_followed_by_the_fresh_one(
    mode: OperatorMode, server: NatsServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """B01: the fresh one is stored only after the end; the client library gave up for ever."""
    store = Store()
    store.put(mode.user(seconds=2))
    async with connected(settings(server.url), name="test", secrets=store) as connection:
        async with asyncio.timeout(20):
            await connection.wait_live()
        receiver = PlainReceiver(connection, "somewhere", "queue")
        first = connection.client

        async def ended() -> bool:
            return not connection.is_live and "expired at" in connection.trouble

        await until(ended)
        assert first.is_closed
        store.put(mode.user())
        async with asyncio.timeout(15):
            await connection.wait_live()
        await PlainPublisher(connection).publish([message(subject="somewhere")])
        async with asyncio.timeout(10):
            assert len(await receiver.take(1)) == 1
    assert "put a fresh one in its place" in "".join(capfd.readouterr())


async def test_a_fresh_jwt_is_taken_on_without_losing_a_message(
    mode: OperatorMode, server: NatsServer
) -> None:
    """While another client publishes all the time: the new connection listens before the old one
    ends.
    """
    store = Store()
    store.put(mode.user())
    async with (
        live(server.url, **mode.user()) as other,
        connected(settings(server.url), name="test", secrets=store) as connection,
    ):
        receiver = PlainReceiver(connection, "somewhere", "queue")
        async with asyncio.timeout(20):
            await connection.wait_live()
        publisher, sent, got = PlainPublisher(other), 0, set[bytes]()
        for _ in range(3):
            former = connection.client
            store.put(mode.user())
            async with asyncio.timeout(20):
                while connection.client is former or not former.is_closed:
                    await publisher.publish([message(b"%d" % sent, subject="somewhere")])
                    sent += 1
                    if receiver.has_waiting():
                        got |= {it.body for it in await receiver.take(1000)}
        async with asyncio.timeout(20):
            while len(got) < sent:
                got |= {it.body for it in await receiver.take(1000)}
    assert got == {b"%d" % n for n in range(sent)}


async def test_while_the_store_is_away_the_last_known_credentials_serve(
    mode: OperatorMode, server: NatsServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """A live connection stays, a lost one is made again with them; said once."""
    store = Store()
    store.put(mode.user())
    async with connected(settings(server.url), name="test", secrets=store) as connection:
        async with asyncio.timeout(20):
            await connection.wait_live()
        client = connection.client
        store.is_away, store.reads = True, 0

        async def asked_in_vain() -> bool:
            return store.reads > 3

        await until(asked_in_vain)
        assert connection.client is client
        server.kill()
        await server.start()

        async def back() -> bool:
            return connection.is_live and connection.client is not client

        await until(back)
    assert "".join(capfd.readouterr()).count("last known nats credentials stay in use") == 1


async def test_without_any_credentials_nothing_is_tried(
    mode: OperatorMode, server: NatsServer
) -> None:
    """The store away at the start, then without the JWT, then whole: it says what is missing, and
    connects by itself.
    """
    store, pair = Store(), mode.user()
    store.is_away = True
    async with connected(settings(server.url), name="test", secrets=store) as connection:
        for trouble in ("the store is away", f"{JWT_FIELD} is missing"):

            async def said(trouble: str = trouble) -> bool:
                return trouble in connection.trouble

            await until(said)
            store.is_away = False
            store.put({SEED_FIELD: pair["OPENBAO__NATS__NATS_SEED"]})
        store.put(pair)
        async with asyncio.timeout(20):
            await connection.wait_live()


async def test_wrong_new_credentials_leave_the_connection_alone(
    mode: OperatorMode, server: NatsServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are tried beside it, and refused."""
    store = Store()
    store.put(mode.user())
    async with connected(settings(server.url), name="test", secrets=store) as connection:
        async with asyncio.timeout(20):
            await connection.wait_live()
        client = connection.client
        store.put(OperatorMode().user())
        said = ""

        async def refused() -> bool:
            nonlocal said
            said += "".join(capfd.readouterr())
            return "nats not reachable" in said

        await until(refused)
        assert connection.client is client
        await PlainPublisher(connection).publish([message()])


async def test_the_environments_pair_goes_before_the_store(
    mode: OperatorMode, server: NatsServer
) -> None:
    """And the store is not asked."""
    store = Store()
    given = settings(server.url, **mode.user())
    async with connected(given, name="test", secrets=store) as connection, asyncio.timeout(20):
        await connection.wait_live()
    assert store.reads == 0


# ── TLS ──


@pytest.fixture
def authority(tmp_path: Path) -> dict[str, str]:
    """A CA, and certificates of a server and of a client, as files."""
    authority = trustme.CA()
    paths = {name: str(tmp_path / f"{name}.pem") for name in ("ca", "server", "client", "key")}
    authority.cert_pem.write_to_path(paths["ca"])
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(paths["server"])
    client = authority.issue_cert("core@bank")
    client.private_key_pem.write_to_path(paths["key"])
    client.cert_chain_pems[0].write_to_path(paths["client"])
    return paths


def _tls(paths: Mapping[str, str], more: str = "") -> str:
    server = f'cert_file: "{paths["server"]}", key_file: "{paths["server"]}"'
    return f'tls {{ {server}, ca_file: "{paths["ca"]}", {more} }}'


@pytest.mark.parametrize("more", ["", "verify: true", 'handshake_first: "300ms"'])
async def test_over_tls_with_a_certificate_of_ones_own(
    tmp_path: Path, authority: Mapping[str, str], more: str
) -> None:
    """Also where the server asks for one, and where it greets nobody without."""
    config = _tls(authority, more)
    async with NatsServer(tmp_path / "nats", fsync=False, config=config) as server:
        given = {
            "NATS_TLS_CA_FILE": authority["ca"],
            "NATS_TLS_CERT_FILE": authority["client"],
            "NATS_TLS_KEY_FILE": authority["key"],
            "NATS_TLS_FIRST": "handshake_first" in more,
        }
        async with live(server.url.replace("nats://", "tls://"), **given) as connection:
            await PlainPublisher(connection).publish([message()])


async def test_a_server_of_another_authority_is_not_spoken_to(
    tmp_path: Path, authority: Mapping[str, str]
) -> None:
    """Nor one without TLS where TLS is demanded: no JWT is shown to it."""
    stranger = tmp_path / "stranger.pem"
    trustme.CA().cert_pem.write_to_path(str(stranger))
    mode = OperatorMode()
    for name, config, said in (
        ("tls", f"{_tls(authority)}\n{mode.config}", "certificate verify failed"),
        ("plain", mode.config, "offers no TLS"),
    ):
        async with NatsServer(tmp_path / name, fsync=False, config=config) as server:
            given = settings(server.url, NATS_TLS_CA_FILE=str(stranger), **mode.user())
            async with connected(given, name="test") as connection:

                async def refused(connection=connection, said=said) -> bool:
                    return said in connection.trouble

                await until(refused)
