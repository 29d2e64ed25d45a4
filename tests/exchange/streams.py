"""What the tests of the `jetstream` transport share: a service's side of the stream."""

import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg

from armka.contract.subjects import CORE_RESULTS
from tests.world import World, until

RESULT = "recognition.result"
TABULAR = "recognition.tabular.request"
IMAGE = "recognition.image.request"
SETTINGS: dict[str, Any] = {"NATS_TRANSPORT": "jetstream", "NATS_MANAGE_STREAM": "true"}


async def store(client: Client, envelope: dict[str, Any], msg_id: str) -> int:
    """Publish an envelope as a service does; its number in the stream."""
    body, headers = json.dumps(envelope).encode(), {"Nats-Msg-Id": msg_id}
    reply = await client.request(RESULT, body, timeout=10, headers=headers)
    return int(json.loads(reply.data)["seq"])


async def result(world: World, client: Client, job: UUID, status: str = "error") -> int:
    """Store a job's result."""
    return await store(client, await world.envelope(job, status), f"result:{job}:1")


async def api(client: Client, subject: str, request: object = None) -> dict[str, Any]:
    """Ask JetStream."""
    body = b"" if request is None else json.dumps(request).encode()
    reply = await client.request(f"$JS.API.{subject}", body, timeout=10)
    answer: dict[str, Any] = json.loads(reply.data)
    return answer


async def consumer_exists(client: Client) -> bool:
    """Whether the core has its consumer."""
    with contextlib.suppress(nats.errors.Error):
        return "error" not in await api(client, "CONSUMER.INFO.RECOGNITION.arm-core-results")
    return False


@dataclass
class Told:
    """What was said to the consumer: by a message's number, on which delivery it was
    acknowledged, and how often it was said to be worked on.
    """

    acknowledged: dict[int, int] = field(default_factory=dict)
    in_progress: Counter[int] = field(default_factory=Counter)

    async def acknowledges(self, number: int, seconds: float = 30) -> int:
        """Wait for an acknowledgement; the delivery on which it came."""

        async def is_there() -> bool:
            return number in self.acknowledged

        await until(is_there, seconds=seconds)
        return self.acknowledged[number]

    async def works_on(self, number: int, times: int) -> None:
        """Wait until it was said so often that the message is worked on."""

        async def often() -> bool:
            return self.in_progress[number] >= times

        await until(often)


@contextlib.asynccontextmanager
async def told(url: str, consumer: str = CORE_RESULTS) -> AsyncIterator[Told]:
    """What is said to a consumer from now on."""
    seen, acks = Told(), f"$JS.ACK.RECOGNITION.{consumer}"

    async def hear(message: Msg) -> None:
        delivery, sequence = message.subject.removeprefix(f"{acks}.").split(".")[:2]
        if message.data == b"+ACK":
            seen.acknowledged[int(sequence)] = int(delivery)
        elif message.data == b"+WPI":
            seen.in_progress[int(sequence)] += 1

    client = await nats.connect(url)
    try:
        await client.subscribe(f"{acks}.>", cb=hear)
        await client.flush()
        yield seen
    finally:
        await client.close()
