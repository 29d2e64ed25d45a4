"""A request that the kit sent, and what belongs to it by the contract."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from armka.conformance.service.documents import Document
from armka.contract import message_ids, object_keys
from armka.contract.fields import format_instant
from armka.contract.vocabulary import Pipeline

# An attempt of its own: a service that always says 1 is found.
ATTEMPT = 3
_DEADLINE = timedelta(minutes=10)


@dataclass(frozen=True)
class Asked:
    """A request, known by its ids; `fields` may be invalid on purpose."""

    job_id: str
    file_id: str
    attempt: int
    bucket: str
    document: Document
    fields: dict[str, Any]

    @property
    def body(self) -> bytes:
        """The request as it is sent."""
        return json.dumps(self.fields, ensure_ascii=False).encode()

    @property
    def request_id(self) -> str:
        """`Nats-Msg-Id` of the request (C1)."""
        return message_ids.of_request(self.job_id, self.attempt)

    @property
    def ack_id(self) -> str:
        """`Nats-Msg-Id` of its `processing` (C2)."""
        return message_ids.of_ack(self.job_id, self.attempt)

    @property
    def result_id(self) -> str:
        """`Nats-Msg-Id` of its result (C2)."""
        return message_ids.of_result(self.job_id, self.attempt)

    @property
    def source_key(self) -> str:
        """Where its source lies."""
        return object_keys.upload(self.file_id, self.document.file_type.lower())

    @property
    def result_key(self) -> str:
        """Where its result file belongs."""
        return object_keys.result(self.file_id, self.job_id)

    @property
    def sha256(self) -> str:
        """Of the source."""
        return hashlib.sha256(self.document.content).hexdigest()

    def __str__(self) -> str:
        return f"job {self.job_id}"


def new(document: Document, bucket: str, pipeline: Pipeline, **over: Any) -> Asked:
    """A valid request about a document, with these fields over it."""
    file_id, job_id, attempt = str(uuid4()), str(uuid4()), over.get("attempt", ATTEMPT)
    key = object_keys.upload(file_id, document.file_type.lower())
    fields: dict[str, Any] = {
        "schema_version": "1.0",
        "job_id": job_id,
        "file_id": file_id,
        "pipeline": pipeline.value,
        "file_type": document.file_type.value,
        "original_name": document.name,
        "s3": {"bucket": bucket, "key": key},
        "reply_deadline": format_instant(datetime.now(UTC) + _DEADLINE),
        "attempt": attempt,
    }
    return Asked(job_id, file_id, attempt, bucket, document, fields | over)
