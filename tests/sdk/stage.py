"""The test plays the core: it sends requests, and hears and answers envelopes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import uuid4

import jsonschema_rs
import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from pydantic import SecretStr

from armka.contract import object_keys, schema_files
from armka.contract.vocabulary import Pipeline
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectMissing, ObjectStore
from armka.sdk.runtime import serve
from armka.sdk.service import MissingAttempt, Service
from armka.sdk.settings import ServiceSettings
from armka.stack import ObjectServer
from tests.sdk.trial_handlers import trial

REQUESTS = "files.tabular_uploaded"
RESULTS = "files.tabular_parsed"
_PATIENCE_SECONDS = 60.0
_PROBE = "00000000-0000-0000-0000-000000000000"

_envelopes = jsonschema_rs.validator_for(
    schema_files.load(schema_files.ENVELOPE), validate_formats=True
)
_result_files = jsonschema_rs.validator_for(
    schema_files.load(schema_files.RESULT), validate_formats=True
)


@dataclass(frozen=True)
class Heard:
    """An envelope as it came."""

    body: dict[str, Any]
    msg_id: str
    reply: str

    @property
    def status(self) -> str:
        return str(self.body["status"])

    @property
    def job(self) -> str:
        return str(self.body["job_id"])

    @property
    def code(self) -> str:
        return str(self.body.get("error", {}).get("code"))


@dataclass
class Core:
    """A core with nothing behind it. With `answer` None, results stay unanswered."""

    nats_url: str
    store: ObjectStore
    answer: bytes | None = b'{"outcome":"applied"}'
    requests: str = REQUESTS
    heard: list[Heard] = field(default_factory=list)
    _client: Client | None = None
    _subscription: Subscription | None = None
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def connect(self) -> None:
        """Connect anew, and listen."""
        self._client = await nats.connect(self.nats_url, allow_reconnect=False)
        await self.listen()

    async def listen(self) -> None:
        self._subscription = await self.client.subscribe(RESULTS, cb=self._hear)
        await self.client.flush()

    async def stop_listening(self) -> None:
        """Leave the requests' side standing, with nobody for the results."""
        assert self._subscription is not None
        await self._subscription.unsubscribe()
        await self.client.flush()

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self.client.is_closed:
            await self.client.close()

    async def upload(self, order: dict[str, Any] | bytes, **overrides: Any) -> dict[str, Any]:
        """Put a source that orders the handler to do something; the request for it."""
        request = new_request(self.store.bucket, **overrides)
        body = order if isinstance(order, bytes) else json.dumps(order).encode()
        await self.store.put(request["s3"]["key"], body)
        return request

    async def send(self, request: dict[str, Any] | bytes, msg_id: str | None = None) -> None:
        """Publish a request, as it is."""
        if isinstance(request, bytes):
            body, headers = request, {}
        else:
            body = json.dumps(request).encode()
            headers = {"Nats-Msg-Id": f"{request.get('job_id')}:{request.get('attempt')}"}
        if msg_id is not None:
            headers = {"Nats-Msg-Id": msg_id}
        await self.client.publish(self.requests, body, headers=headers)
        await self.client.flush()

    async def order(self, order: dict[str, Any] | bytes, **overrides: Any) -> dict[str, Any]:
        """Upload and send in one."""
        request = await self.upload(order, **overrides)
        await self.send(request)
        return request

    def of(self, request: dict[str, Any]) -> list[Heard]:
        """What was heard of one job, in order."""
        return [it for it in self.heard if it.job == request["job_id"]]

    async def wait(self, condition: Callable[[], Any], seconds: float = _PATIENCE_SECONDS) -> None:
        """Wait until a condition on what was heard holds."""
        async with asyncio.timeout(seconds), self._news:
            await self._news.wait_for(condition)

    async def statuses(self, request: dict[str, Any], count: int = 2) -> list[str]:
        """Wait for so many envelopes of a job."""
        await self.wait(lambda: len(self.of(request)) >= count)
        return [it.status for it in self.of(request)]

    async def result(self, request: dict[str, Any], seconds: float = _PATIENCE_SECONDS) -> Heard:
        """Wait for the envelope that ends a job."""
        await self.wait(lambda: self._ends(request), seconds)
        return self._ends(request)[0]

    async def result_file(self, request: dict[str, Any]) -> dict[str, Any]:
        """Read and check the result file of a job."""
        key = object_keys.result(request["file_id"], request["job_id"])
        body = json.loads(await self.store.get(key, limit=10**9))
        _result_files.validate(body)
        return dict(body)

    async def object_of(self, request: dict[str, Any]) -> None:
        """Wait until the result file is there."""
        key = object_keys.result(request["file_id"], request["job_id"])
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                with contextlib.suppress(ObjectMissing):
                    await self.store.get(key, limit=10**9)
                    return
                await asyncio.sleep(0.02)

    def _ends(self, request: dict[str, Any]) -> list[Heard]:
        return [it for it in self.of(request) if it.status != "processing"]

    async def _hear(self, message: Msg) -> None:
        body = json.loads(message.data)
        _envelopes.validate(body)
        assert "\0" not in str(body)
        if body["file_id"] == _PROBE:
            return
        headers = message.headers or {}
        async with self._news:
            self.heard.append(Heard(body, headers["Nats-Msg-Id"], message.reply))
            self._news.notify_all()
        if message.reply and self.answer is not None:
            with contextlib.suppress(nats.errors.Error):
                await self.client.publish(message.reply, self.answer)


