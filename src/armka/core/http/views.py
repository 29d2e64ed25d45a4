"""What the API shows, as models: the OpenAPI document is made of them."""

import base64
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from armka.core.database.pool import Record
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
    uploaded_by: str | None
    size_bytes: int | None
    sha256: str | None
    created_at: datetime
    updated_at: datetime
    withdrawn_at: datetime | None
    withdrawn_by: str | None
    withdrawn_reason: str | None
    job: JobSummary | None
    documents: list[DocumentSummary]


class FilePage(BaseModel):
    """Files, newest first; `next` goes into `after` to read on.

    A page may be short, even empty, while `next` says that there may be more.
    """

    items: list[FileView]
    next: str | None


class JobView(BaseModel):
    """One attempt to recognise a file; `waiting_reason`: why it is queued and cannot go out, where
    that is known.
    """

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
    waiting_reason: str | None


class JobPage(BaseModel):
    """Jobs, newest first; `next` goes into `after` to read on.

    A page may be short, even empty, while `next` says that there may be more.
    """

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
    """What an upload made; `same_as`: earlier files with the very same bytes, latest first."""

    file_id: UUID
    job_id: UUID
    same_as: list[UUID]


class UploadItem(BaseModel):
    """What became of one of several documents: `made`, or the problem it ended in."""

    name: str
    status: int
    made: UploadView | None = None
    problem: dict[str, Any] | None = None


class UploadsView(BaseModel):
    """What became of each of several documents, in their order."""

    items: list[UploadItem]


class AttemptView(BaseModel):
    """The job of a new attempt."""

    file_id: UUID
    job_id: UUID
    attempt: int


class MessageView(BaseModel):
    """A message that was not applied, and why; `body_size` is the true size of its body."""

    id: int
    reason: str
    detail: str | None
    job_id: UUID | None
    msg_id: str | None
    subject: str | None
    body_size: int | None
    received_at: datetime


class MessageDetail(MessageView):
    """A message with headers and body: `body_text` where it is UTF-8, else `body_base64`.

    Of a large body only the beginning was kept.
    """

    headers: dict[str, Any] | None
    body_text: str | None
    body_base64: str | None


class MessagePage(BaseModel):
    """Messages, latest first; `next` goes into `after` to read on."""

    items: list[MessageView]
    next: int | None


class OperationView(BaseModel):
    """A bulk operation and how far it is."""

    id: UUID
    kind: str
    filter: dict[str, Any]
    reason: str
    requested_by: str
    total: int
    pending: int
    outcomes: dict[str, int]
    created_at: datetime
    finished_at: datetime | None


class OperationItem(BaseModel):
    """What became of one file; `outcome` is null while it is its turn."""

    ordinal: int
    file_id: UUID
    original_name: str | None
    outcome: str | None
    job_id: UUID | None
    attempt: int | None
    decided_at: datetime | None


class OperationItems(BaseModel):
    """The files of an operation; `next` goes into `after` to read on."""

    items: list[OperationItem]
    next: int | None


class BulkPreview(BaseModel):
    """What an operation would take: how many files, and a few of them."""

    total: int
    sample: list[UUID]


def message_detail(row: Record) -> MessageDetail:
    """Show a message with its body."""
    facts = dict(row)
    body = facts.pop("body")
    try:
        text, encoded = None if body is None else body.decode(), None
    except UnicodeDecodeError:
        text, encoded = None, base64.b64encode(body).decode()
    return MessageDetail(**facts, body_text=text, body_base64=encoded)


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


class Me(BaseModel):
    """Who the caller is; a person has roles, a machine's token scopes."""

    kind: str
    id: UUID | None
    name: str
    roles: list[str]
    scopes: list[str] | None


class UserView(BaseModel):
    """An account; `issuer` tells which identity provider keeps it, null that it is a local one."""

    id: UUID
    name: str
    display_name: str | None
    roles: list[str]
    issuer: str | None
    has_password: bool
    disabled_at: datetime | None
    last_signed_in_at: datetime | None
    created_at: datetime


class UserPage(BaseModel):
    """Accounts by name; `next` goes into `after` to read on."""

    items: list[UserView]
    next: str | None


class SignInLink(BaseModel):
    """Opens the console once; add it to the console's address. Its secret never reaches a log."""

    path: str
    expires_at: datetime


class TokenView(BaseModel):
    """A machine's token; `prefix` is its beginning."""

    id: UUID
    name: str
    prefix: str
    scopes: list[str]
    made_by: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class NewToken(TokenView):
    """A new token with its secret, shown this once."""

    token: str


class TokenPage(BaseModel):
    """Tokens, latest first; `next` goes into `after` to read on."""

    items: list[TokenView]
    next: str | None


class AuditEvent(BaseModel):
    """Who (`actor`, from `address`) did what (`action`) to which (`subject`), and why."""

    id: int
    at: datetime
    actor_kind: str
    actor_id: UUID | None
    actor: str
    address: str | None
    action: str
    subject: str | None
    reason: str | None
    details: dict[str, Any] | None


class AuditPage(BaseModel):
    """Events, latest first; `next` goes into `after` to read on."""

    items: list[AuditEvent]
    next: int | None
