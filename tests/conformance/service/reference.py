"""A small service that keeps the contract, on either transport: what the mutants are made of.

Its steps are methods, so that a mutant replaces one. It speaks to NATS and S3 by itself, without
the SDK. `python -m tests.conformance.service.reference` runs it.
"""

import asyncio
import hashlib
import json
import os
import signal
import sys
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from uuid import UUID

import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from armka.contract import codec, message_ids, object_keys
from armka.contract.codec import InvalidMessage
from armka.contract.fields import format_instant
from armka.contract.request import RecognitionRequest
from armka.contract.vocabulary import FileType
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectMissing, ObjectStore, StoreUnavailable

REPEAT_SECONDS = 1.0
_OLE = b"\xd0\xcf\x11\xe0"
READS = frozenset({FileType.XLS, FileType.XLSX, FileType.XLSB})


class Refusal(Exception):
    """The file is not recognised."""

    def __init__(self, code: str, message: str = "Загрузите файл ещё раз.") -> None:
        super().__init__(code)
        self.code = code
        self.message = message


class Reference:
    """The service; `env` tells where NATS and S3 are."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self.name = env.get("REFERENCE_NAME", "reference")
        self.version = "1.0"
        self.objects = ObjectStore(ObjectSettings.model_validate(dict(env)))
        self.handled: set[str] = set()
        self.finished: set[str] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.exit_code = 0
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        assert self._client is not None
        return self._client

    @property
    def result_subject(self) -> str:
        return self.env["NATS_SUBJECT_RESULT"]

    @property
    def request_subject(self) -> str:
        return self.env["NATS_SUBJECT_TABULAR_REQUEST"]

    # From start to stop

    async def run(self) -> int:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        self._client = await nats.connect(
            self.env["NATS_URL"], connect_timeout=30, max_reconnect_attempts=-1
        )
        if self.env["NATS_TRANSPORT"] == "jetstream":
            taking = asyncio.create_task(self.take_from_stream())
        else:
            await self.subscribe()
            taking = asyncio.create_task(asyncio.Event().wait())  # type: ignore[arg-type]
        await asyncio.wait(
            {asyncio.create_task(stop.wait()), taking}, return_when="FIRST_COMPLETED"
        )
        taking.cancel()
        await self.drain()
        await self.client.flush()
        return self.exit_code

    async def subscribe(self) -> None:
        await self.client.subscribe(self.request_subject, queue=self.name, cb=self.hear)

    async def hear(self, message: Msg) -> None:
        await self.meet(message.data, message.headers or {})

    async def take_from_stream(self) -> None:
        js = self.client.jetstream()
        subscription = await js.pull_subscribe(
            self.request_subject, durable=self.durable(), stream="RECOGNITION"
        )
        while True:
            try:
                taken = await subscription.fetch(50, timeout=1)
            except (TimeoutError, nats.errors.TimeoutError):
                continue
            for message in taken:
                await self.hear(message)
                await self.settle(message)

    def durable(self) -> str | None:
        return self.name

    async def settle(self, message: Msg) -> None:
        await message.ack()

    async def drain(self) -> None:
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=10)

    # One request

    async def meet(self, body: bytes, headers: Mapping[str, str]) -> None:
        try:
            request = self.read(body)
        except InvalidMessage:
            await self.meet_invalid(body, headers)
            return
        job = str(request.job)
        if job in self.handled:
            await self.meet_repeat(request)
            return
        self.handled.add(job)
        await self.take_on(request)

    def read(self, body: bytes) -> RecognitionRequest:
        return codec.decode_request(body)

    async def take_on(self, request: RecognitionRequest) -> None:
        await self.acknowledge(request)
        self.spawn(request)

    def spawn(self, request: RecognitionRequest) -> None:
        task = asyncio.create_task(self.work(request))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def meet_repeat(self, request: RecognitionRequest) -> None:
        await self.acknowledge(request)

    async def meet_invalid(self, body: bytes, headers: Mapping[str, str]) -> None:
        address = codec.address_of(body)
        if address is None or self.is_known(str(address.job_id)):
            return
        attempt = address.attempt or self.attempt_of(headers)
        if attempt is not None:
            await self.refuse(str(address.job_id), str(address.file_id), attempt)

    def is_known(self, job: str) -> bool:
        return job in self.handled

    def attempt_of(self, headers: Mapping[str, str]) -> int | None:
        return message_ids.attempt_of_request(headers.get(message_ids.HEADER))

    async def refuse(self, job: str, file: str, attempt: int) -> None:
        error = {"code": "SCHEMA_MISMATCH", "message": "Запрос не соответствует контракту."}
        envelope = self.envelope(job, file, "error") | {"error": error}
        await self.publish(envelope, message_ids.of_result(job, attempt))

    # One job

    async def acknowledge(self, request: RecognitionRequest) -> None:
        envelope = self.envelope(str(request.job), str(UUID(request.file_id)), "processing")
        await self.publish(envelope, self.ack_id(request))

    def ack_id(self, request: RecognitionRequest) -> str:
        return message_ids.of_ack(request.job, request.attempt)

    def result_id(self, request: RecognitionRequest) -> str:
        return message_ids.of_result(request.job, request.attempt)

    async def work(self, request: RecognitionRequest) -> None:
        try:
            self.look_at_the_clock(request)
            content = await self.fetch(request)
            result = self.recognise(request, content)
            end = await self.finish(request, result)
        except Refusal as refusal:
            error = {"code": refusal.code, "message": refusal.message}
            end = self.ending(request, "error") | {"error": error}
        self.finished.add(str(request.job))
        await self.announce(request, end)

    def look_at_the_clock(self, request: RecognitionRequest) -> None:
        if request.deadline < datetime.now(UTC):
            raise Refusal("TIMEOUT")
        if request.file_type not in self.reads():
            raise Refusal("UNSUPPORTED_FORMAT")

    def reads(self) -> frozenset[FileType]:
        return READS

    async def fetch(self, request: RecognitionRequest) -> bytes:
        while True:
            try:
                return await self.objects.get(request.s3.key, limit=10**8)
            except ObjectMissing:
                raise Refusal("FILE_READ_ERROR") from None
            except StoreUnavailable:
                await asyncio.sleep(0.1)

    def recognise(self, request: RecognitionRequest, content: bytes) -> dict[str, Any]:
        if content.startswith(_OLE):
            raise Refusal("INVALID_FORMAT")
        if not zipfile.is_zipfile(BytesIO(content)):
            raise Refusal("UNREADABLE")
        line = {
            "n": 1,
            "level": 0,
            "kind": "account",
            "name": "51",
            "values": ["1.00"] + [None] * 5,
        }
        document = {
            "kind": "OSV", "group_schema": "accounts", "title": request.original_name, "unit": 1,
            "source": {"sheet": "1"}, "lines": [line], "checks": [],
        }  # fmt: skip
        return {
            "schema_version": "1.0",
            "job_id": str(request.job),
            "file_id": str(UUID(request.file_id)),
            "service": {"name": self.name, "version": self.version},
            "created_at": format_instant(datetime.now(UTC)),
            "source": {
                "sha256": hashlib.sha256(content).hexdigest(),
                "size_bytes": len(content),
                "file_type": request.file_type,
            },
            "group_schema": "accounts",
            "documents": [document],
        }

    def result_key(self, request: RecognitionRequest) -> str:
        return object_keys.result(UUID(request.file_id), request.job)

    async def finish(self, request: RecognitionRequest, result: dict[str, Any]) -> dict[str, Any]:
        await self.store(request, result)
        place = {"bucket": self.objects.bucket, "key": self.result_key(request)}
        return self.ending(request, "done") | {"result_s3": place, "result_schema_version": "1.0"}

    async def store(self, request: RecognitionRequest, result: dict[str, Any]) -> None:
        await self.objects.put(self.result_key(request), json.dumps(result).encode())

    # Envelopes

    def envelope(self, job: str, file: str, status: str) -> dict[str, Any]:
        service = {"name": self.name, "version": self.version}
        known = {"schema_version": "1.0", "job_id": job, "file_id": file}
        return known | {"status": status, "service": service}

    def ending(self, request: RecognitionRequest, status: str) -> dict[str, Any]:
        return self.envelope(str(request.job), str(UUID(request.file_id)), status)

    async def announce(self, request: RecognitionRequest, envelope: dict[str, Any]) -> None:
        """Send a result until it is answered, by the core or by a stream."""
        headers = {message_ids.HEADER: self.result_id(request)}
        body = json.dumps(envelope).encode()
        while True:
            try:
                await self.client.request(
                    self.result_subject, body, timeout=REPEAT_SECONDS, headers=headers
                )
            except (TimeoutError, nats.errors.Error):
                continue
            return

    async def publish(self, envelope: dict[str, Any], msg_id: str) -> None:
        body = json.dumps(envelope).encode()
        await self.client.publish(self.result_subject, body, headers={message_ids.HEADER: msg_id})
        await self.client.flush()


def main(kind: type[Reference] = Reference, env: Mapping[str, str] = os.environ) -> None:
    sys.exit(asyncio.run(kind(env).run()))


if __name__ == "__main__":
    from tests.conformance.service import faults

    main(faults.FAULTS[sys.argv[1]].kind if len(sys.argv) > 1 else Reference)
