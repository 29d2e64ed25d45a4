"""scan-gateway on the `jetstream` transport, from the request in the stream to the mapped lines."""

import base64
from functools import partial
from typing import Any
from uuid import UUID

from armka.stack import NatsServer
from tests.exchange.streams import IMAGE, SETTINGS, api, told
from tests.scan_gateway.peer import TOKEN, Peer
from tests.world import World, service, until

JOBS = 3


async def test_a_killed_gateway_costs_no_job_and_no_second_recognition(
    world: World, nats_server: NatsServer, peer: Peer
) -> None:
    """ИС takes longer than the ack wait: the requests are said to be in progress. The gateway is
    killed: they come again, to another one, and it asks for the same documents.
    """
    short: dict[str, Any] = SETTINGS | {"NATS_ACK_WAIT_SECONDS": 2}
    gateway = short | {"SCANNING_URL": peer.url, "SCANNING_TOKEN": TOKEN, "SERVICE_CONCURRENCY": 1}
    peer.finish.clear()
    await world.core(**short)
    async with service(world, "scan-gateway", **gateway) as first:
        async with told(nats_server.url, "scan-gateway") as said:
            jobs = [await _job(world) for _ in range(JOBS)]
            for job in jobs:
                await world.status(job, "processing")
            await peer.wait(lambda: len(peer.documents) == JOBS)  # more than there are children
            number = await _number(world, jobs[0])
            await said.works_on(number, 4)
            assert number not in said.acknowledged
        first.kill()
        await first.process.wait()
    async with (
        service(world, "scan-gateway", **gateway),
        told(nats_server.url, "scan-gateway") as said,
    ):
        await peer.wait(lambda: peer.count("POST") == 2 * JOBS, seconds=60)
        assert said.acknowledged == {}
        peer.finish.set()
        for job in jobs:
            await world.status(job, "done")
            assert await said.acknowledges(await _number(world, job)) > 1
            await until(partial(_is_mapped, world, job))
    assert len(peer.documents) == JOBS


async def _job(world: World) -> UUID:
    file = await world.file(file_type="PDF", name="скан.pdf")
    await world.store.put(f"uploads/{file}/source.pdf", b"%PDF " + file.bytes)
    return await world.job(file, pipeline="image")


async def _number(world: World, job: UUID) -> int:
    """The place of a job's request in the stream."""
    client = world.clients[0] if world.clients else await world.client()
    last = (await api(client, "STREAM.INFO.RECOGNITION"))["state"]["last_seq"]
    for number in range(1, last + 1):
        message = (await api(client, "STREAM.MSG.GET.RECOGNITION", {"seq": number}))["message"]
        if message["subject"] == IMAGE and str(job).encode() in base64.b64decode(message["data"]):
            return number
    raise AssertionError(job)


async def _is_mapped(world: World, job: UUID) -> bool:
    lines = await world.db.fetchval(
        "select count(*) from osv_line l join osv_document d on d.id = l.osv_document_id "
        "where d.recognition_job_id = $1",
        job,
    )
    return bool(lines > 0 and (await world.file_of(job))["status"] == "DONE")
