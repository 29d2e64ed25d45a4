"""Stages: one for each set of settings that scenarios share, and one of a test's own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from armka.conformance.scenario import Scenario
from armka.conformance.target import Power
from armka.conformance.transports import MANNERS
from armka.contract.subjects import Transport
from armka.stack import NatsServer, ObjectServer, PostgresServer
from tests.conformance.mutants.mutant import Mutant
from tests.conformance.stage import QUICK, Stage
from tests.servers import administer, apart

Settings = Mapping[str, float | str]


# How a core is told which transport it uses.
TRANSPORTS: Mapping[Transport, Settings] = {
    Transport.CORE: {},
    Transport.JETSTREAM: {"NATS_TRANSPORT": "jetstream", "NATS_MANAGE_STREAM": "true"},
}


def settings_for(scenario: Scenario, transport: Transport) -> Settings:
    """The suite's settings with what the scenario asks for."""
    demanded = {demand.setting: demand.value for demand in scenario.demands}
    return {**QUICK, **TRANSPORTS[transport], **demanded}


def transports_of(scenario: Scenario) -> list[Transport]:
    """On which transports it makes sense."""
    return [it for it in Transport if scenario.traits <= MANNERS[it].traits]


async def new_database(postgres: PostgresServer, template: str) -> str:
    """A migrated, empty database on the session's server, which takes it away at its end."""
    name = f"conform_{uuid4().hex}"
    await administer(postgres, f"create database {name} template {template}")
    return postgres.database_url(name)


@pytest.fixture(scope="session")
def standing(
    postgres: PostgresServer,
    database_template: str,
    object_store_server: ObjectServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[Settings], Stage]]:
    """Stages that undisturbing scenarios share, each started when first asked for."""
    stages: dict[tuple[tuple[str, object], ...], Stage] = {}

    async def start(key: tuple[tuple[str, object], ...], settings: Settings) -> None:
        folder = tmp_path_factory.mktemp("standing")
        database = await new_database(postgres, database_template)
        nats = NatsServer(folder / "nats", fsync=False)
        await nats.start()
        stages[key] = Stage(folder, database, nats, object_store_server, settings)
        await stages[key].start_core()

    def get(settings: Settings) -> Stage:
        key = tuple(sorted(settings.items()))
        if key not in stages:
            apart(lambda: start(key, settings))
        return stages[key]

    async def stop() -> None:
        for stage in stages.values():
            await stage.kill_cores()
            await stage.nats.stop()

    yield get
    apart(stop)


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


MakeStage = Callable[..., Awaitable[Stage]]


@pytest.fixture
async def make_stage(
    postgres: PostgresServer,
    database_template: str,
    object_store_server: ObjectServer,
    tmp_path: Path,
) -> AsyncIterator[MakeStage]:
    """Makes stages of this test's own, with a core running."""
    stages: list[Stage] = []

    async def make(
        settings: Settings,
        powers: frozenset[Power],
        mutant: Mutant | None = None,
    ) -> Stage:
        folder = tmp_path / uuid4().hex
        folder.mkdir()
        url = await new_database(postgres, database_template)
        if mutant and mutant.database:
            await _execute(url, mutant.database)
        nats = NatsServer(folder / "nats", fsync=False)
        objects = object_store_server
        if Power.STOP_OBJECTS in powers:
            objects = ObjectServer(folder / "s3")
            await objects.start()
        await nats.start()
        stage = Stage(folder, url, nats, objects, settings, mutant.id if mutant else None)
        stages.append(stage)
        await stage.start_core()
        return stage

    yield make
    for stage in stages:
        await stage.kill_cores()
        await stage.nats.stop()
        if stage.objects is not object_store_server:
            await stage.objects.stop()
        print(stage.said())  # noqa: T201 - pytest shows it where a test fails
    await asyncio.sleep(0)
