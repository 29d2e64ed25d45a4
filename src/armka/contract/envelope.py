"""The result message (C2): what a service tells the core about a job."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from armka.contract.fields import SCHEMA_VERSION, Id, NonEmpty, ObjectRef, ServiceInfo, Version
from armka.contract.vocabulary import ErrorCode

SchemaVersion = Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]+\Z")]


class ErrorInfo(msgspec.Struct, frozen=True):
    """Why the file could not be recognised, for a program and for a person."""

    code: ErrorCode
    message: str


class _Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="status"):
    schema_version: Version
    job_id: Id
    file_id: Id
    service: ServiceInfo
    raw_s3_key: NonEmpty | None = None
    metrics: dict[str, object] | None = None

    @property
    def job(self) -> UUID:
        """`job_id` as a UUID."""
        return UUID(self.job_id)

    @property
    def file(self) -> UUID:
        """`file_id` as a UUID."""
        return UUID(self.file_id)


class Processing(_Envelope, frozen=True, kw_only=True, omit_defaults=True, tag="processing"):
    """The service has taken the job; sent at once, before the file is read (C4.1)."""

    result_s3: ObjectRef | None = None
    result_schema_version: SchemaVersion | None = None
    error: ErrorInfo | None = None


class Done(_Envelope, frozen=True, kw_only=True, omit_defaults=True, tag="done"):
    """Read, and nothing of error level failed."""

    result_s3: ObjectRef
    result_schema_version: SchemaVersion
    error: ErrorInfo | None = None


class NeedsCheck(_Envelope, frozen=True, kw_only=True, omit_defaults=True, tag="needs_check"):
    """Read, but an analyst must look at it."""

    result_s3: ObjectRef
    result_schema_version: SchemaVersion
    error: ErrorInfo | None = None


class Failed(_Envelope, frozen=True, kw_only=True, omit_defaults=True, tag="error"):
    """Not recognised; `error` says why."""

    error: ErrorInfo
    result_s3: ObjectRef | None = None
    result_schema_version: SchemaVersion | None = None


Result = Done | NeedsCheck | Failed
Envelope = Processing | Done | NeedsCheck | Failed

__all__ = [
    "SCHEMA_VERSION",
    "Done",
    "Envelope",
    "ErrorInfo",
    "Failed",
    "NeedsCheck",
    "Processing",
    "Result",
]
