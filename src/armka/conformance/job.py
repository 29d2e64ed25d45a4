"""A job that a scenario made, and what its service would say."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from armka.contract import message_ids, object_keys

Envelope = dict[str, Any]

SERVICE = {"name": "conform-parser", "version": "9.9"}
ERROR = {"code": "UNREADABLE", "message": "Файл повреждён"}


@dataclass(frozen=True)
class Job:
    """A row of `recognition_job`, known by its ids."""

    id: UUID
    file_id: UUID
    bucket: str
    attempt: int = 1

    @property
    def request_id(self) -> str:
        """`Nats-Msg-Id` of its request (C1)."""
        return message_ids.of_request(self.id, self.attempt)

    @property
    def ack_id(self) -> str:
        """`Nats-Msg-Id` of its `processing` (C2)."""
        return message_ids.of_ack(self.id, self.attempt)

    @property
    def result_id(self) -> str:
        """`Nats-Msg-Id` of its result (C2)."""
        return message_ids.of_result(self.id, self.attempt)

    @property
    def result_key(self) -> str:
        """Where its result file belongs."""
        return object_keys.result(self.file_id, self.id)

    @property
    def raw_key(self) -> str:
        """Where its raw answer belongs."""
        return object_keys.raw(self.id)

    @property
    def result_s3(self) -> dict[str, str]:
        """The reference to its result file."""
        return {"bucket": self.bucket, "key": self.result_key}

    def envelope(self, status: str, **fields: object) -> Envelope:
        """A valid envelope, with these fields over it."""
        envelope: Envelope = {
            "schema_version": "1.0",
            "job_id": str(self.id),
            "file_id": str(self.file_id),
            "status": status,
            "service": SERVICE,
        }
        if status in {"done", "needs_check"}:
            envelope |= {"result_s3": self.result_s3, "result_schema_version": "1.0"}
        if status == "error":
            envelope["error"] = ERROR
        return envelope | fields

    def __str__(self) -> str:
        return f"job {self.id} (attempt {self.attempt})"
