"""Files: uploads, the list, trial-balance lines, new attempts, withdrawal."""

import asyncio
import json
import re
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from pydantic import BaseModel

from armka.core.errors import UploadRefused
from armka.core.files import names
from armka.core.files.attempts import Attempts
from armka.core.files.idempotency import IdempotentRequest
from armka.core.files.listing import FileFilter
from armka.core.files.store import Files
from armka.core.files.uploads import Accepted, Upload, Uploads
from armka.core.files.withdrawal import Withdrawals
from armka.core.http.asked import (
    REPEATED,
    After,
    Caller,
    IdempotencyKey,
    Limit,
    Wait,
    Words,
    decode_cursor,
    file_filter,
    idempotent,
    next_cursor,
)
from armka.core.http.problems import answers, problem_of
from armka.core.http.request_log import about
from armka.core.http.uploading import received
from armka.core.http.views import (
    AttemptView,
    FilePage,
    FileView,
    UploadItem,
    UploadsView,
    UploadView,
    file_view,
)
from armka.core.identity.principal import Principal
from armka.core.jobs.states import FileStatus
from armka.core.jobs.watch import StatusWatch

_LAST_LINE = 2**31 - 1
_UNDER_WAY = frozenset({FileStatus.UPLOADED, FileStatus.PROCESSING})

_MULTIPART: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "The document; several parts of this name are several.",
                        },
                        "client_ref": {
                            "type": "string",
                            "maxLength": 255,
                            "description": "The bank's own id of the client.",
                        },
                    },
                }
            }
        },
    }
}


class Withdrawal(BaseModel):
    """Why a file is withdrawn; `by`: for whom, where the caller has no name of its own."""

    reason: Words
    by: Words | None = None


def router(
    files: Files,
    uploads: Uploads,
    attempts: Attempts,
    withdrawals: Withdrawals,
    watch: StatusWatch,
    upload_limit: int,
) -> APIRouter:
    """The routes under `/files`."""
    api = APIRouter(prefix="/files", tags=["files"])
    _add_upload(api, uploads, upload_limit)
    _add_reading(api, files, watch)

    @api.post("/{file_id}/attempts", status_code=201, responses=answers(404, 409, 422))
    async def begin_attempt(
        caller: Caller, file_id: UUID, response: Response, key: IdempotencyKey = None
    ) -> AttemptView:
        """Recognise the file again; refused while its current attempt has not been mapped."""
        attempt = await attempts.begin(file_id, caller, idempotent("attempts", key))
        about(file_id=file_id, job_id=attempt.job_id)
        if attempt.is_repeated:
            response.headers[REPEATED] = "true"
        return AttemptView(file_id=file_id, job_id=attempt.job_id, attempt=attempt.attempt)

    @api.post("/{file_id}/withdraw", responses=answers(404, 409))
    async def withdraw(caller: Caller, file_id: UUID, withdrawal: Withdrawal) -> FileView:
        """Hide the file from lists. It is not deleted, its statuses stay; restore undoes it."""
        await withdrawals.withdraw(file_id, caller, withdrawal.by, withdrawal.reason)
        return file_view(await files.get(file_id))

    @api.post("/{file_id}/restore", responses=answers(404))
    async def restore(caller: Caller, file_id: UUID) -> FileView:
        """Show a withdrawn file in lists again."""
        await withdrawals.restore(file_id, caller)
        return file_view(await files.get(file_id))

    return api


