"""Core and service as a bank runs them: operator mode, least privilege, secrets from OpenBao."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from armka.contract.subjects import DEFAULTS
from armka.messaging.setup.folder import write
from armka.messaging.setup.roles import roles
from armka.stack import NatsServer, OpenBaoServer
from tests import forked, web
from tests.openbao import allow_approle, approle, put
from tests.world import CoreProcess, World, until

SAMPLES = Path(__file__).parents[2] / "samples"
TOKEN = "canary-api-token"
ROLES = ("core", "tabular-parser")


class Bank:
    """NATS in operator mode, an OpenBao of its own, and who runs with what they hold."""

    def __init__(self, world: World, folder: Path, openbao: OpenBaoServer) -> None:
        self.world = world
        self.folder = folder
        self.openbao = openbao
        self.secrets = {TOKEN, openbao.root_token}
        self.ways: dict[str, dict[str, str]] = {}

    async def give(self, seconds: float) -> None:
        """New JWTs, in OpenBao."""
        write(self.folder, roles(list(DEFAULTS.values())), days=seconds / 86_400)
        for role in ROLES:
            fields = json.loads((self.folder / f"users/{role}.json").read_text())
            self.secrets |= set(fields.values())
            await put(self.openbao, f"arm-ka/{role}/supersecrets", fields)

    async def let_in(self) -> None:
        """An AppRole for each."""
        await allow_approle(self.openbao)
        for role in ROLES:
            way = await approle(self.openbao)
            self.secrets.add(way["BAO_APPROLE_SECRET_ID"])
            path = {"BAO_SECRET_PATH": f"arm-ka/{role}", "BAO_REFRESH_SECONDS": "0.5"}
            self.ways[role] = way | path

    def env(self, role: str) -> dict[str, Any]:
        talkative = {"API_TOKEN": TOKEN, "DEBUG": "true", "LOG_LEVEL": "DEBUG"}
        impatient = {"ACK_TIMEOUT_SECONDS": "1", "OUTBOX_MAX_REPUBLISH": "100"}
        return self.ways[role] | talkative | impatient | {"SERVICE_REPEAT_SECONDS": "1"}

    @contextlib.asynccontextmanager
    async def service(self) -> AsyncIterator[Path]:
        """A tabular-parser; its log."""
        log = self.world.folder / "service.log"
        env = self.world.env(**self.env("tabular-parser"))
        process = forked.start(("service", "tabular-parser"), env, log)
        try:
            yield log
        finally:
            process.terminate()
            await process.wait()
            print(log.read_text())  # noqa: T201 - pytest shows it where a test fails


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "setup"
    write(folder, roles(list(DEFAULTS.values())), days=1)
    return folder


@pytest.fixture
async def nats_server(tmp_path: Path, folder: Path) -> AsyncIterator[NatsServer]:
    config = (folder / "accounts.conf").read_text()
    async with NatsServer(tmp_path / "nats", fsync=False, config=config) as server:
        yield server


@pytest.fixture
async def bank(world: World, folder: Path, tmp_path: Path) -> AsyncIterator[Bank]:
    async with OpenBaoServer(tmp_path / "openbao") as openbao:
        made = Bank(world, folder, openbao)
        await made.let_in()
        yield made


async def _upload(http: httpx.AsyncClient, name: str) -> str:
    content = await asyncio.to_thread(next(SAMPLES.glob(name)).read_bytes)
    made = await http.post("/api/v1/files", files={"file": ("ОСВ.xls", content)})
    assert made.status_code == 201, made.text
    return str(made.json()["job_id"])


async def _job(http: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = (await http.get(f"/api/v1/jobs/{job_id}")).json()
    return shown


async def _done(http: httpx.AsyncClient, job_id: str) -> None:
    async def is_done() -> bool:
        return (await _job(http, job_id))["status"] in {"done", "needs_check"}

    await until(is_done)


async def _readiness(http: httpx.AsyncClient) -> str:
    return str((await http.get("/readyz", params={"verbose": ""})).json()["checks"]["nats"])


async def test_documents_pass_while_credentials_come_end_and_follow(bank: Bank) -> None:
    """Nothing in OpenBao at first; then JWTs that end in the middle; then OpenBao and NATS away.
    Every document comes through, and no secret is anywhere.
    """
    core = await bank.world.core(wait=False, **bank.env("core"), PYTHONFAULTHANDLER=1)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        bank.service() as service_log,
        web.client(base_url=core.url, headers=headers, timeout=30) as http,
    ):
        await _waits_for_credentials(http)
        first = await _upload(http, "ОСВ Ромашка*.xls")
        await bank.give(seconds=1)

        async def expired() -> bool:
            return "expired at" in await _readiness(http)

        await until(expired)
        second = await _upload(http, "ОСВ Ромашка*.xls")
        assert (await _job(http, second))["status"] == "queued"
        await bank.give(seconds=3600)
        await asyncio.gather(_done(http, first), _done(http, second))

        await bank.openbao.stop()
        bank.world.nats.kill()
        await bank.world.nats.start()
        await _done(http, await _upload(http, "ОСВ Ромашка*.xls"))

        shown = await _everything_shown(http)
        shown += await _crash(core)
        shown += core.said() + service_log.read_text()
    assert "last known nats credentials" in shown
    secrets = bank.secrets | _secrets_of(bank.world)
    assert [secret for secret in secrets if secret in shown] == []


async def _waits_for_credentials(http: httpx.AsyncClient) -> None:
    """The API serves, and says what is missing."""

    async def says_so() -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return "OpenBao has neither kv/arm-ka/core/secrets" in await _readiness(http)
        return False

    await until(says_so)
    assert (await http.get("/livez")).status_code == 200


async def _everything_shown(http: httpx.AsyncClient) -> str:
    """What the API answers, also to nonsense."""
    paths = ("metrics", "healthcheck", "readyz?verbose", "openapi.json", "docs", "api/v1/jobs",
             "api/v1/files", "api/v1/jobs/nonsense", "api/v1/files?limit=x", "nowhere")  # fmt: skip
    answers = [(await http.get(f"/{path}")).text for path in paths]
    refused = await http.get("/api/v1/jobs", headers={"Authorization": "Bearer wrong"})
    broken = await http.post("/api/v1/files", content=b"--nonsense")
    return "\n".join([*answers, refused.text, broken.text])


async def _crash(core: CoreProcess) -> str:
    """The worst end, with Python's own report of it."""
    core.signal(signal.SIGABRT)
    await core.process.wait()
    return core.said()


