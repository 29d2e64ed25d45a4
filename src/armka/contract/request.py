"""The recognition request (C1): what the core asks of a service."""

from datetime import datetime
from uuid import UUID

import msgspec

from armka.contract.fields import (
    Id,
    Instant,
    ObjectRef,
    PositiveInt,
    Version,
    parse_instant,
)
from armka.contract.vocabulary import FileType, Pipeline


class RecognitionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One file to recognise; passes `recognition-request.schema.json`."""

    schema_version: Version
    job_id: Id
    file_id: Id
    pipeline: Pipeline
    file_type: FileType
    original_name: str
    s3: ObjectRef
    reply_deadline: Instant
    attempt: PositiveInt

    def __post_init__(self) -> None:
        parse_instant(self.reply_deadline)

    @property
    def deadline(self) -> datetime:
        """`reply_deadline` as an aware UTC datetime."""
        return parse_instant(self.reply_deadline)

    @property
    def job(self) -> UUID:
        """`job_id` as a UUID."""
        return UUID(self.job_id)
