"""A world for one test: a database, a NATS, S3, and the core processes that it starts."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer
from tests import forked, web
from tests.forked import Forked

PATIENCE_SECONDS = 60.0

TABULAR = "files.tabular_uploaded"
IMAGE = "files.img_uploaded"
RESULTS = "files.tabular_parsed"


async def until(
    what: Callable[[], Awaitable[Any]], *, seconds: float = PATIENCE_SECONDS, pause: float = 0.02
) -> Any:
    """Ask again and again until the answer is truthy, and return it; fail when it does not become
    so.
    """
    end = time.monotonic() + seconds
    while True:
        answer = await what()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"did not come true within {seconds:.0f} s")
        await asyncio.sleep(pause)


@dataclass
class CoreProcess:
    """A running `armka core`, or a service."""

    process: Forked | asyncio.subprocess.Process
    url: str
    log: Path

    async def ready(self) -> None:
        """Return when it serves, and has its connection where it wants one."""
        async with web.client(self.url, timeout=2) as http:
            await until(partial(self._takes_part, http), pause=0.1)

    async def _takes_part(self, http: httpx.AsyncClient) -> bool:
        assert self.process.returncode is None, self.said()
        with contextlib.suppress(httpx.HTTPError):
            health = await http.get("/healthcheck")
            return bool(health.json()["nats"] != "disconnected")
        return False

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    async def stop(self) -> int:
        """SIGTERM, and its exit code."""
        if self.process.returncode is None:
            self.process.terminate()
        async with asyncio.timeout(40):
            return await self.process.wait()

    def said(self) -> str:
        """Its log."""
        return self.log.read_text()


@dataclass
class World:
    """The servers of a test, and short ways to play the core's peers."""

    dsn: str
    nats: NatsServer
    objects: ObjectServer
    folder: Path
    db: asyncpg.Connection
    store: ObjectStore
    cores: list[CoreProcess] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)

    def env(self, **settings: object) -> dict[str, str]:
        """The environment of arm-ka's processes in this world."""
        usual = {
            "DATABASE_URL": self.dsn,
            "OUTBOX_POLL_SECONDS": "0.5",
            "MAPPING_POLL_SECONDS": "0.5",
        }
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return (
            base
            | self.nats.env()
            | self.objects.env()
            | usual
            | {k: str(v) for k, v in settings.items()}
        )

    async def core(self, *, wait: bool = True, **settings: object) -> CoreProcess:
        """Start a core; with `wait`, return when it serves and has its NATS connection."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        return await self.core_on(port, wait=wait, **settings)

    async def core_on(self, port: int, *, wait: bool = True, **settings: object) -> CoreProcess:
        """The same on this port, where another core was before."""
        log = self.folder / f"core{len(self.cores)}.log"
        process = forked.start(("core", "--port", str(port)), self.env(**settings), log)
        core = CoreProcess(process, f"http://127.0.0.1:{port}", log)
        self.cores.append(core)
        if wait:
            await core.ready()
        return core

    async def client(self) -> Client:
        """A NATS client of the test's own."""
        client = await nats.connect(self.nats.url)
        self.clients.append(client)
        return client

    async def listen(self, subject: str, queue: str = "") -> asyncio.Queue[Msg]:
        """What arrives on a subject from now on."""
        heard: asyncio.Queue[Msg] = asyncio.Queue()
        client = await self.client()
        await client.subscribe(subject, queue=queue, cb=heard.put)
        await client.flush()
        return heard

    async def send(
        self, envelope: dict[str, Any] | bytes, msg_id: str | None, *, reply: str = ""
    ) -> None:
        """Publish an envelope as a service would."""
        client = self.clients[0] if self.clients else await self.client()
        body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
        await client.publish(
            RESULTS, body, reply=reply, headers={"Nats-Msg-Id": msg_id} if msg_id else None
        )
        await client.flush()

    async def ask(
        self, envelope: dict[str, Any] | bytes, msg_id: str | None, seconds: float = 10
    ) -> dict[str, Any]:
        """Publish an envelope with a reply subject and return the core's answer (I8)."""
        client = await self.client()
        body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
        headers = {"Nats-Msg-Id": msg_id} if msg_id else None
        answer = await client.request(RESULTS, body, timeout=seconds, headers=headers)
        outcome: dict[str, Any] = json.loads(answer.data)
        return outcome

    async def file(
        self, *, file_type: str = "XLSX", role: str = "uploads", name: str = "ОСВ за 2023 год.xlsx"
    ) -> UUID:
        """A stored file without a job."""
        file_id = uuid4()
        await self.db.execute(
            """with o as (insert into s3_object (bucket, key, bucket_role) values ('arm-ka', $2, $3)
            returning id) insert into stored_file (id, original_name, file_type, s3_object_id)
            select $1, $4, $5, id from o""", file_id,
            f"uploads/{file_id}/source.{file_type.lower()}", role, name, file_type,
        )  # fmt: skip
        return file_id

    async def job(
        self, file_id: UUID | None = None, *, current: bool = True, **columns: object
    ) -> UUID:
        """A job of a file (its current one), with these columns."""
        file_id = file_id or await self.file()
        row = {"id": uuid4(), "stored_file_id": file_id, "pipeline": "tabular"} | columns
        names, places = ", ".join(row), ", ".join(f"${n}" for n in range(1, len(row) + 1))
        async with self.db.transaction():
            await self.db.execute(
                f"insert into recognition_job ({names}) values ({places})", *row.values()
            )
            if current:
                await self.db.execute(
                    "update stored_file set current_recognition_job_id = $2 where id = $1",
                    file_id,
                    row["id"],
                )
        return UUID(str(row["id"]))

    async def row(self, job_id: UUID) -> asyncpg.Record:
        """The job as it is."""
        row = await self.db.fetchrow("select * from recognition_job where id = $1", job_id)
        assert row is not None
        return row

    async def file_of(self, job_id: UUID) -> asyncpg.Record:
        """The job's file as it is."""
        row = await self.db.fetchrow(
            "select f.* from stored_file f join recognition_job j on j.stored_file_id = f.id "
            "where j.id = $1",
            job_id,
        )
        assert row is not None
        return row

    async def status(
        self, job_id: UUID, *wanted: str, seconds: float = PATIENCE_SECONDS
    ) -> asyncpg.Record:
        """Wait until the job has one of these statuses."""

        async def reached() -> asyncpg.Record | None:
            row = await self.row(job_id)
            return row if row["status"] in wanted else None

        row: asyncpg.Record = await until(reached, seconds=seconds)
        return row

    async def facts(self, job_id: UUID) -> list[tuple[str, str | None]]:
        """The job's failure facts: kind and code."""
        rows = await self.db.fetch(
            "select failure_kind, error_code from quality_failure_fact "
            "where recognition_job_id = $1 order by id",
            job_id,
        )
        return [(row["failure_kind"], row["error_code"]) for row in rows]

    async def rejected(self, job_id: UUID | None) -> list[asyncpg.Record]:
        """What was kept instead of applied for this job."""
        return await self.db.fetch(
            "select * from rejected_message where recognition_job_id is not distinct from $1 "
            "order by id",
            job_id,
        )

    async def events(self, job_id: UUID) -> list[tuple[str, str]]:
        """The job's transitions."""
        rows = await self.db.fetch(
            "select from_status, to_status from recognition_job_event "
            "where recognition_job_id = $1 order by id",
            job_id,
        )
        return [(row["from_status"], row["to_status"]) for row in rows]

    async def envelope(self, job_id: UUID, status: str, **fields: object) -> dict[str, Any]:
        """A valid envelope for a job."""
        row = await self.row(job_id)
        file_id = row["stored_file_id"]
        base: dict[str, Any] = {
            "schema_version": "1.0",
            "job_id": str(job_id),
            "file_id": str(file_id),
            "status": status,
            "service": {"name": "test-parser", "version": "9.9"},
        }
        if status in {"done", "needs_check"}:
            base["result_s3"] = {
                "bucket": "arm-ka",
                "key": f"results/{file_id}/{job_id}/result.json",
            }
            base["result_schema_version"] = "1.0"
        if status == "error":
            base["error"] = {"code": "UNREADABLE", "message": "The file is damaged"}
        return base | fields

    async def close(self) -> None:
        """End what the test started."""
        for core in self.cores:
            if core.process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    core.signal(signal.SIGCONT)
                    core.kill()
                await core.process.wait()
            print(core.said())  # noqa: T201 - pytest shows it where a test fails
        for client in self.clients:
            await client.close()
        await self.db.close()


@contextlib.asynccontextmanager
async def service(world: World, name: str, **settings: object) -> AsyncIterator[CoreProcess]:
    """`armka service NAME`, subscribed; ended by SIGTERM where the test has not killed it."""
    log = world.folder / f"{name}-{uuid4().hex[:6]}.log"
    process = forked.start(("service", name), world.env(**settings), log)
    running = CoreProcess(process, "", log)

    async def subscribed() -> bool:
        assert process.returncode is None, running.said()
        return '"subscribed"' in running.said()

    try:
        await until(subscribed)
        yield running
    finally:
        assert await running.stop() in (0, -signal.SIGKILL)
        print(running.said())  # noqa: T201 - pytest shows it where a test fails


@pytest.fixture
async def world(
    database: str, nats_server: NatsServer, object_store_server: ObjectServer, tmp_path: Path
) -> AsyncIterator[World]:
    """An empty, migrated world."""
    settings = ObjectSettings.model_validate(object_store_server.env())
    made = World(
        dsn=database,
        nats=nats_server,
        objects=object_store_server,
        folder=tmp_path,
        db=await asyncpg.connect(database),
        store=ObjectStore(settings),
    )
    try:
        yield made
    finally:
        await made.close()
