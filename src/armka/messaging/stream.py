"""The stream and the durable consumers on it: found, or made where that is asked for (N4)."""

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
import nats
import structlog
from nats.aio.client import Client

from armka.messaging.connection import Connection, NotConnected
from armka.messaging.messages import Outgoing
from armka.messaging.settings import NatsSettings

log = structlog.get_logger(__name__)

STREAM = "RECOGNITION"
SUBJECTS = "recognition.>"
DUPLICATE_WINDOW_SECONDS = 120
# What is older than every reply deadline is of use to nobody.
KEPT_SECONDS = 3 * 86_400

_API = "$JS.API"
_API_SECONDS = 4.0
_NANOSECONDS = 10**9
_STREAM_NOT_FOUND, _CONSUMER_NOT_FOUND = 10059, 10014

T = TypeVar("T", bound="_Answer")


class StreamUnavailable(NotConnected):
    """The stream or the consumer is missing, or nobody answers for it; try again later."""


class NotStored(Exception):
    """The stream refuses a message."""


@dataclass(frozen=True)
class Durable:
    """A durable pull consumer: replicas share it as they share a queue group.

    `max_deliver`: as often a message is delivered at most; -1 knows no end.
    """

    name: str
    subject: str
    max_deliver: int
    max_ack_pending: int


