"""Jobs: the list, one with its history."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from armka.core.http.views import (
    EventView,
    JobDetail,
    JobPage,
    JobView,
    decode_cursor,
    encode_cursor,
)
from armka.core.jobs.states import JobStatus
from armka.core.jobs.store import Jobs


def router(jobs: Jobs) -> APIRouter:
    """The routes under `/jobs`."""
    api = APIRouter(prefix="/jobs", tags=["jobs"])

    @api.get("")
    async def page(
        status: JobStatus | None = None,
        file_id: UUID | None = None,
        after: str | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> JobPage:
        """List jobs, newest first."""
        rows = await jobs.page(decode_cursor(after), status, file_id, limit)
        following = (
            encode_cursor(rows[-1]["created_at"], rows[-1]["id"]) if len(rows) == limit else None
        )
        return JobPage(items=[JobView.model_validate(dict(row)) for row in rows], next=following)

    @api.get("/{job_id}")
    async def one(job_id: UUID) -> JobDetail:
        """Show one job with its transitions."""
        job, events = await jobs.get(job_id)
        history = [EventView.model_validate(dict(event)) for event in events]
        return JobDetail.model_validate({**dict(job), "events": history})

    return api
