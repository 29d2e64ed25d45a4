"""From a claimed row to the message that asks for its recognition, pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from armka.contract import codec, message_ids
from armka.contract.fields import format_instant
from armka.contract.subjects import Subjects
from armka.contract.vocabulary import FileType, Pipeline
from armka.messaging.messages import Outgoing


class RequestInvalid(Exception):
    """No valid request can be built of the row (O2); `reason` says which part of it is wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Request:
    """A claimed job with its message."""

    job_id: UUID
    pipeline: Pipeline
    msg_id: str
    reply_deadline: datetime
    message: Outgoing


def build(row: Mapping[str, Any], subjects: Subjects) -> Request:
    """Build the request of a row of `claim_queued`; raises RequestInvalid."""
    pipeline = _pipeline(row)
    body = codec.encode_request(
        {
            "job_id": str(row["id"]),
            "file_id": str(row["stored_file_id"]),
            "pipeline": pipeline.value,
            "file_type": row["file_type"],
            "original_name": row["original_name"],
            "s3": {"bucket": row["bucket"], "key": row["key"]},
            "reply_deadline": format_instant(row["reply_deadline"]),
            "attempt": row["attempt"],
        }
    )
    msg_id = message_ids.of_request(row["id"], row["attempt"])
    message = Outgoing(subjects.request(pipeline), body, {message_ids.HEADER: msg_id})
    return Request(row["id"], pipeline, msg_id, row["reply_deadline"], message)


def _pipeline(row: Mapping[str, Any]) -> Pipeline:
    if row["bucket_role"] != "uploads":
        raise RequestInvalid(f"the source object has the role {row['bucket_role']}, not uploads")
    try:
        pipeline, file_type = Pipeline(row["pipeline"]), FileType(row["file_type"])
    except ValueError as error:
        raise RequestInvalid(str(error)) from None
    if file_type.pipeline is not pipeline:
        raise RequestInvalid(
            f"a file of type {file_type} does not belong to the pipeline {pipeline}"
        )
    return pipeline
