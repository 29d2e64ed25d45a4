"""The subjects, by NATS: hears every request, sends envelopes, collects answers."""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar
from uuid import uuid4

from armka.conformance.job import Envelope
from armka.contract import message_ids
from armka.contract import outcome as outcomes
from armka.contract.outcome import Outcome
from armka.messaging.connection import Connection, confirm, connected
from armka.messaging.settings import NatsSettings

LIVE_SECONDS = 20.0


@dataclass(frozen=True)
class Heard:
    """A request as it was on the wire."""

    subject: str
    body: bytes
    headers: dict[str, str]

    @property
    def fields(self) -> dict[str, Any]:
        """The body."""
        fields: dict[str, Any] = json.loads(self.body)
        return fields

    @property
    def msg_id(self) -> str | None:
        """Its `Nats-Msg-Id`."""
        return self.headers.get(message_ids.HEADER)


class Wire:
    """The kit's own connection. It hears from the moment it is open, and after every loss again."""

    def __init__(self, connection: Connection, settings: NatsSettings) -> None:
        self.subjects = settings.subjects
        self.requests: list[Heard] = []
        self.connection = connection
        self._inbox = f"_INBOX.conform.{uuid4().hex}"
        self._number = count()
        self._answers: dict[str, list[Outcome | None]] = defaultdict(list)
        connection.on_connect(self._subscribe)

    async def publish(
        self, envelopes: Sequence[tuple[Envelope | bytes, str | None]], *, replies: Sequence[str]
    ) -> Sequence[str]:
        """Publish envelopes to the result subject, with their ids, and know that they arrived;
        under what each one's outcome is asked for.
        """
        async with asyncio.timeout(LIVE_SECONDS):
            await self.connection.wait_live()
        client = self.connection.client
        for (envelope, msg_id), reply in zip(envelopes, replies, strict=True):
            body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
            headers = {message_ids.HEADER: msg_id} if msg_id else None
            await client.publish(self.subjects.result, body, reply=reply, headers=headers)
        await confirm(client)
        return replies

    def new_reply(self) -> str:
        """A reply subject whose answers are collected."""
        return f"{self._inbox}.{next(self._number)}"

    def answers(self, reply: str) -> list[Outcome | None]:
        """What came to a reply subject; None: nobody listens, or it is no outcome."""
        return self._answers[reply]

    @property
    def max_payload(self) -> int:
        """How large a message the server takes, in bytes."""
        return int(self.connection.client.max_payload)

    async def _subscribe(self, client: Any) -> None:
        for subject in (self.subjects.tabular_request, self.subjects.image_request):
            await client.subscribe(subject, cb=self._hear)
        await client.subscribe(f"{self._inbox}.*", cb=self._collect)
        await confirm(client)

    async def _hear(self, message: Any) -> None:
        self.requests.append(Heard(message.subject, message.data, dict(message.headers or {})))

    async def _collect(self, message: Any) -> None:
        self._answers[message.subject].append(outcomes.decode(message.data))


WireT = TypeVar("WireT", bound=Wire)


@contextlib.asynccontextmanager
async def opened(settings: NatsSettings, kind: type[WireT]) -> AsyncIterator[WireT]:
    """The wire for the time of the block."""
    async with connected(settings, name="armka conform") as connection:
        wire = kind(connection, settings)
        async with asyncio.timeout(LIVE_SECONDS):
            await connection.wait_live()
        yield wire
