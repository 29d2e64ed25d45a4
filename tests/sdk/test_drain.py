"""SIGTERM: what was acknowledged is answered, what was not is left to others."""

import asyncio
from pathlib import Path

from tests.sdk.stage import QUICK, Core, Running, running


def held(tmp_path: Path, n: int) -> dict[str, object]:
    return {"do": "wait", "begun": str(tmp_path / f"begun{n}"), "until": str(tmp_path / "go")}


async def test_work_in_hand_is_finished_and_nothing_new_is_taken(
    core: Core, service: Running, tmp_path
):
    working = [await core.order(held(tmp_path, n)) for n in range(QUICK.concurrency)]
    queued = await core.order({"do": "read"})
    for request in [*working, queued]:
        await core.statuses(request, 1)

    service.stop.set()
    await nobody_takes_requests(core)
    late = await core.order({"do": "read"})
    (tmp_path / "go").touch()
    async with asyncio.timeout(10):
        await service.done

    for request in [*working, queued]:
        assert [it.status for it in core.of(request)] == ["processing", "done"]
    assert core.of(late) == []


async def test_what_is_not_done_in_time_is_answered_as_not_done(
    core: Core, nats_settings, object_settings, tmp_path
):
    """Nobody would ask for it again: its file would wait until the deadline."""
    settings = QUICK.model_copy(update={"drain_seconds": 0.3})
    async with running(nats_settings, object_settings, settings) as it:
        working = [await core.order(held(tmp_path, n)) for n in range(QUICK.concurrency)]
        queued = await core.order({"do": "read"})
        for request in [*working, queued]:
            await core.statuses(request, 1)
        it.stop.set()
        async with asyncio.timeout(10):
            await it.done

    for request in [*working, queued]:
        assert [it.status for it in core.of(request)] == ["processing", "error"]
        assert core.of(request)[1].code == "UNKNOWN_ERROR"
        assert core.of(request)[1].msg_id == f"result:{request['job_id']}:1"


async def test_an_absent_core_does_not_keep_a_service_from_stopping(
    core: Core, nats_settings, object_settings
):
    settings = QUICK.model_copy(update={"drain_seconds": 0.3})
    async with running(nats_settings, object_settings, settings) as it:
        core.answer = None
        request = await core.order({"do": "read"})
        await core.result(request)
        it.stop.set()
        async with asyncio.timeout(10):
            await it.done

    assert {it.status for it in core.of(request)} == {"processing", "done"}


async def nobody_takes_requests(core: Core) -> None:
    """Wait for the service's subscription to go: then a request has no responder."""
    async with asyncio.timeout(10):
        while True:
            inbox = core.client.new_inbox()
            answers = await core.client.subscribe(inbox)
            await core.client.publish("files.tabular_uploaded", b"probe", reply=inbox)
            try:
                message = await answers.next_msg(timeout=0.2)
            except TimeoutError:
                continue
            if (message.headers or {}).get("Status") == "503":
                return
