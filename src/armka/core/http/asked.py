"""What a request may ask with: cursors, filters, waits and keys, as parameters of the routes."""

import base64
from datetime import UTC, date, datetime
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Header, HTTPException, Path, Query, Request
from pydantic import AfterValidator, AwareDatetime, StringConstraints

from armka.contract.vocabulary import FileType, Pipeline
from armka.core.database.paging import Keyset
from armka.core.files.idempotency import IdempotentRequest
from armka.core.files.listing import FileFilter
from armka.core.identity.principal import Principal
from armka.core.jobs.states import FileStatus, JobStatus
from armka.core.jobs.store import JobFilter

LONGEST_WAIT_SECONDS = 60.0

# PostgreSQL's texts hold every character but NUL.
Words = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00]+$")]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("there is no such moment in UTC") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
After = Annotated[str | None, Query(description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Wait = Annotated[
    float,
    Query(
        ge=0,
        le=LONGEST_WAIT_SECONDS,
        description="Seconds to wait for the status to change or to be final.",
    ),
]
Ordinal = Annotated[int, Path(ge=1, le=2**31 - 1, description="Which of the file's documents.")]
# Of a document that two may be changing: who did not see its last revision overwrites nothing.
Seen = Annotated[
    str | None,
    Header(alias="If-Match", description="The ETag of the document as it was seen. Required."),
]
REPEATED = "Idempotent-Replayed"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,255}$",
        description="The same key with the same request gets the first answer, for at least a day.",
    ),
]


def _caller(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


# Who asks; the guard has seen to it that somebody does.
Caller = Annotated[Principal, Depends(_caller)]


def idempotent(scope: str, key: str | None) -> IdempotentRequest | None:
    """The key of a request to this route."""
    return None if key is None else IdempotentRequest(scope, key)


def file_filter(  # noqa: PLR0913, PLR0917 - each is a parameter of the query
    status: FileStatus | None = None,
    client_ref: Words | None = None,
    name: Annotated[Words | None, Query(description="Part of the file name, any case.")] = None,
    organisation: Annotated[
        Words | None, Query(description="Part of the organisation's name, any case.")
    ] = None,
    file_type: FileType | None = None,
    error_code: Words | None = None,
    created_from: Annotated[Moment | None, Query(description="Inclusive.")] = None,
    created_to: Annotated[Moment | None, Query(description="Exclusive.")] = None,
    withdrawn: Annotated[bool, Query(description="With the withdrawn ones.")] = False,
    period_from: Annotated[
        date | None, Query(description="A document's period goes on to this day or beyond.")
    ] = None,
    period_to: Annotated[
        date | None, Query(description="A document's period begins by this day.")
    ] = None,
) -> FileFilter:
    """The filters of the list of files."""
    return FileFilter(
        status,
        client_ref,
        name,
        organisation,
        file_type,
        error_code,
        created_from,
        created_to,
        withdrawn,
        period_from,
        period_to,
    )


def job_filter(
    status: JobStatus | None = None,
    file_id: UUID | None = None,
    pipeline: Pipeline | None = None,
    error_code: Words | None = None,
    service_name: Words | None = None,
    created_from: Annotated[Moment | None, Query(description="Inclusive.")] = None,
    created_to: Annotated[Moment | None, Query(description="Exclusive.")] = None,
) -> JobFilter:
    """The filters of the list of jobs."""
    return JobFilter(status, file_id, pipeline, error_code, service_name, created_from, created_to)


def encode_cursor(created_at: datetime, row_id: UUID) -> str:
    """Where a page ended, as an opaque word."""
    words = f"{created_at.isoformat()}|{row_id}"
    return base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")


def next_cursor(following: Keyset | None) -> str | None:
    """Where to read on, where there is anything."""
    if following is None:
        return None
    created_at, row_id = following
    assert created_at is not None
    assert row_id is not None
    return encode_cursor(created_at, row_id)


def decode_cursor(cursor: str | None) -> Keyset:
    """Read `after`; a word that is no cursor is a bad request."""
    if cursor is None:
        return None, None
    try:
        words = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        moment, _, row_id = words.partition("|")
        return datetime.fromisoformat(moment).astimezone(UTC), UUID(row_id)
    except (ValueError, OverflowError):
        raise HTTPException(400, "`after` is not a cursor of this list") from None
