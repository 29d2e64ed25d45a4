"""A missing permission holds up its own pipeline alone, says so everywhere, and heals by itself."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from armka.stack import NatsServer
from tests import web
from tests.world import IMAGE, RESULTS, TABULAR, World, until

ALLOWED = """
authorization {{ users = [
  {{ user: admin, password: admin }}
  {{ user: core, password: canary, permissions: {{
    publish: [{publish}], subscribe: ["{results}", "_INBOX.core.>"] }} }}
] }}
"""


def config(*publish: str) -> str:
    subjects = ", ".join(f'"{subject}"' for subject in publish)
    return ALLOWED.format(publish=subjects, results=RESULTS)


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """The core may ask for spreadsheets only."""
    async with NatsServer(tmp_path / "nats", fsync=False, config=config(TABULAR)) as server:
        yield server


async def test_jobs_of_a_forbidden_subject_wait_and_hold_up_nobody(world: World) -> None:
    """B10: more forbidden jobs than a batch takes, all of them older; then the permission comes."""
    url = world.nats.url.replace("//", "//core:canary@")
    images = [await world.job(await world.file(file_type="PDF"), pipeline="image") for _ in "12345"]
    sheets = [await world.job() for _ in range(3)]
    core = await world.core(NATS_URL=url, OUTBOX_BATCH_SIZE=2, DOCTOR_PERIOD_SECONDS=0.2)
    for sheet in sheets:
        await world.status(sheet, "published")
    late = await world.job(await world.file(file_type="PDF"), pipeline="image")

    async with web.client(base_url=core.url, timeout=30) as http:
        for image in (*images, late):
            shown = (await http.get(f"/api/v1/jobs/{image}")).json()
            assert shown["status"] == "queued"
            assert f'publish to "{IMAGE}"' in shown["waiting_reason"].lower()
        assert (await http.get(f"/api/v1/jobs/{sheets[0]}")).json()["waiting_reason"] is None
        assert 'armka_waiting{place="blocked"} 6.0' in (await http.get("/metrics")).text

        async def seen_by_the_doctor() -> bool:
            health = (await http.get("/healthcheck")).json()
            return bool(health["doctor"]["drift"].get("pipeline_blocked") == 1)

        await until(seen_by_the_doctor)
        assert core.said().count("the requests of a pipeline cannot go out") == 1

        await world.nats.stop()
        world.nats._config = config(TABULAR, IMAGE)
        await world.nats.start()
        for image in (*images, late):
            await world.status(image, "published")
        assert (await http.get(f"/api/v1/jobs/{late}")).json()["waiting_reason"] is None
    assert await world.db.fetchval("select count(*) from outbox_obstacle") == 0
    assert "canary" not in core.said()


async def test_a_withdrawn_permission_holds_up_no_repeat_of_others(world: World) -> None:
    """More published jobs of the forbidden subject than a batch takes, all of them older: the
    others are published again all the same (O3), and the forbidden ones when it is allowed.
    """
    url = world.nats.url.replace("//", "//core:canary@")
    images = [
        await _published(world, 50, await world.file(file_type="PDF"), pipeline="image")
        for _ in "12345"
    ]
    sheet = await _published(world, 40)
    core = await world.core(
        NATS_URL=url, OUTBOX_BATCH_SIZE=2, ACK_TIMEOUT_SECONDS=1, OUTBOX_MAX_REPUBLISH=100
    )

    async def again(job: UUID) -> bool:
        return bool((await world.row(job))["publish_count"] > 1)

    await until(partial(again, sheet))
    assert [await again(image) for image in images] == [False] * 5
    await world.nats.stop()
    world.nats._config = config(TABULAR, IMAGE)
    await world.nats.start()
    for image in images:
        await until(partial(again, image))
    assert core.process.returncode is None


async def _published(
    world: World, seconds_ago: float, file: UUID | None = None, pipeline: str = "tabular"
) -> UUID:
    then = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    return await world.job(
        file, pipeline=pipeline, status="published", publish_count=1, published_at=then,
        last_published_at=then, request_subject={"image": IMAGE, "tabular": TABULAR}[pipeline],
    )  # fmt: skip