def _secrets_of(world: World) -> set[str]:
    """The keys of S3 and the database's password."""
    objects = world.objects.env()
    password = world.dsn.partition("://")[2].partition("@")[0].partition(":")[2]
    return {objects["S3_SECRET_ACCESS_KEY"], objects["S3_ACCESS_KEY_ID"], password}


@pytest.mark.parametrize("wrong", ["seed", "role"])
async def test_a_wrong_role_is_reported(bank: Bank, wrong: str) -> None:
    """The service with the core's user: it may not hear requests, and says so by subject. The core
    with a broken seed: refused, and said without it.
    """
    await bank.give(seconds=3600)
    if wrong == "role":
        fields = json.loads((bank.folder / "users/core.json").read_text())
        await put(bank.openbao, "arm-ka/tabular-parser/supersecrets", fields)
        async with bank.service() as log:

            async def said() -> bool:
                return "permit this user to subscribe files.tabular_uploaded" in log.read_text()

            await until(said)
        return
    await put(bank.openbao, "arm-ka/core/secrets", {"NATS__NATS_SEED": "SUcanary-broken"})
    fields = json.loads((bank.folder / "users/core.json").read_text())
    await put(
        bank.openbao, "arm-ka/core/supersecrets", {"NATS__NATS_JWT": fields["NATS__NATS_JWT"]}
    )
    core = await bank.world.core(wait=False, **bank.env("core"), PYTHONFAULTHANDLER=1)

    async def told() -> bool:
        return "nats not reachable" in core.said()

    await until(told)
    assert "canary" not in core.said()
