"""NATS and S3 come and go; what was begun is finished."""

import asyncio
from pathlib import Path

import pytest

from armka.messaging.settings import NatsSettings
from armka.objects.store import ObjectStore
from armka.stack import NatsServer, ObjectServer
from tests.sdk.stage import Core, object_settings_of, running, until


def held(tmp_path: Path, name: str) -> dict[str, object]:
    return {"do": "wait", "begun": str(tmp_path / name), "until": str(tmp_path / "go")}


async def test_a_result_reaches_the_core_after_nats_was_killed_in_the_middle_of_work(
    core: Core, service, nats_server: NatsServer, tmp_path
):
    request = await core.order(held(tmp_path, "begun"))
    await core.statuses(request, 1)
    await until((tmp_path / "begun").exists)

    nats_server.kill()
    (tmp_path / "go").touch()
    await core.object_of(request)
    await nats_server.start()
    await core.connect()

    assert (await core.result(request)).status == "done"
    after = await core.order({"do": "read"})
    assert (await core.result(after)).status == "done"


async def test_a_service_starts_before_its_servers(
    core: Core, object_settings, nats_server: NatsServer, nats_settings
):
    nats_server.kill()
    ready = asyncio.Event()

    async def start_late() -> None:
        await asyncio.sleep(0.5)
        await nats_server.start()
        await core.connect()
        ready.set()

    starting = asyncio.create_task(start_late())
    async with running(nats_settings, object_settings):
        await starting
        request = await core.order({"do": "read"})
        assert (await core.result(request)).status == "done"


@pytest.fixture
async def own_store(tmp_path):
    async with ObjectServer(tmp_path / "s3") as server:
        yield server


async def test_work_goes_on_when_s3_returns(
    own_store: ObjectServer, nats_server: NatsServer, nats_settings: NatsSettings, tmp_path
):
    """One job waits for its source meanwhile, another to store its result."""
    settings = object_settings_of(own_store)
    async with (
        Core(nats_server.url, ObjectStore(settings)) as core,
        running(nats_settings, settings),
    ):
        storing = await core.order(held(tmp_path, "begun"))
        fetching = await core.upload({"do": "read"})
        await until((tmp_path / "begun").exists)

        own_store.kill()
        await core.send(fetching)
        assert await core.statuses(fetching, 1) == ["processing"]
        (tmp_path / "go").touch()
        await own_store.start()

        assert (await core.result(storing)).status == "done"
        assert (await core.result(fetching)).status == "done"
        assert await core.result_file(storing)


async def test_s3_that_stays_away_ends_a_job_at_its_deadline(
    own_store: ObjectServer, nats_server: NatsServer, nats_settings: NatsSettings, tmp_path
):
    settings = object_settings_of(own_store)
    async with (
        Core(nats_server.url, ObjectStore(settings)) as core,
        running(nats_settings, settings),
    ):
        storing = await core.order(held(tmp_path, "begun"), seconds=4)
        fetching = await core.upload({"do": "read"}, seconds=4)
        await until((tmp_path / "begun").exists)

        own_store.kill()
        (tmp_path / "go").touch()
        await core.send(fetching)

        assert (await core.result(fetching)).code == "FILE_READ_ERROR"
        assert (await core.result(storing)).code == "TIMEOUT"
