"""What the API shows, as models: the OpenAPI document is made of them."""

import base64
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from fastapi import HTTPException
from pydantic import BaseModel

from armka.core.files.store import FileRow


class JobSummary(BaseModel):
    """The attempt that counts for a file."""

    id: UUID
    status: str
    attempt: int
    pipeline: str
    created_at: datetime
    finished_at: datetime | None
    service_name: str | None
    service_version: str | None
    group_schema: str | None


class DocumentSummary(BaseModel):
    """A trial balance that was read, in short."""

    ordinal: int
    group_schema: str
    title: str
    organisation_name: str | None
    period_text: str | None
    line_count: int
    unknown_count: int
    error_count: int
    warning_count: int


class FileView(BaseModel):
    """An uploaded file."""

    id: UUID
    original_name: str
    file_type: str
    status: str
    error_code: str | None
    error_message: str | None
    client_ref: str | None
    size_bytes: int | None
    sha256: str | None
    created_at: datetime
    updated_at: datetime
    job: JobSummary | None
    documents: list[DocumentSummary]


class FilePage(BaseModel):
    """Files, newest first; `next` goes into `after` to read on."""

    items: list[FileView]
    next: str | None


class JobView(BaseModel):
    """One attempt to recognise a file."""

    id: UUID
    file_id: UUID
    original_name: str
    pipeline: str
    status: str
    attempt: int
    reply_deadline: datetime | None
    created_at: datetime
    published_at: datetime | None
    last_published_at: datetime | None
    publish_count: int
    started_at: datetime | None
    finished_at: datetime | None
    service_name: str | None
    service_version: str | None
    metrics: dict[str, Any] | None
    error_code: str | None
    error_message: str | None
    group_schema: str | None


class JobPage(BaseModel):
    """Jobs, newest first; `next` goes into `after` to read on."""

    items: list[JobView]
    next: str | None


class EventView(BaseModel):
    """One transition of a job."""

    from_status: str | None
    to_status: str
    cause: str
    at: datetime


class JobDetail(JobView):
    """A job with its history."""

    events: list[EventView]


class UploadView(BaseModel):
    """What an upload made."""

    file_id: UUID
    job_id: UUID


class AttemptView(BaseModel):
    """The job of a new attempt."""

    file_id: UUID
    job_id: UUID
    attempt: int


def file_view(shown: FileRow) -> FileView:
    """Show a file."""
    row, job = shown.file, None
    if row["job_status"] is not None:
        job = JobSummary(
            id=row["current_recognition_job_id"],
            status=row["job_status"],
            created_at=row["job_created_at"],
            **{
                name: row[name]
                for name in (
                    "attempt",
                    "pipeline",
                    "finished_at",
                    "service_name",
                    "service_version",
                    "group_schema",
                )
            },
        )
    documents = [DocumentSummary.model_validate(dict(document)) for document in shown.documents]
    own = FileView.model_fields.keys() - {"job", "documents"}
    return FileView(job=job, documents=documents, **{name: row[name] for name in own})


def encode_cursor(created_at: datetime, row_id: UUID) -> str:
    """Where a page ended, as an opaque word."""
    words = f"{created_at.isoformat()}|{row_id}"
    return base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    """Read `after`; a word that is no cursor is a bad request."""
    if cursor is None:
        return None, None
    try:
        words = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        moment, _, row_id = words.partition("|")
        return datetime.fromisoformat(moment).astimezone(UTC), UUID(row_id)
    except (ValueError, OverflowError):
        raise HTTPException(400, "`after` is not a cursor of this list") from None
