"""What happened to a file: its timeline, what to do about its error, its attempts."""

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel

from armka.core.history.advice import Advice, Retry
from armka.core.history.store import Histories, History
from armka.core.history.timeline import Entry, Kind, Row
from armka.core.http.problems import answers
from armka.core.http.views import DocumentSummary


class EntryView(BaseModel):
    """One thing that happened: `fields` are its particulars, `text` says it in English."""

    at: datetime
    kind: Kind
    attempt: int | None
    fields: dict[str, str | int]
    text: str


class AdviceView(BaseModel):
    """What an error means: `what` happened, what to do `next`, whether a `retry` makes sense (now,
    later, useless); `message` is what the service or the core said of it.
    """

    code: str
    message: str | None
    what: str
    next: str
    retry: Retry


class TimelineView(BaseModel):
    """Everything that happened to a file, in its order; `error`, where it ended in one."""

    file_id: UUID
    status: str
    error: AdviceView | None
    items: list[EntryView]


class AttemptDetail(BaseModel):
    """One attempt with what was read in it, in short; `is_current`: it counts."""

    job_id: UUID
    attempt: int
    is_current: bool
    status: str
    created_at: datetime
    finished_at: datetime | None
    service_name: str | None
    service_version: str | None
    error_code: str | None
    error_message: str | None
    group_schema: str | None
    documents: list[DocumentSummary]


class AttemptList(BaseModel):
    """All attempts of a file, first to last."""

    items: list[AttemptDetail]


def router(histories: Histories) -> APIRouter:
    """The routes under `/files/{file_id}` that tell of the past."""
    api = APIRouter(prefix="/files/{file_id}", tags=["history"])

    @api.get("/timeline", responses=answers(404))
    async def timeline(file_id: UUID) -> TimelineView:
        """Tell what happened to the file, and what to do about its error."""
        return _timeline(await histories.of(file_id))

    @api.get("/attempts", responses=answers(404))
    async def attempts(file_id: UUID) -> AttemptList:
        """List the attempts to recognise the file; old ones keep their documents."""
        history = await histories.of(file_id)
        return AttemptList(items=[_attempt(row, history) for row in history.attempts])

    return api


def _timeline(history: History) -> TimelineView:
    file, advice = history.file, history.advice
    return TimelineView(
        file_id=file["id"],
        status=file["status"],
        error=_advice(file, advice) if advice else None,
        items=[_entry(entry) for entry in history.entries],
    )


def _advice(file: Row, advice: Advice) -> AdviceView:
    return AdviceView(
        code=file["error_code"],
        message=file["error_message"],
        what=advice.what,
        next=advice.next,
        retry=advice.retry,
    )


def _entry(entry: Entry) -> EntryView:
    return EntryView(
        at=entry.at,
        kind=entry.kind,
        attempt=entry.attempt,
        fields=entry.fields,
        text=entry.english,
    )


def _attempt(row: Row, history: History) -> AttemptDetail:
    own = AttemptDetail.model_fields.keys() - {"job_id", "is_current", "documents"}
    return AttemptDetail(
        job_id=row["id"],
        is_current=row["id"] == history.file["current_recognition_job_id"],
        documents=[
            DocumentSummary.model_validate(dict(document))
            for document in history.read_in(row["id"])
        ],
        **{name: row[name] for name in own},
    )
