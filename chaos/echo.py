"""A service that recognises nothing and keeps its promises: it acknowledges every request, and
says of every file, until it is heard, that it cannot be read.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import msgspec

from armka.contract import message_ids
from armka.messaging.connection import NotConfirmed, NotConnected, connected
from armka.messaging.delivery import Deliverer
from armka.messaging.messages import Incoming, Outgoing
from armka.messaging.settings import NatsSettings
from armka.messaging.transport import Ends, Inbound, ends

CODE = "UNREADABLE"
_BATCH = 200
_REPEAT_SECONDS = 2.0
_HEARD_WITHIN_SECONDS = 600.0
_PUT_BACK_SECONDS = 0.5


class Echo:
    """Its loop, and the answers that are not heard yet."""

    def __init__(self, both: Ends, deliverer: Deliverer, subject: str) -> None:
        self._both = both
        self._deliverer = deliverer
        self._subject = subject
        self._answers: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Take requests, until cancelled."""
        while True:
            for incoming in await self._both.receiver.take(_BATCH):
                task = asyncio.create_task(self._answer(incoming))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)

    async def _answer(self, incoming: Incoming) -> None:
        request = msgspec.json.decode(incoming.body)
        job, attempt = request["job_id"], request["attempt"]
        base = {
            "schema_version": "1.0",
            "job_id": job,
            "file_id": request["file_id"],
            "service": {"name": "echo", "version": "1"},
        }
        error = {"code": CODE, "message": "an echo reads nothing"}
        ack = self._message(base | {"status": "processing"}, message_ids.of_ack(job, attempt))
        result = self._message(
            base | {"status": "error", "error": error}, message_ids.of_result(job, attempt)
        )
        try:
            await self._both.publisher.publish([ack])
        except (NotConnected, NotConfirmed):
            await self._both.receiver.put_back(incoming, _PUT_BACK_SECONDS)
            return
        await self._deliverer.deliver(result, until=time.time() + _HEARD_WITHIN_SECONDS)
        await self._both.receiver.settle([(incoming, None)])

    def _message(self, envelope: dict[str, object], msg_id: str) -> Outgoing:
        body = msgspec.json.encode(envelope)
        return Outgoing(self._subject, body, {message_ids.HEADER: msg_id})


@contextlib.asynccontextmanager
async def echoing(settings: NatsSettings) -> AsyncIterator[Ends]:
    """An echo at work, for the time of the block; its ends, for whoever looks at the stream."""
    subjects = settings.subjects
    inbound = Inbound(subjects.tabular_request, "echo")
    async with connected(settings, name="echo") as connection:
        deliverer = Deliverer(connection, pause_seconds=_REPEAT_SECONDS)
        async with ends(connection, settings, inbound) as both:
            working = asyncio.create_task(Echo(both, deliverer, subjects.result).run())
            try:
                yield both
            finally:
                working.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await working
