"""What the tests of the messaging room share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import nats
from nats.aio.msg import Msg

from armka.messaging.connection import Connection, connected
from armka.messaging.messages import Outgoing
from armka.messaging.settings import NatsSettings

SUBJECT = "files.tabular_uploaded"


def settings(url: str, **more: Any) -> NatsSettings:
    return NatsSettings.model_validate({"NATS_URL": url} | more)


@contextlib.asynccontextmanager
async def live(url: str, **more: Any) -> AsyncIterator[Connection]:
    """A connection that is up."""
    async with connected(settings(url, **more), name="test") as connection:
        async with asyncio.timeout(20):
            await connection.wait_live()
        yield connection


def message(body: bytes = b"{}", *, subject: str = SUBJECT, **headers: str) -> Outgoing:
    return Outgoing(subject, body, {"Nats-Msg-Id": "1", **headers})


@contextlib.asynccontextmanager
async def heard(url: str, subject: str) -> AsyncIterator["asyncio.Queue[Msg]"]:
    """What arrives on a subject, as another client hears it."""
    queue: asyncio.Queue[Msg] = asyncio.Queue()
    client = await nats.connect(url)
    try:
        await client.subscribe(subject, cb=queue.put)
        await client.flush()
        yield queue
    finally:
        await client.close()