async def until(condition: Callable[[], Any], seconds: float = _PATIENCE_SECONDS) -> None:
    """Wait for what gives no signal."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.02)


def new_request(bucket: str, **overrides: Any) -> dict[str, Any]:
    """A valid request; `seconds` from now is its deadline."""
    file_id = str(uuid4())
    deadline = datetime.now(UTC) + timedelta(seconds=overrides.pop("seconds", 60))
    request = {
        "schema_version": "1.0",
        "job_id": str(uuid4()),
        "file_id": file_id,
        "pipeline": "tabular",
        "file_type": "XLSX",
        "original_name": "оборотка.xlsx",
        "s3": {"bucket": bucket, "key": f"uploads/{file_id}/source.xlsx"},
        "reply_deadline": deadline.isoformat().replace("+00:00", "Z"),
        "attempt": 1,
    }
    return request | overrides


def object_settings_of(server: ObjectServer) -> ObjectSettings:
    """The settings by which a service finds this server."""
    env = server.env()
    return ObjectSettings(
        endpoint_url=env["S3_ENDPOINT_URL"],
        bucket=env["S3_BUCKET"],
        access_key_id=SecretStr(env["S3_ACCESS_KEY_ID"]),
        secret_access_key=SecretStr(env["S3_SECRET_ACCESS_KEY"]),
    )


QUICK = ServiceSettings(
    concurrency=2, memory_mb=200, time_limit_seconds=10, drain_seconds=2, repeat_seconds=0.2
)


@dataclass
class Running:
    """A service under test; `stop` begins its drain, `done` ends with it."""

    stop: asyncio.Event
    done: "asyncio.Task[None]"


@contextlib.asynccontextmanager
async def running(
    nats_settings: NatsSettings,
    object_settings: ObjectSettings,
    settings: ServiceSettings = QUICK,
    missing_attempt: MissingAttempt = MissingAttempt.FROM_MESSAGE_ID,
) -> AsyncIterator[Running]:
    """The trial service, stopped at the end."""
    service = Service("trial", "1.2.3", Pipeline.TABULAR, trial, missing_attempt)
    async with started(service, nats_settings, object_settings, settings) as it:
        yield it


@contextlib.asynccontextmanager
async def started(
    service: Service,
    nats_settings: NatsSettings,
    object_settings: ObjectSettings,
    settings: ServiceSettings = QUICK,
    requests: str = REQUESTS,
) -> AsyncIterator[Running]:
    """Any service, stopped at the end."""
    stop = asyncio.Event()
    done = asyncio.create_task(serve(service, nats_settings, object_settings, settings, stop))
    try:
        async with asyncio.TaskGroup() as either:
            probing = either.create_task(answers(nats_settings.url, requests))
            await asyncio.wait({probing, done}, return_when=asyncio.FIRST_COMPLETED)
            if done.done():
                await done
        yield Running(stop, done)
    finally:
        stop.set()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await done


async def answers(nats_url: str, requests: str = REQUESTS) -> None:
    """Return when a service takes requests: it answers an invalid one."""
    client = await nats.connect(nats_url)
    job, heard = str(uuid4()), asyncio.Event()

    async def hear(message: Msg) -> None:
        if json.loads(message.data)["job_id"] == job:
            heard.set()
            await client.publish(message.reply, b'{"outcome":"unknown_job"}')

    await client.subscribe(RESULTS, cb=hear)
    probe = json.dumps({"job_id": job, "file_id": _PROBE, "attempt": 1}).encode()
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not heard.is_set():
            await client.publish(requests, probe)
            await asyncio.sleep(0.05)
    await client.close()
