"""Moments of the exchange, held open by a lock, not by luck."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from armka.conformance.job import Job
from armka.conformance.surface import Surface


@contextlib.asynccontextmanager
async def publication_held_open(surface: Surface) -> AsyncIterator[tuple[Job, int]]:
    """A job whose request is on the wire and whose publisher, this backend, cannot commit until
    the block ends.

    Publishing makes the file PROCESSING in the same transaction (§1), and the file is held here.
    """
    file_id = await surface.file()
    async with surface.tables.transaction() as inserting:
        job_id = await inserting.value("insert_bare_job", file_id, "tabular")
        await inserting.run("make_current", file_id, job_id)
        inserter = await inserting.value("backend")
        holding = surface.tables.holding("lock_file", file_id)
        held = asyncio.create_task(holding.__aenter__())
        # It has the lock the moment the job can be seen.
        await _somebody_waits_for(surface, inserter)
    holder = await held
    try:
        yield await _on_the_wire(surface, Job(job_id, file_id, surface.objects.bucket), holder)
    finally:
        await holding.__aexit__(None, None, None)


async def _on_the_wire(surface: Surface, job: Job, holder: Any) -> tuple[Job, int]:
    surface.trail.add(f"insert of a queued job {job.id}, its file locked")
    await surface.request(job)
    publisher = await _somebody_waits_for(surface, await holder.value("backend"))
    return job, publisher


async def _somebody_waits_for(surface: Surface, backend: int) -> int:
    async def look() -> list[dict[str, Any]]:
        return await surface.tables.all("waiting_for", backend)

    waiting = await surface.comes(f"somebody waits for backend {backend}", look)
    return int(waiting[0]["pid"])


async def waits_or_ends(surface: Surface, backend: int, asked: "asyncio.Task[Any]") -> None:
    """Return when somebody waits for this backend, or what was asked has ended without waiting."""

    async def look() -> bool:
        return asked.done() or bool(await surface.tables.all("waiting_for", backend))

    await surface.comes(f"the inbox waits for backend {backend}", look)


@contextlib.asynccontextmanager
async def inbox_held(surface: Surface) -> AsyncIterator[UUID]:
    """The inbox is busy with one envelope until the block ends; what arrives meanwhile makes one
    batch.
    """
    job = await surface.published()
    async with surface.tables.holding("lock_job", job.id) as holder:
        await surface.send((job.envelope("processing"), job.ack_id))
        await _somebody_waits_for(surface, await holder.value("backend"))
        yield job.id
