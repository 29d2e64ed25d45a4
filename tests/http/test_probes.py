"""Probes, metrics, the request log: what operations sees."""

import asyncio
import json
import re
from uuid import uuid4

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests import web
from tests.files import documents
from tests.http import wire
from tests.http.serving import QuietCore, upload
from tests.http.test_outages import Fragile, fragile  # noqa: F401 - a fixture
from tests.world import CoreProcess, World, until


async def _get(core: CoreProcess | QuietCore, path: str) -> httpx.Response:
    async with web.client(base_url=core.url, timeout=10) as http:
        return await http.get(path)


async def test_an_idle_connection_is_kept_longer_than_a_client_keeps_it(
    quiet_core: QuietCore,
) -> None:
    """Six seconds say nothing, and it is there; a usual client gives up its end after five."""
    asked = b"GET /livez HTTP/1.1\r\nHost: core\r\n\r\n"
    async with wire.connection(quiet_core.port) as (reader, writer):
        writer.write(asked)
        await reader.readuntil(b'{"status":"ok"}')
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 6)
        writer.write(asked)
        await reader.readuntil(b'{"status":"ok"}')


async def test_a_whole_core_is_ready_and_says_of_what(world: World) -> None:
    """Every component by name; without NATS it is not ready, and lives."""
    core = await world.core()

    async def is_ready() -> bool:
        return (await _get(core, "/readyz")).status_code == 200

    await until(is_ready)
    shown = (await _get(core, "/readyz?verbose")).json()
    assert shown["status"] == "ready"
    assert set(shown["checks"].values()) == {"ok"}
    assert {"process", "nats", "database", "objects", "loop outbox", "loop bulk"} <= set(
        shown["checks"]
    )
    await world.nats.stop()

    async def is_not_ready() -> bool:
        return (await _get(core, "/readyz")).status_code == 503

    await until(is_not_ready)
    checks = (await _get(core, "/readyz?verbose")).json()["checks"]
    assert checks["nats"].startswith("not connected: ")
    assert checks["database"] == "ok"
    assert (await _get(core, "/livez")).json() == {"status": "ok"}


async def test_probes_answer_within_a_second_whatever_hangs(
    fragile: Fragile,  # noqa: F811
) -> None:
    """With PostgreSQL frozen: alive, not ready, metrics say that they know nothing."""
    assert (await _get(fragile.core, "/readyz")).status_code == 200
    fragile.postgres.pause()
    try:
        async with web.client(base_url=fragile.core.url, timeout=1.5) as http:
            for _ in range(5):
                answers = await asyncio.gather(http.get("/livez"), http.get("/readyz?verbose"))
                assert [answer.status_code for answer in answers] == [200, 503]
                assert "no answer" in answers[1].json()["checks"]["database"]
    finally:
        fragile.postgres.resume()

    async def is_ready() -> bool:
        return (await _get(fragile.core, "/readyz")).status_code == 200

    await until(is_ready, seconds=30)


async def test_a_core_that_ends_is_seen_not_ready_before_it_is_gone(world: World) -> None:
    """After SIGTERM a load balancer has its time to look away; then the core ends well."""
    core = await world.core(READINESS_GRACE_SECONDS=2)

    async def is_ready() -> bool:
        return (await _get(core, "/readyz")).status_code == 200

    await until(is_ready)
    core.process.terminate()

    async def is_draining() -> bool:
        answer = await _get(core, "/readyz?verbose")
        return answer.status_code == 503 and answer.json()["checks"]["process"] == "draining"

    await until(is_draining)
    assert (await _get(core, "/livez")).status_code == 200
    assert await core.stop() == 0


async def test_metrics_tell_what_waits_and_what_happened(world: World) -> None:
    """In Prometheus' own format; the backlog by place, the loops, the requests by route."""
    core = await world.core(NATS_ENABLED=False)
    job_id = await world.job()
    await world.job(await world.file(), status="published", pipeline="image")
    await _get(core, f"/api/v1/jobs/{job_id}")
    await _get(core, "/metrics")
    samples = await _samples(core)
    assert samples["armka_waiting", "queued"] == 1
    assert samples["armka_waiting", "published"] == 1
    assert samples["armka_oldest_seconds", "queued"] > 0
    assert samples["armka_database_up", ""] == 1
    assert samples["armka_http_requests_total", "GET /api/v1/jobs/{job_id} 200"] == 1


async def test_metrics_count_each_transition_once(world: World) -> None:
    """Publications, ends, failures, rejections, and the time from upload to mapped lines."""
    core = await world.core(NATS_ENABLED=False)
    await _get(core, "/metrics")
    job_id = await world.job(publish_count=3)
    for status in ("published", "error"):
        await world.db.execute(
            "update recognition_job set status = $2 where id = $1", job_id, status
        )
    await world.db.execute(
        "insert into quality_failure_fact (recognition_job_id, failure_kind, pipeline, "
        "occurred_at) values ($1, 'TIMEOUT', 'tabular', now() - interval '1 hour')",
        job_id,
    )
    await world.db.execute(
        "insert into rejected_message (reason, received_at) "
        "values ('late', now() - interval '1 hour')"
    )
    await world.db.execute("update recognition_job_event set at = at - interval '1 hour'")
    await _samples(core)
    samples = await _samples(core)
    assert samples["armka_jobs_ended_total", "tabular error"] == 1
    assert samples["armka_publish_lag_seconds_count", "tabular"] == 1
    assert samples["armka_publications_total", "tabular"] == 3
    assert samples["armka_republications_total", "tabular"] == 2
    assert samples["armka_failures_total", "TIMEOUT tabular"] == 1
    assert samples["armka_rejected_messages_total", "late"] == 1


async def _samples(core: CoreProcess) -> dict[tuple[str, str], float]:
    text = (await _get(core, "/metrics")).text
    return {
        (sample.name, " ".join(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if "le" not in sample.labels
    }


async def test_a_request_is_logged_without_names_and_bodies(
    quiet_core: QuietCore, api: httpx.AsyncClient
) -> None:
    """Method, route, status, milliseconds, ids; nothing that a client said."""
    secret = uuid4().hex
    made = (await upload(api, f"{secret}.pdf", documents.PDF, client_ref=secret)).json()
    await api.get(f"/files/{made['file_id']}")
    await api.get("/files", params={"name": secret})
    await api.get(f"/files/{secret}x")
    log = quiet_core.log.read_text()
    assert secret not in log
    requests = [json.loads(line) for line in log.splitlines() if '"event": "request"' in line]
    (posted,) = [it for it in requests if it.get("job_id") == made["job_id"]]
    assert (posted["method"], posted["route"], posted["status"]) == ("POST", "/api/v1/files", 201)
    assert posted["file_id"] == made["file_id"]
    assert posted["ms"] > 0
    assert any(
        it.get("file_id") == made["file_id"] and it["route"] == "/api/v1/files/{file_id}"
        for it in requests
    )


async def test_a_core_that_ends_lets_long_polls_go(world: World) -> None:
    """SIGTERM: they are answered with what is, at once."""
    core = await world.core(NATS_ENABLED=False)
    job_id = await world.job()
    waiting = asyncio.create_task(_get_long(core, f"/api/v1/jobs/{job_id}?wait=60"))

    async def is_waiting() -> bool:
        return bool(re.search("status watch", core.said())) or not waiting.done()

    await until(is_waiting)
    await _get(core, "/livez")
    assert await core.stop() == 0
    assert (await waiting).json()["status"] == "queued"


async def _get_long(core: CoreProcess, path: str) -> httpx.Response:
    async with web.client(base_url=core.url, timeout=70) as http:
        return await http.get(path)
