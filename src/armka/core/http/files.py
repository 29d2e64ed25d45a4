"""Files: uploads, the list, trial-balance lines, new attempts."""

import asyncio
import re
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request, Response

from armka.core.files.attempts import Attempts
from armka.core.files.store import Files
from armka.core.files.uploads import Uploads
from armka.core.http.uploading import received
from armka.core.http.views import (
    AttemptView,
    FilePage,
    FileView,
    UploadView,
    decode_cursor,
    encode_cursor,
    file_view,
)
from armka.core.jobs.states import FileStatus

_LAST_LINE = 2**31 - 1

_MULTIPART: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "client_ref": {
                            "type": "string",
                            "description": "The bank's own id of the client.",
                        },
                    },
                }
            }
        },
    }
}


def router(files: Files, uploads: Uploads, attempts: Attempts, upload_limit: int) -> APIRouter:
    """The routes under `/files`."""
    api = APIRouter(prefix="/files", tags=["files"])

    @api.post("", status_code=201, openapi_extra=_MULTIPART)
    async def upload(request: Request) -> UploadView:
        """Upload one document: it is stored and queued for recognition."""
        async with received(request, upload_limit) as incoming:
            accepted = await uploads.accept(incoming)
        return UploadView(file_id=accepted.file_id, job_id=accepted.job_id)

    @api.get("")
    async def page(
        status: FileStatus | None = None,
        after: str | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> FilePage:
        """List files, newest first."""
        rows = await files.page(decode_cursor(after), status, limit)
        following = (
            encode_cursor(rows[-1].file["created_at"], rows[-1].file["id"])
            if len(rows) == limit
            else None
        )
        return FilePage(items=[file_view(row) for row in rows], next=following)

    @api.get("/{file_id}")
    async def one(file_id: UUID) -> FileView:
        """Show one file."""
        return file_view(await files.get(file_id))

    @api.get("/{file_id}/lines")
    async def lines(
        file_id: UUID,
        after: str | None = None,
        limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000,
    ) -> Response:
        """Show the trial balances of the current attempt: lines and failed checks.

        Amounts are decimal strings in the document's unit: opening debit, opening credit, turnover
        debit, turnover credit, closing debit, closing credit. `next` goes into `after` to read on;
        `job_id` tells whether it is still the same attempt.
        """
        shown = await files.trial_balance(file_id, _line_cursor(after), limit)
        body = await asyncio.to_thread(msgspec.json.encode, shown)
        return Response(body, media_type="application/json")

    @api.post("/{file_id}/attempts", status_code=201)
    async def begin_attempt(file_id: UUID) -> AttemptView:
        """Recognise the file again; refused while its current attempt has not been mapped."""
        attempt = await attempts.begin(file_id)
        return AttemptView(file_id=file_id, job_id=attempt.job_id, attempt=attempt.attempt)

    return api


def _line_cursor(after: str | None) -> tuple[int, int]:
    if after is None:
        return 1, 0
    cursor = re.fullmatch(r"([0-9]{1,10}):([0-9]{1,10})", after)
    if cursor is None:
        raise HTTPException(400, "`after` is not a cursor of these lines")
    return int(cursor[1]), min(int(cursor[2]), _LAST_LINE)
