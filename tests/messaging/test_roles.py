"""Least privilege, on a real server that was set up by the product's own command."""

import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import nats
import pytest
from nats.js.api import ConsumerConfig, StreamConfig

from armka.contract.subjects import CORE_RESULTS, DEFAULTS
from armka.contract.vocabulary import Pipeline
from armka.messaging.connection import Connection, confirm, connected
from armka.messaging.messages import Outgoing
from armka.messaging.plain import PlainPublisher, PlainReceiver
from armka.messaging.setup.folder import write
from armka.messaging.setup.roles import SERVICES, roles
from armka.messaging.transport import Inbound, ends
from armka.stack import NatsServer
from tests.messaging.credentials import pair
from tests.messaging.wire import settings
from tests.world import until

ROLES = ("core", "tabular-parser", "scan-gateway", "bank-ocr", "operator")
REQUESTS = {
    "tabular-parser": ("files.tabular_uploaded", "recognition.tabular.request"),
    "scan-gateway": ("files.img_uploaded", "recognition.image.request"),
    "bank-ocr": ("files.img_uploaded", "recognition.image.request"),
}
RESULTS = ("files.tabular_parsed", "recognition.result")
CONSUMERS = ("arm-core-results", *REQUESTS)
SUBJECTS = (
    *dict.fromkeys(subject for pair in REQUESTS.values() for subject in pair),
    *RESULTS,
    "files.other",
    "recognition.other",
)

ADVISORY = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.RECOGNITION.arm-core-results"

# Everything that somebody might try to publish to, and the patterns to listen to.
PUBLISHED = (
    *SUBJECTS,
    *(f"_INBOX.{role}.x" for role in ROLES),
    "_INBOX.x",
    *(f"$JS.API.STREAM.{do}.RECOGNITION" for do in
      ("INFO", "CREATE", "UPDATE", "DELETE", "PURGE", "MSG.GET", "MSG.DELETE", "SNAPSHOT")),
    "$JS.API.STREAM.CREATE.OTHER",
    "$JS.API.STREAM.NAMES",
    "$JS.API.DIRECT.GET.RECOGNITION",
    *(f"$JS.API.CONSUMER.{do}.RECOGNITION.{consumer}" for consumer in CONSUMERS for do in
      ("INFO", "DELETE", "MSG.NEXT", "CREATE", "DURABLE.CREATE")),
    *(f"$JS.API.CONSUMER.CREATE.RECOGNITION.{consumer}.{subject}"
      for consumer in CONSUMERS for subject in SUBJECTS),
    *(f"$JS.ACK.RECOGNITION.{consumer}.1.1.1.1.1" for consumer in CONSUMERS),
    "$SYS.REQ.USER.INFO",
    "$SYS.REQ.SERVER.PING",
)  # fmt: skip
HEARD = (
    *((subject, "") for subject in SUBJECTS),
    *((subject, queue) for subject in SUBJECTS for queue in CONSUMERS),
    *((f"_INBOX.{role}.>", "") for role in ROLES),
    *((pattern, "") for pattern in (">", "files.>", "recognition.>", "_INBOX.>", "$JS.>")),
    (ADVISORY, ""),
    (ADVISORY, "arm-core-results"),
    ("$SYS.>", ""),
)


def may_publish(role: str, subject: str) -> bool:
    """The documented permissions, said a second time."""
    if subject == "$SYS.REQ.USER.INFO":
        return True
    if role == "operator":
        return subject.startswith("$JS.API.")
    consumer = "arm-core-results" if role == "core" else role
    own = RESULTS if role == "core" else REQUESTS[role]
    stream = "$JS.API.STREAM.INFO.RECOGNITION"
    mine = {f"$JS.API.CONSUMER.{do}.RECOGNITION.{consumer}" for do in ("INFO", "MSG.NEXT")}
    mine |= {f"$JS.API.CONSUMER.CREATE.RECOGNITION.{consumer}.{subject}" for subject in own}
    mine |= {stream, f"$JS.ACK.RECOGNITION.{consumer}.1.1.1.1.1"}
    if role == "core":
        mine |= {subject for pair in REQUESTS.values() for subject in pair}
        mine |= {"$JS.API.STREAM.MSG.GET.RECOGNITION"}
    else:
        mine |= set(RESULTS)
    return subject in mine


