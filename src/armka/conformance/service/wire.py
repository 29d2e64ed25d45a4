"""The subjects of either transport: the kit sends requests as the core does, hears every envelope,
and answers those that ask for it (I8).
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from armka.conformance.service.journal import Journal
from armka.conformance.service.stream import SUBJECTS, Stream
from armka.contract import message_ids
from armka.contract import outcome as outcomes
from armka.contract.outcome import Outcome, OutcomeKind
from armka.contract.subjects import Subjects, Transport
from armka.contract.vocabulary import Pipeline
from armka.messaging.connection import Connection, NotConnected, confirm, connected
from armka.messaging.settings import NatsSettings

_LIVE_SECONDS = 30.0
_SHOWN_CHARACTERS = 400
_APPLIED = outcomes.encode(Outcome(OutcomeKind.APPLIED))


class NatsUnreachable(Exception):
    """There is no connection to NATS."""

    def __init__(self) -> None:
        super().__init__(f"no connection to NATS within {_LIVE_SECONDS:.0f} s")


@dataclass(frozen=True)
class Heard:
    """An envelope as it was on the wire; `n` is its event's number."""

    n: int
    subject: str
    body: bytes
    headers: dict[str, str]
    reply: str
    fields: dict[str, Any]

    @property
    def msg_id(self) -> str | None:
        """Its `Nats-Msg-Id`."""
        return self.headers.get(message_ids.HEADER)

    @property
    def job_id(self) -> str:
        """The job that it speaks of, as it says."""
        return str(self.fields.get("job_id")).lower()

    @property
    def status(self) -> object:
        """Its status, as it says."""
        return self.fields.get("status")

    @property
    def code(self) -> object:
        """Its error code, as it says."""
        error = self.fields.get("error")
        return error.get("code") if isinstance(error, dict) else None

    def __str__(self) -> str:
        code = f" {self.code}" if self.code else ""
        return f"{self.status}{code} as {self.msg_id}"


class Wire:
    """The kit's own connection. With `answering` off, results stay unanswered."""

    def __init__(
        self, connection: Connection, transport: Transport, subjects: Subjects, journal: Journal
    ) -> None:
        self.transport = transport
        self.subjects = subjects
        self.stream = Stream(connection)
        self.heard: list[Heard] = []
        self.answering = True
        self._connection = connection
        self._journal = journal
        connection.on_connect(self._subscribe)

    async def start(self, pipeline: Pipeline) -> None:
        """Hear, and with JetStream have the stream; raises NatsUnreachable, StreamUnusable."""
        try:
            async with asyncio.timeout(_LIVE_SECONDS):
                await self._connection.wait_live()
        except TimeoutError:
            raise NatsUnreachable from None
        if self.transport is Transport.JETSTREAM:
            wanted = [self.subjects.request(pipeline), self.subjects.result]
            outside = [one for one in wanted if not one.startswith("recognition.")]
            await self.stream.ensure([*SUBJECTS, *outside])

    async def send(self, subject: str, messages: Sequence[tuple[bytes, str | None]]) -> None:
        """Publish requests with their ids, in one burst, and know that they arrived."""
        if self.transport is Transport.JETSTREAM:
            for body, msg_id in messages:
                await self.stream.publish(subject, body, _headers(msg_id))
            return
        async with asyncio.timeout(_LIVE_SECONDS):
            await self._connection.wait_live()
        client = self._connection.client
        for body, msg_id in messages:
            await client.publish(subject, body, headers=_headers(msg_id))
        await confirm(client, _LIVE_SECONDS)

    async def _subscribe(self, client: Any) -> None:
        await client.subscribe(self.subjects.result, cb=self._hear)
        await self.stream.subscribe(client)
        await confirm(client, _LIVE_SECONDS)

    async def _hear(self, message: Any) -> None:
        fields = _fields(message.data)
        text = message.data[:_SHOWN_CHARACTERS].decode(errors="replace")
        headers = dict(message.headers or {})
        number = self._journal.add(f"heard {headers.get(message_ids.HEADER)}: {text}")
        # Noted first: who waits for the event finds it.
        self.heard.append(
            Heard(number, message.subject, message.data, headers, message.reply, fields)
        )
        if self.answering:
            await self.answer(self.heard[-1])

    async def answer(self, heard: Heard) -> None:
        """Tell the service that its envelope was applied, where it asks (I8); a stream answers for
        itself.
        """
        if not heard.reply or self.transport is not Transport.CORE:
            return
        try:
            await self._connection.client.publish(heard.reply, _APPLIED)
        except NotConnected:
            self._journal.add(f"{heard.msg_id} is not answered: the kit has no connection")


def _headers(msg_id: str | None) -> dict[str, str] | None:
    return {message_ids.HEADER: msg_id} if msg_id else None


def _fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


@contextlib.asynccontextmanager
async def opened(
    settings: NatsSettings,
    transport: Transport,
    subjects: Subjects,
    pipeline: Pipeline,
    journal: Journal,
) -> AsyncIterator[Wire]:
    """The wire for the time of the block."""
    async with connected(settings, name="armka conform") as connection:
        wire = Wire(connection, transport, subjects, journal)
        await wire.start(pipeline)
        yield wire
