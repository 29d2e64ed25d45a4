"""Moments of the exchange, held open by a lock, not by luck."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from armka.conformance.job import Job
from armka.conformance.surface import Surface

_TRIES = 10


@contextlib.asynccontextmanager
async def publication_held_open(surface: Surface) -> AsyncIterator[tuple[Job, int]]:
    """A job whose request is on the wire and whose publisher, this backend, cannot commit until
    the block ends.

    Publishing makes the file PROCESSING in the same transaction (§1), and the file is held here. A
    quick publisher may come before the lock; then the moment is sought with another job.
    """
    for _ in range(_TRIES):
        async with _file_held(surface) as (job, holder):
            surface.trail.add(f"insert of a queued job {job.id}, its file locked")
            await surface.request(job)
            publisher = await _waits_or_is_through(surface, job, await holder.value("backend"))
            if publisher is not None:
                yield job, publisher
                return
    raise AssertionError(f"the publisher was quicker {_TRIES} times")


@contextlib.asynccontextmanager
async def _file_held(surface: Surface) -> AsyncIterator[tuple[Job, Any]]:
    """A queued job that becomes visible at about the moment when its file is locked."""
    file_id = await surface.file()
    async with surface.tables.transaction() as inserting:
        job_id = await inserting.value("insert_bare_job", file_id, "tabular")
        await inserting.run("make_current", file_id, job_id)
        inserter = await inserting.value("backend")
        holding = surface.tables.holding("lock_file", file_id)
        held = asyncio.create_task(holding.__aenter__())
        await _somebody_waits_for(surface, inserter)
    holder = await held
    try:
        yield Job(job_id, file_id, surface.objects.bucket), holder
    finally:
        await holding.__aexit__(None, None, None)


async def _waits_or_is_through(surface: Surface, job: Job, backend: int) -> int | None:
    """Who waits for this backend; None where the job was published without waiting."""

    async def look() -> list[dict[str, Any]] | str:
        waiting = await surface.tables.all("waiting_for", backend)
        if waiting:
            return waiting
        return "through" if (await surface.row(job))["status"] != "queued" else []

    seen = await surface.comes(f"the publisher waits for backend {backend}", look)
    return None if isinstance(seen, str) else int(seen[0]["pid"])


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
