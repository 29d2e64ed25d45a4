"""The checks of broker, object store, schema and clocks; and the doctor at work in a core."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from armka.core.database.pool import Database
from armka.core.database.settings import DatabaseSettings
from armka.core.doctor import records, stored
from armka.core.doctor.broker import Broker
from armka.core.doctor.doctor import Doctor
from armka.core.doctor.findings import State
from armka.core.doctor.records import Records
from armka.core.doctor.stored import Stored
from armka.core.settings import ExchangeSettings
from armka.messaging.connection import connected
from armka.messaging.settings import NatsSettings
from armka.stack import NatsServer
from tests import web
from tests.doctor.conftest import Examine
from tests.messaging.credentials import OperatorMode
from tests.world import World, until


async def test_all_is_well_where_nothing_has_happened(examine: Examine) -> None:
    """Every check is carried out and finds nothing."""
    findings = await examine()

    assert [found for found in findings.values() if found.state is not State.OK] == []


async def test_a_missing_object_is_found(world: World, examine: Examine) -> None:
    """A file whose source the store does not have; one that is there is not reported."""
    lost, kept = await world.file(), await world.file()
    await world.db.execute("update stored_file set created_at = now() - interval '1 hour'")
    await world.store.put(f"uploads/{kept}/source.xlsx", b"here")

    found = (await examine())["object_missing"]

    assert found.examples == (f"uploads/{lost}/source.xlsx",)


async def test_an_upload_that_no_file_knows_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is older than the sweep lets it become; a known one never."""
    known = await world.file()
    orphan = f"uploads/{uuid4()}/source.xlsx"
    await world.store.put(f"uploads/{known}/source.xlsx", b"known")
    await world.store.put(orphan, b"orphan")
    settings = DatabaseSettings.model_validate({"DATABASE_URL": world.dsn})
    async with Database(settings) as database:
        checks = Stored(world.store, Records(database, {}, 100), grace_seconds=3600)
        young = await checks.orphaned()
        checks._age = timedelta(seconds=-60)
        monkeypatch.setattr(stored, "_LISTED_KEYS", 1_000_000)
        old = await checks.orphaned()

    assert young.state is State.OK
    # Other tests of the session share the bucket.
    assert old.state is State.DRIFT
    assert old.count >= 1


async def test_a_migration_that_is_missing_or_strange_is_found(
    world: World, examine: Examine
) -> None:
    """Not applied, of another version, and changed are told apart."""
    await world.db.execute("update schema_migration set digest = 'x' where name = '0001_initial'")
    await world.db.execute("insert into schema_migration values ('9999_future', 'y')")
    found = (await examine())["schema_not_this_version"]
    assert found.examples == (
        "9999_future is of another version",
        "0001_initial was applied with other contents",
    )

    await world.db.execute("delete from schema_migration where name = '0001_initial'")
    assert "0001_initial is not applied" in (await examine())["schema_not_this_version"].examples


@pytest.mark.parametrize(("seconds", "words"), [(-60, "behind"), (60, "ahead"), (1, "")])
def test_clocks_that_differ_are_told_with_their_direction(seconds: float, words: str) -> None:
    """A second is forgiven: asking takes time too."""
    before = datetime.now(UTC)
    said = records._apart(before, before + timedelta(seconds=seconds), before)

    assert words in "".join(said)
    assert bool(said) is bool(words)


async def test_a_forbidden_subject_is_found(tmp_path: Path) -> None:
    """As the server itself tells the user's permissions; where it does not, nothing is claimed."""
    users = (
        "authorization {{ users = [ {{ user: core, password: secret, permissions: {{ publish: {{ "
        'allow: ["files.*", "_INBOX.>", {ask}], deny: "files.img_uploaded" }}, '
        'subscribe: {{ allow: ["_INBOX.>", "files.tabular_parsed arm-core-results"] }} }} }} ] }}'
    )
    found = []
    for name, ask in (("asks", '"$SYS.REQ.USER.INFO"'), ("dumb", '"nothing"')):
        async with NatsServer(tmp_path / name, config=users.format(ask=ask)) as server:
            url = server.url.replace("//", "//core:secret@")
            settings = NatsSettings(url=url)
            async with connected(settings, name="doctor") as connection:
                await connection.wait_live()
                found.append(await Broker(connection, settings.subjects).permitted())

    assert (found[0].state, found[0].examples) == (State.DRIFT, ("publish files.img_uploaded",))
    assert found[1].state is State.SKIPPED


async def test_a_server_that_takes_small_messages_only_is_found(tmp_path: Path) -> None:
    """By what it says in its greeting."""
    async with NatsServer(tmp_path / "small", config="max_payload: 4096") as server:
        settings = NatsSettings(url=server.url)
        async with connected(settings, name="doctor") as connection:
            await connection.wait_live()
            reached, payload, _ = Broker(connection, settings.subjects).reached()

    assert reached.state is State.OK
    assert payload.examples == ("max_payload is 4096 bytes",)


async def test_the_core_looks_by_itself_and_tells_its_health(world: World) -> None:
    """It warns in its log and counts on /healthcheck."""
    await world.job(status="processing", reply_deadline=datetime.now(UTC) + timedelta(days=90))
    core = await world.core(DOCTOR_PERIOD_SECONDS=0.2)

    async def told() -> bool:
        async with web.client() as http:
            health = (await http.get(f"{core.url}/healthcheck")).json()
        doctor = health["doctor"]
        return bool(doctor["at"]) and doctor["drift"].get("job_without_clock") == 1

    await until(told)
    warnings = [json.loads(line) for line in core.said().splitlines() if "job_without" in line]
    assert warnings[0]["check"] == "job_without_clock"
    assert warnings[0]["remedy"]


async def test_the_first_look_waits_for_the_loops(doctor: Doctor) -> None:
    """What the last stop left is theirs to settle first."""
    assert await doctor.run_once() == min(60.0, ExchangeSettings().doctor_period_seconds)
    assert doctor.summary()["at"] is None
    assert await doctor.run_once() == ExchangeSettings().doctor_period_seconds
    assert doctor.summary()["drift"] == {}


async def test_credentials_of_another_role_are_found(tmp_path: Path) -> None:
    """Whoever may not hear the answer cannot be told its permissions; that itself is told."""
    user = (
        'authorization { users = [ { user: other, password: secret, permissions: { publish: ">", '
        'subscribe: "_INBOX.other.>" } } ] }'
    )
    async with NatsServer(tmp_path / "nats", config=user) as server:
        settings = NatsSettings(url=server.url.replace("//", "//other:secret@"))
        async with connected(settings, name="doctor", role="core") as connection:
            await connection.wait_live()
            found = await Broker(connection, settings.subjects).permitted()

    assert found.state is State.DRIFT
    assert "_inbox.core" in found.examples[0]


async def test_a_jwt_that_ends_soon_is_found(tmp_path: Path) -> None:
    """With a tenth of its time left."""
    mode = OperatorMode()
    found = []
    async with NatsServer(tmp_path / "nats", config=mode.config) as server:
        for seconds in (3600, 60):
            given = {"NATS_URL": server.url} | mode.user(seconds=seconds, age_seconds=3000)
            settings = NatsSettings.model_validate(given)
            async with connected(settings, name="doctor") as connection:
                await connection.wait_live()
                found.append(Broker(connection, settings.subjects).reached()[2])

    assert [finding.state for finding in found] == [State.OK, State.DRIFT]
