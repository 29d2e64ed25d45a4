"""The subjects where a stream captures them: publishing is storing, and an acknowledgement tells
that the core is done with an envelope.
"""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from armka.conformance.job import Envelope
from armka.conformance.wire import LIVE_SECONDS, Wire
from armka.contract import message_ids
from armka.contract.subjects import CORE_RESULTS
from armka.messaging.connection import Connection
from armka.messaging.messages import Outgoing
from armka.messaging.settings import NatsSettings
from armka.messaging.stream import STREAM, store

_ACKS = f"$JS.ACK.{STREAM}.{CORE_RESULTS}"
_API_SECONDS = 5.0
NOBODY = "0"


class StreamWire(Wire):
    """A reply of `ask` is the envelope's number in the stream."""

    def __init__(self, connection: Connection, settings: NatsSettings) -> None:
        super().__init__(connection, settings)
        self._known: set[str] = set()
        self._done_on: dict[int, list[int]] = defaultdict(list)

    async def publish(
        self,
        envelopes: Sequence[tuple[Envelope | bytes, str | None]],
        *,
        replies: Sequence[str],  # noqa: ARG002 - the stream's own answer counts
    ) -> list[str]:
        """Store envelopes in order, and return their numbers; NOBODY where there is no stream."""
        async with asyncio.timeout(LIVE_SECONDS):
            await self.connection.wait_live()
            return [await self._store(*envelope) for envelope in envelopes]

    async def _store(self, envelope: Envelope | bytes, msg_id: str | None) -> str:
        body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
        headers = {}
        if msg_id is not None:
            # A stream drops repeats by this very spelling; in another one they reach the core.
            name = message_ids.HEADER.lower() if msg_id in self._known else message_ids.HEADER
            headers = {name: msg_id}
            self._known.add(msg_id)
        message = Outgoing(self.subjects.result, body, headers)
        return str(await store(self.connection.client, message) or NOBODY)

    def settled_on(self, reply: str) -> list[int]:
        """On which deliveries of an envelope it was acknowledged."""
        return self._done_on[int(reply)]

    async def api(self, subject: str, request: object = None) -> dict[str, Any]:
        """Ask JetStream's API."""
        body = b"" if request is None else json.dumps(request).encode()
        async with asyncio.timeout(LIVE_SECONDS):
            await self.connection.wait_live()
        reply = await self.connection.client.request(
            f"$JS.API.{subject}", body, timeout=_API_SECONDS
        )
        answer: dict[str, Any] = json.loads(reply.data)
        return answer

    async def _subscribe(self, client: Any) -> None:
        await client.subscribe(f"{_ACKS}.>", cb=self._acknowledged)
        await super()._subscribe(client)

    async def _acknowledged(self, message: Any) -> None:
        delivery, sequence = message.subject.removeprefix(f"{_ACKS}.").split(".")[:2]
        if message.data.startswith(b"+ACK") or not message.data:
            with contextlib.suppress(ValueError):
                self._done_on[int(sequence)].append(int(delivery))