class _Refusal(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Answer(msgspec.Struct):
    error: _Refusal | None = None


class _Peer(msgspec.Struct):
    name: str = ""
    current: bool = False
    offline: bool = False


class _Cluster(msgspec.Struct):
    leader: str = ""
    replicas: list[_Peer] = []


class _State(msgspec.Struct):
    last_seq: int = 0
    num_deleted: int = 0


class _StreamInfo(_Answer):
    config: dict[str, Any] = {}
    state: _State = msgspec.field(default_factory=_State)
    cluster: _Cluster = msgspec.field(default_factory=_Cluster)
    created: str = ""
    ts: str = ""


class _ConsumerInfo(_Answer):
    config: dict[str, Any] = {}
    num_pending: int = 0
    num_ack_pending: int = 0


class _PubAck(_Answer):
    seq: int = 0


class _Stored(msgspec.Struct):
    subject: str
    hdrs: bytes = b""
    data: bytes = b""


class _Message(_Answer):
    message: _Stored | None = None


@dataclass(frozen=True)
class Kept:
    """A message as the stream keeps it."""

    subject: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Copies:
    """Where the stream lies: the node that leads, and those that have not all of it."""

    leader: str
    behind: tuple[str, ...]


@dataclass(frozen=True)
class Backlog:
    """What waits in the stream for a consumer, and what it has taken and not acknowledged."""

    waiting: int
    in_hand: int


class Stream:
    """The stream as one process sees it, with the consumer that this process takes from."""

    def __init__(self, connection: Connection, settings: NatsSettings, durable: Durable) -> None:
        self.durable = durable
        self._connection = connection
        self._settings = settings
        self._sure_of: Client | None = None
        self._looking = asyncio.Lock()
        self._told: set[str] = set()
        self._consumer: Mapping[str, Any] = {}
        self._highest = 0
        self._holes: int | None = None
        self._torn_at = -math.inf

    @property
    def ack_wait_seconds(self) -> float:
        """After how long the consumer, as it is, delivers again."""
        wanted = self._settings.ack_wait_seconds
        return float(self._consumer.get("ack_wait", wanted * _NANOSECONDS)) / _NANOSECONDS

    @property
    def max_deliver(self) -> int:
        """How often the consumer, as it is, delivers a message."""
        return int(self._consumer.get("max_deliver", self.durable.max_deliver))

    async def ready(self) -> None:
        """Return when stream and consumer are there, which is believed until doubted; raises
        StreamUnavailable.
        """
        client = self._connection.client
        async with self._looking:
            if self._sure_of is not client:
                await self._look(client)

    def doubt(self) -> None:
        """Something did not answer as it should: look again."""
        self._sure_of = None

    def has_stored(self, sequence: int) -> None:
        """A PubAck said so: whatever ends before it has lost its end."""
        self._highest = max(self._highest, sequence)

    async def age_seconds(self) -> float:
        """For how long the stream has kept everything, by its server's clock; raises
        StreamUnavailable.

        A stream that is missing is made first, where that is asked for. One whose store was torn
        has lost some, nobody knows of when: it counts from the moment when that was seen.
        """
        await self.ready()
        info = await self._stream(self._connection.client)
        if info is None:
            self.doubt()
            raise StreamUnavailable(_missing(f"the stream {STREAM}"))
        if self._is_torn(info.state):
            log.warning("the stream has lost messages", stream=STREAM, last=info.state.last_seq)
            self._torn_at = time.monotonic()
        age = _seconds_between(info.created, info.ts or datetime.now(UTC).isoformat())
        return min(age, time.monotonic() - self._torn_at)

    def _is_torn(self, state: _State) -> bool:
        """Whether it ends before what it confirmed, or has holes that it had not: nobody deletes
        messages, and those that are too old go from its beginning.
        """
        holes = state.num_deleted if self._holes is None else self._holes
        is_torn = state.last_seq < self._highest or state.num_deleted > holes
        self._highest, self._holes = state.last_seq, state.num_deleted
        return is_torn

    async def differences(self) -> list[str]:
        """What is set otherwise than it would be created; raises StreamUnavailable."""
        client = self._connection.client
        stream, consumer = await self._stream(client), await self._consumer_info(client)
        if stream is None or consumer is None:
            what = f"the stream {STREAM}" if stream is None else f"the consumer {self.durable.name}"
            raise StreamUnavailable(_missing(what))
        return self._compare(stream, consumer)

    async def backlog(self) -> Backlog:
        """How much waits; raises StreamUnavailable."""
        info = await self._consumer_info(self._connection.client)
        if info is None:
            raise StreamUnavailable(_missing(f"the consumer {self.durable.name}"))
        return Backlog(info.num_pending, info.num_ack_pending)

    async def copies(self) -> Copies:
        """How its copies stand in a cluster; raises StreamUnavailable."""
        info = await self._stream(self._connection.client)
        if info is None:
            raise StreamUnavailable(_missing(f"the stream {STREAM}"))
        peers = info.cluster.replicas
        behind = tuple(peer.name for peer in peers if peer.offline or not peer.current)
        return Copies(info.cluster.leader, behind)

    async def message(self, sequence: int) -> "Kept":
        """One message of the stream; raises StreamUnavailable."""
        asked = {"seq": sequence}
        found = await _ask(self._connection.client, f"STREAM.MSG.GET.{STREAM}", asked, _Message)
        if found.error is not None or found.message is None:
            raise StreamUnavailable(f"message {sequence} is no longer in the stream {STREAM}")
        return Kept(found.message.subject, found.message.data, _headers(found.message.hdrs))

    async def meet(self, client: Client) -> None:
        """A hook: look at both as soon as there is a connection, without insisting."""
        self._sure_of = None
        try:
            await self._look(client)
        except StreamUnavailable as error:
            log.warning("the stream is not ready, it is looked for again", error=str(error))

    async def _look(self, client: Client) -> None:
        stream = await self._stream(client)
        if stream is None:
            await self._make("STREAM", f"STREAM.CREATE.{STREAM}", self._stream_config(), client)
            stream = await self._stream(client)
        consumer = await self._consumer_info(client)
        if consumer is None:
            name, subject = self.durable.name, self.durable.subject
            request = {"stream_name": STREAM, "action": "create", "config": self._consumer_config()}
            await self._make(name, f"CONSUMER.CREATE.{STREAM}.{name}.{subject}", request, client)
            consumer = await self._consumer_info(client)
        if stream is None or consumer is None:
            raise StreamUnavailable("stream or consumer went away while they were looked at")
        self._consumer = consumer.config
        for difference in self._compare(stream, consumer):
            if difference not in self._told:
                log.warning("jetstream is set otherwise, which is left as it is", what=difference)
                self._told.add(difference)
        self._sure_of = client

    async def _make(self, what: str, subject: str, request: dict[str, Any], client: Client) -> None:
        named = f"the stream {STREAM}" if what == "STREAM" else f"the consumer {what}"
        if not self._settings.manage_stream:
            raise StreamUnavailable(_missing(named))
        answer = await _ask(client, subject, request, _Answer)
        if answer.error is not None:
            raise StreamUnavailable(f"{named} cannot be created: {answer.error.description}")
        log.info("jetstream created", what=named)

    async def _stream(self, client: Client) -> _StreamInfo | None:
        info = await _ask(client, f"STREAM.INFO.{STREAM}", None, _StreamInfo)
        return _found(info, _STREAM_NOT_FOUND)

    async def _consumer_info(self, client: Client) -> _ConsumerInfo | None:
        subject = f"CONSUMER.INFO.{STREAM}.{self.durable.name}"
        info = await _ask(client, subject, None, _ConsumerInfo)
        return _found(info, _CONSUMER_NOT_FOUND, _STREAM_NOT_FOUND)

    def _stream_config(self) -> dict[str, Any]:
        subjects = self._settings.subjects
        ours = (subjects.tabular_request, subjects.image_request, subjects.result)
        prefix = SUBJECTS.removesuffix(">")
        return {
            "name": STREAM,
            "subjects": [SUBJECTS, *sorted({it for it in ours if not it.startswith(prefix)})],
            "duplicate_window": DUPLICATE_WINDOW_SECONDS * _NANOSECONDS,
            "retention": "limits",
            "storage": "file",
            "max_age": KEPT_SECONDS * _NANOSECONDS,
            "num_replicas": self._settings.stream_replicas,
        }

    def _consumer_config(self) -> dict[str, Any]:
        durable = self.durable
        return {
            "durable_name": durable.name,
            "name": durable.name,
            "filter_subject": durable.subject,
            "ack_policy": "explicit",
            "deliver_policy": "all",
            "replay_policy": "instant",
            "max_deliver": durable.max_deliver,
            "ack_wait": int(self._settings.ack_wait_seconds * _NANOSECONDS),
            "max_ack_pending": durable.max_ack_pending,
        }

    def _compare(self, stream: _StreamInfo, consumer: _ConsumerInfo) -> list[str]:
        return [
            *_different(f"stream {STREAM}", self._stream_config(), stream.config),
            *_different(f"consumer {self.durable.name}", self._consumer_config(), consumer.config),
        ]


async def store(client: Client, message: Outgoing) -> int | None:
    """Store one message, and return its number; None where no stream takes its subject. Raises
    NotStored.
    """
    try:
        reply = await client.request(
            message.subject, message.body, timeout=_API_SECONDS, headers=dict(message.headers)
        )
    except nats.errors.NoRespondersError:
        return None
    ack = msgspec.json.decode(reply.data, type=_PubAck)
    if ack.error is not None:
        raise NotStored(ack.error.description)
    return ack.seq


def _different(what: str, wanted: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    return [
        f"{what}: {key} is {_shown(actual.get(key))}, not {_shown(value)}"
        for key, value in wanted.items()
        if actual.get(key) != value
    ]


def _shown(value: object) -> str:
    """Durations come in nanoseconds."""
    if isinstance(value, int) and value >= _NANOSECONDS // 1000:
        return f"{value / _NANOSECONDS:g} s"
    return "unset" if value is None else str(value)


def _missing(what: str) -> str:
    return f"{what} does not exist: create it, or set NATS_MANAGE_STREAM=true"


def _found(info: T, *not_found: int) -> T | None:
    if info.error is None:
        return info
    if info.error.err_code in not_found:
        return None
    raise StreamUnavailable(f"JetStream: {info.error.description} ({info.error.err_code})")


async def _ask(client: Client, subject: str, request: dict[str, Any] | None, kind: type[T]) -> T:
    body = b"" if request is None else msgspec.json.encode(request)
    try:
        reply = await client.request(f"{_API}.{subject}", body, timeout=_API_SECONDS)
        return msgspec.json.decode(reply.data, type=kind)
    except nats.errors.NoRespondersError:
        raise StreamUnavailable("this server has no JetStream, or none for this user") from None
    except (OSError, nats.errors.Error, TimeoutError, msgspec.DecodeError) as error:
        reason = str(error) or type(error).__name__
        raise StreamUnavailable(f"no answer from {_API}.{subject}: {reason}") from None


def _headers(block: bytes) -> dict[str, str]:
    """The lines of a header block after its first one."""
    lines = (line.partition(":") for line in block.decode(errors="replace").splitlines()[1:])
    return {name.strip(): value.strip() for name, _, value in lines if name.strip()}


def _seconds_between(earlier: str, later: str) -> float:
    first, second = (msgspec.json.decode(f'"{it}"', type=datetime) for it in (earlier, later))
    return (second - first).total_seconds()