def _add_upload(api: APIRouter, uploads: Uploads, upload_limit: int) -> None:
    several: dict[int | str, dict[str, Any]] = {
        207: {"model": UploadsView, "description": "Several documents: see each."}
    }

    @api.post(
        "",
        status_code=201,
        openapi_extra=_MULTIPART,
        response_model=UploadView,
        responses=several | answers(413, 415, 422),
    )
    async def upload(
        caller: Caller, request: Request, response: Response, key: IdempotencyKey = None
    ) -> UploadView | Response:
        """Upload documents: each is stored and queued for recognition.

        One document is answered with its ids or with a problem. Several are answered one by one,
        with status 207: one that is refused does not hold back the others. The first is refused
        with the whole request where it alone is too large.
        """
        idempotent_request = idempotent("files", key)
        async with received(request, upload_limit) as documents:
            if len(documents) > 1:
                items = [
                    await _item(uploads, document, caller, idempotent_request, number)
                    for number, document in enumerate(documents)
                ]
                shown = UploadsView(items=items).model_dump_json(exclude_none=True)
                return Response(shown, 207, media_type="application/json")
            if isinstance(documents[0], UploadRefused):
                raise documents[0]
            accepted = await uploads.accept(documents[0], caller, idempotent_request)
        about(file_id=accepted.file_id, job_id=accepted.job_id)
        if accepted.is_repeated:
            response.headers[REPEATED] = "true"
        return _upload_view(accepted)


def _add_reading(api: APIRouter, files: Files, watch: StatusWatch) -> None:
    @api.get("")
    async def page(
        wanted: Annotated[FileFilter, Depends(file_filter)],
        after: After = None,
        limit: Limit = 100,
    ) -> FilePage:
        """List files, newest first; withdrawn ones where they are asked for."""
        rows, following = await files.page(wanted, decode_cursor(after), limit)
        return FilePage(items=[file_view(row) for row in rows], next=next_cursor(following))

    @api.get("/{file_id}", responses=answers(404))
    async def one(
        file_id: UUID, wait: Wait = 0, since_status: FileStatus | None = None
    ) -> FileView:
        """Show one file.

        With `wait` the answer comes when its status is another than `since_status` (or than the
        one it has now), or is `DONE`, `NEEDS_CHECK` or `ERROR`, and at the latest after so many
        seconds.
        """
        shown = file_view(await files.get(file_id))
        if shown.status in _UNDER_WAY and shown.status == (since_status or shown.status):
            await watch.wait(file_id, shown.status, wait)
            return file_view(await files.get(file_id)) if wait else shown
        return shown

    @api.get("/{file_id}/lines", responses=answers(404))
    async def lines(
        file_id: UUID,
        after: After = None,
        limit: Annotated[int, Query(ge=1, le=100_000)] = 10_000,
        attempt: Annotated[
            int | None, Query(ge=1, le=_LAST_LINE, description="An earlier one, by its number.")
        ] = None,
    ) -> Response:
        """Show the trial balances of the current attempt: lines and failed checks.

        Amounts are decimal strings in the document's unit: opening debit, opening credit, turnover
        debit, turnover credit, closing debit, closing credit. `next` goes into `after` to read on;
        `job_id` tells whether it is still the same attempt.
        """
        shown = await files.trial_balance(file_id, _line_cursor(after), limit, attempt)
        body = await asyncio.to_thread(msgspec.json.encode, shown)
        return Response(body, media_type="application/json")


async def _item(
    uploads: Uploads,
    document: Upload | UploadRefused,
    by: Principal,
    request: IdempotentRequest | None,
    number: int,
) -> UploadItem:
    try:
        if isinstance(document, UploadRefused):
            raise document
        accepted = await uploads.accept(document, by, request, number)
    except Exception as error:  # noqa: BLE001 - one bad document does not spoil the others
        answer = problem_of(error, "/api/v1/files")
        name = document.original_name if isinstance(document, Upload) else ""
        told = json.loads(bytes(answer.body))
        return UploadItem(name=names.clean(name), status=answer.status_code, problem=told)
    made = _upload_view(accepted)
    return UploadItem(name=names.clean(document.original_name), status=201, made=made)


def _upload_view(accepted: Accepted) -> UploadView:
    return UploadView(
        file_id=accepted.file_id, job_id=accepted.job_id, same_as=list(accepted.same_as)
    )


def _line_cursor(after: str | None) -> tuple[int, int]:
    if after is None:
        return 1, 0
    cursor = re.fullmatch(r"([0-9]{1,10}):([0-9]{1,10})", after)
    if cursor is None:
        raise HTTPException(400, "`after` is not a cursor of these lines")
    return int(cursor[1]), min(int(cursor[2]), _LAST_LINE)
