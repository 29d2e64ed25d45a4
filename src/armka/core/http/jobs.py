"""Jobs: the list, one with its history, the messages that were not applied."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query

from armka.core.http.asked import After, Limit, Wait, decode_cursor, job_filter, next_cursor
from armka.core.http.problems import answers
from armka.core.http.views import (
    EventView,
    JobDetail,
    JobPage,
    JobView,
    MessageDetail,
    MessagePage,
    MessageView,
    message_detail,
)
from armka.core.jobs.rejected import RejectedMessages
from armka.core.jobs.states import JobStatus
from armka.core.jobs.store import JobFilter, Jobs
from armka.core.jobs.watch import StatusWatch

_LAST_ID = 2**63 - 1

Reason = Literal["invalid", "foreign_file", "foreign_key", "late", "unknown_job"]
MessageId = Annotated[int, Path(ge=1, le=_LAST_ID)]
AfterMessage = Annotated[int | None, Query(ge=1, le=_LAST_ID)]


def router(jobs: Jobs, watch: StatusWatch, rejected: RejectedMessages) -> APIRouter:
    """The routes under `/jobs`."""
    api = APIRouter(prefix="/jobs", tags=["jobs"])

    @api.get("")
    async def page(
        wanted: Annotated[JobFilter, Depends(job_filter)],
        after: After = None,
        limit: Limit = 100,
    ) -> JobPage:
        """List jobs, newest first."""
        rows, following = await jobs.page(wanted, decode_cursor(after), limit)
        items = [JobView.model_validate(dict(row)) for row in rows]
        return JobPage(items=items, next=next_cursor(following))

    @api.get("/{job_id}", responses=answers(404))
    async def one(job_id: UUID, wait: Wait = 0, since_status: JobStatus | None = None) -> JobDetail:
        """Show one job with its transitions.

        With `wait` the answer comes when its status is another than `since_status` (or than the
        one it has now), or is final, and at the latest after so many seconds.
        """
        shown = await _detail(jobs, job_id)
        is_open = not JobStatus(shown.status).is_final
        if wait and is_open and shown.status == (since_status or shown.status):
            await watch.wait(job_id, shown.status, wait)
            return await _detail(jobs, job_id)
        return shown

    @api.get("/{job_id}/messages", responses=answers(404))
    async def messages(job_id: UUID, after: AfterMessage = None, limit: Limit = 100) -> MessagePage:
        """List what came for the job and was not applied, latest first."""
        rows, following = await rejected.of_job(job_id, after, limit)
        items = [MessageView.model_validate(dict(row)) for row in rows]
        return MessagePage(items=items, next=following)

    return api


def messages_router(rejected: RejectedMessages) -> APIRouter:
    """The routes under `/rejected-messages`."""
    api = APIRouter(prefix="/rejected-messages", tags=["rejected messages"])

    @api.get("")
    async def page(
        reason: Reason | None = None, after: AfterMessage = None, limit: Limit = 100
    ) -> MessagePage:
        """List messages that were not applied, latest first.

        A page may be short, even empty, while `next` says that there may be more.
        """
        rows, following = await rejected.page(reason, after, limit)
        items = [MessageView.model_validate(dict(row)) for row in rows]
        return MessagePage(items=items, next=following)

    @api.get("/{message_id}", responses=answers(404))
    async def one(message_id: MessageId) -> MessageDetail:
        """Show one message with what was kept of its body."""
        return message_detail(await rejected.get(message_id))

    return api


async def _detail(jobs: Jobs, job_id: UUID) -> JobDetail:
    job, events = await jobs.get(job_id)
    history = [EventView.model_validate(dict(event)) for event in events]
    return JobDetail(**dict(job), events=history)
