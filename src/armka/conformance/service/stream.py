"""JetStream as the kit needs it: the stream of the contract, and what its consumers say."""

import asyncio
import json
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import uuid4

from armka.messaging.connection import Connection

NAME = "RECOGNITION"
SUBJECTS = ["recognition.>"]
# The kit repeats requests at once: a window as short as the server allows lets them through.
_WINDOW_NANOSECONDS = 100_000_000
_API_SECONDS = 30.0
_NOT_FOUND = 10059


class StreamUnusable(Exception):
    """There is no JetStream, or its stream is not the contract's."""


@dataclass(frozen=True)
class Consumer:
    """A consumer of the stream, as the server describes it."""

    name: str
    is_durable: bool
    filters: tuple[str, ...]
    pending: int
    unacknowledged: int


class Stream:
    """Requests to the server, answered on an inbox of the kit's own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._inbox = f"_INBOX.conform.{uuid4().hex}"
        self._number = count()
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self.window_seconds = 0.0

    async def subscribe(self, client: Any) -> None:
        """Hear the server's answers."""
        await client.subscribe(f"{self._inbox}.*", cb=self._hear)

    async def ensure(self, subjects: list[str]) -> None:
        """Make the stream where there is none; learn how long it drops repeats."""
        info = await self._api(f"STREAM.INFO.{NAME}", None)
        if info.get("error", {}).get("err_code") == _NOT_FOUND:
            wanted = {"name": NAME, "subjects": subjects, "duplicate_window": _WINDOW_NANOSECONDS}
            info = await self._api(f"STREAM.CREATE.{NAME}", wanted | {"storage": "file"})
        if "error" in info:
            raise StreamUnusable(f"stream {NAME}: {info['error'].get('description')}")
        self.window_seconds = info["config"].get("duplicate_window", 0) / 1e9

    async def publish(self, subject: str, body: bytes, headers: dict[str, str] | None) -> None:
        """Publish until the stream holds it: a repeat is dropped while the window is open."""
        async with asyncio.timeout(_API_SECONDS):
            while True:
                answer = await self._ask(subject, body, headers)
                if "error" in answer:
                    raise StreamUnusable(f"{subject}: {answer['error'].get('description')}")
                if not answer.get("duplicate"):
                    return
                await asyncio.sleep(_WINDOW_NANOSECONDS / 1e9)

    async def consumers(self, subject: str) -> list[Consumer]:
        """Who reads this subject from the stream."""
        found = (await self._api(f"CONSUMER.LIST.{NAME}", {"offset": 0})).get("consumers") or []
        consumers = [_consumer(info) for info in found]
        return [one for one in consumers if not one.filters or subject in one.filters]

    async def _api(self, subject: str, body: object) -> dict[str, Any]:
        content = b"" if body is None else json.dumps(body).encode()
        return await self._ask(f"$JS.API.{subject}", content, None)

    async def _ask(
        self, subject: str, body: bytes, headers: dict[str, str] | None
    ) -> dict[str, Any]:
        reply = f"{self._inbox}.{next(self._number)}"
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[reply] = answered
        try:
            client = self._connection.client
            await client.publish(subject, body, reply=reply, headers=headers)
            async with asyncio.timeout(_API_SECONDS):
                message = await answered
        except TimeoutError:
            raise StreamUnusable(f"no answer to {subject} within {_API_SECONDS:.0f} s") from None
        finally:
            del self._asked[reply]
        if not message.data:
            raise StreamUnusable(f"JetStream is not enabled, or no stream takes {subject}")
        answer: dict[str, Any] = json.loads(message.data)
        return answer

    async def _hear(self, message: Any) -> None:
        asked = self._asked.get(message.subject)
        if asked is not None and not asked.done():
            asked.set_result(message)


def _consumer(info: dict[str, Any]) -> Consumer:
    config = info["config"]
    one = config.get("filter_subject")
    return Consumer(
        name=info["name"],
        is_durable=bool(config.get("durable_name")),
        filters=tuple(config.get("filter_subjects") or ([one] if one else [])),
        pending=info["num_pending"],
        unacknowledged=info["num_ack_pending"],
    )