def may_subscribe(role: str, subject: str, queue: str) -> bool:
    if subject == f"_INBOX.{role}.>":
        return True
    if role == "operator" and subject.startswith("$JS.EVENT."):
        return True
    if role == "operator":
        return queue in {"", *CONSUMERS} and subject in set(SUBJECTS[:4]) | set(RESULTS)
    if role == "core":
        return subject in {*RESULTS, ADVISORY} and queue == "arm-core-results"
    return subject in REQUESTS[role] and queue == role


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `armka nats-setup` makes, with a third party's service."""
    folder = tmp_path_factory.mktemp("setup") / "nats"
    command = ["nats-setup", str(folder), "--service", "bank-ocr=image", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "armka.cli", *command], capture_output=True, check=True
    )
    assert set(json.loads(done.stdout)["users"]) == set(ROLES)
    return folder


@pytest.fixture
async def server(folder: Path, tmp_path: Path) -> AsyncIterator[NatsServer]:
    config = (folder / "accounts.conf").read_text()
    async with NatsServer(tmp_path / "nats", fsync=False, config=config) as server:
        yield server


@contextlib.asynccontextmanager
async def user(server: NatsServer, folder: Path, role: str) -> AsyncIterator[Connection]:
    """A live connection of a role."""
    given = settings(server.url, **pair(folder, role))
    async with connected(given, name="test", role=role) as connection, asyncio.timeout(20):
        await connection.wait_live()
        yield connection


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_may_do_what_it_must_and_nothing_else(
    server: NatsServer, folder: Path, role: str
) -> None:
    """Every subject of the exchange, of others' inboxes and of JetStream, tried on the server."""
    async with user(server, folder, role) as connection:
        client = connection.client
        for subject in PUBLISHED:
            await client.publish(subject, b"")
        for subject, queue in HEARD:
            await client.subscribe(subject, queue)
        await confirm(client)
        refused = connection.permission_errors()
    # The client library tells the server's words in small letters.
    published = {text.split('"')[1] for text in refused if "publish to" in text.lower()}
    assert published == {it.lower() for it in PUBLISHED if not may_publish(role, it)}
    subscribed = {_subscription(text) for text in refused if "subscription to" in text.lower()}
    assert subscribed == {
        (subject.lower(), queue)
        for subject, queue in HEARD
        if not may_subscribe(role, subject, queue)
    }


def _subscription(text: str) -> tuple[str, str]:
    """Subject and queue of `… subscription to "subject" using queue "queue"`."""
    words = text.split('"')
    return words[1], words[3] if len(words) > 3 else ""


async def test_a_result_is_answered_and_nobody_is_spoken_to_unasked(
    server: NatsServer, folder: Path
) -> None:
    """The core may publish to the reply subject of what it received, once."""
    async with user(server, folder, "core") as core, user(server, folder, "bank-ocr") as bank:
        receiver = PlainReceiver(core, "files.tabular_parsed", "arm-core-results")
        await receiver._subscribe(core.client)
        asking = asyncio.create_task(bank.client.request("files.tabular_parsed", b"?", timeout=10))
        (incoming,) = await receiver.take(1)
        assert incoming.reply.startswith("_INBOX.bank-ocr.")
        for _ in range(2):
            await core.client.publish(incoming.reply, b"!")
        assert (await asking).data == b"!"
        await core.client.publish(f"{incoming.reply[:-3]}abc", b"!")
        await confirm(core.client)
        assert len(core.permission_errors()) == 2


async def test_requests_reach_their_service_and_no_other(server: NatsServer, folder: Path) -> None:
    """Over a durable consumer that the service makes for its own subject, on the stream that the
    operator made: published by the core, taken, acknowledged.
    """
    subject = "recognition.image.request"
    async with user(server, folder, "operator") as operator:
        stream = StreamConfig(name="RECOGNITION", subjects=["recognition.>"])
        await operator.client.jetstream().add_stream(stream)
    async with user(server, folder, "core") as core, user(server, folder, "bank-ocr") as bank:
        await core.client.jetstream().publish(subject, b"request")
        js = bank.client.jetstream()
        durable = ConsumerConfig(
            name="bank-ocr", durable_name="bank-ocr", filter_subject=subject, ack_policy="explicit"  # type: ignore[arg-type]
        )  # fmt: skip
        await js.add_consumer("RECOGNITION", durable)
        pulling = await js.pull_subscribe_bind("bank-ocr", "RECOGNITION")
        (message,) = await pulling.fetch(1, timeout=5)
        await message.ack_sync()
        greedy = ConsumerConfig(name="bank-ocr", durable_name="bank-ocr")
        with pytest.raises(nats.errors.TimeoutError):
            await js.add_consumer("RECOGNITION", greedy, timeout=0.5)
    assert message.data == b"request"


async def test_the_exchange_over_a_stream_asks_for_no_more(
    server: NatsServer, tmp_path: Path, folder: Path
) -> None:
    """The product's own two ends as core and as service: the core makes the stream, each its
    consumer; a request and a result pass, and the server refused nothing.
    """
    managed = folder.parent / "managed"
    if not managed.exists():
        managed.mkdir()
        shutil.copytree(folder / "keys", managed / "keys")
        write(managed, roles(list(DEFAULTS.values()), manage_stream=True), days=1)
    given = {"NATS_TRANSPORT": "jetstream", "NATS_MANAGE_STREAM": True}
    names = ("core", "tabular-parser")
    both = [settings(server.url, **given, **pair(managed, name)) for name in names]
    subjects = both[0].subjects
    hears = (
        Inbound(subjects.result, CORE_RESULTS, tries=5),
        Inbound(subjects.tabular_request, names[1]),
    )
    async with contextlib.AsyncExitStack() as stack, asyncio.timeout(60):
        connections, made = [], []
        for name, own, inbound in zip(names, both, hears, strict=True):
            connection = await stack.enter_async_context(connected(own, name="test", role=name))
            made.append(await stack.enter_async_context(ends(connection, own, inbound)))
            await connection.wait_live()
            connections.append(connection)
        core, service = made
        for sender, receiver, subject in (
            (core, service, subjects.tabular_request),
            (service, core, subjects.result),
        ):
            message = Outgoing(subject, b"{}", {"Nats-Msg-Id": subject})
            published = await sender.publisher.publish([message])
            assert not published.held_back
            (incoming,) = await receiver.receiver.take(1)
            await receiver.receiver.settle([(incoming, None)])
        assert core.stream is not None
        assert await core.stream.differences() == []
        assert (await core.stream.message(1)).subject == subjects.tabular_request
        for connection in connections:
            await confirm(connection.client)
            assert connection._denied.get(connection.client, {}) == {}


async def test_a_forbidden_subscription_is_no_connection(
    server: NatsServer, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A service that may not hear requests says which permission is missing, and does not count
    as listening.
    """
    given = settings(server.url, **pair(folder, "scan-gateway"))
    async with connected(given, name="test", role="scan-gateway") as connection:
        receiver = PlainReceiver(connection, "files.tabular_uploaded", "tabular-parser")

        async def refused() -> bool:
            return "permit" in connection.trouble

        await until(refused)
        assert not connection.is_live
        assert receiver.heard_seconds() == 0
        assert "subscribe files.tabular_uploaded" in connection.trouble
    assert "subscribe files.tabular_uploaded" in "".join(capfd.readouterr())


async def test_a_forbidden_publication_names_its_subject(server: NatsServer, folder: Path) -> None:
    """In what the burst says, and in what is kept for whoever asks."""
    async with user(server, folder, "tabular-parser") as connection:
        burst = [Outgoing(subject, b"", {}) for subject in ("files.tabular_parsed", "files.other")]
        published = await PlainPublisher(connection).publish(burst)
    assert set(published.forbidden) == {1}
    assert 'publish to "files.other"' in published.forbidden[1].lower()


def test_a_second_run_prolongs_and_keeps_the_keys(tmp_path: Path) -> None:
    """Only a deleted key is made anew; secrets are for their owner alone."""
    wanted = roles(list(DEFAULTS.values()), SERVICES)
    write(tmp_path / "nats", wanted, days=1)
    before = {role: pair(tmp_path / "nats", role) for role in ("core", "tabular-parser")}
    (tmp_path / "nats/keys/user-core.nk").unlink()
    assert not write(tmp_path / "nats", wanted, days=2).is_new
    after = {role: pair(tmp_path / "nats", role) for role in before}
    seed, jwt = "OPENBAO__NATS__NATS_SEED", "OPENBAO__NATS__NATS_JWT"
    assert before["core"][seed] != after["core"][seed]
    assert before["tabular-parser"][seed] == after["tabular-parser"][seed]
    assert before["tabular-parser"][jwt] != after["tabular-parser"][jwt]
    secret = [*(tmp_path / "nats/keys").iterdir(), *(tmp_path / "nats/users").iterdir()]
    assert {path.stat().st_mode & 0o777 for path in secret} == {0o600}


def test_only_where_asked_may_the_core_make_the_stream() -> None:
    """And nobody else."""
    create = "$JS.API.STREAM.CREATE.RECOGNITION"
    ways = list(DEFAULTS.values())
    services = {"x": Pipeline.IMAGE}
    assert not any(create in role.publish for role in roles(ways, services))
    managed = roles(ways, services, manage_stream=True)
    assert [role.name for role in managed if create in role.publish] == ["core"]
