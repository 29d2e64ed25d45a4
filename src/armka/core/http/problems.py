"""Errors as problem documents (RFC 9457). The `type` is stable: clients may switch on it."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from armka.core.asgi import LastResort
from armka.core.database.pool import is_unavailable, is_unmigrated, lost_race
from armka.core.errors import (
    AttemptNotFound,
    AttemptSuperseded,
    AttemptUnderWay,
    BulkTooLarge,
    CoreError,
    DocumentNotFound,
    FileNotFound,
    FileWithdrawn,
    JobNotFound,
    KeyReused,
    MessageNotFound,
    NameTaken,
    NothingRead,
    NotLocal,
    NotUnderReview,
    OperationNotFound,
    PageNotKept,
    PasswordUnfit,
    PasswordWrong,
    ReasonNeeded,
    RevisionMoved,
    RevisionNeeded,
    SourceMissing,
    TokenNotFound,
    UploadRefused,
    UserNotFound,
    ValueRefused,
)
from armka.objects.store import StoreUnavailable

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER_SECONDS = "5"
_REFUSALS = {"FILE_TOO_LARGE": HTTPStatus.REQUEST_ENTITY_TOO_LARGE}

_EXAMPLES = {
    400: ("invalid-request", "The request is not as it should be: see `errors`."),
    401: ("unauthorized", "Send the API token as `Authorization: Bearer …`."),
    403: ("forbidden", "This takes one of the roles admin, manager."),
    404: ("file-not-found", "no file 0198c5a2-6d39-7d0e-9c2b-3f6a5c1e7b90"),
    409: ("attempt-under-way", "file … is PROCESSING: wait until its current attempt has ended"),
    412: ("revision-moved", "the document has moved on to revision 4: look at the changes …"),
    428: ("revision-needed", "send the document's ETag as If-Match …"),
    413: ("upload-refused", "The file is larger than 102400 KiB."),
    415: ("unsupported-media-type", "Send multipart/form-data with the document in `file`"),
    422: ("upload-refused", "The workbook is protected by a password: save it without one."),
    500: ("internal", "The request failed for a reason that was not foreseen."),
    503: ("unavailable", "The database cannot serve this right now. Try again."),
}


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: the problems with these statuses that a route may answer."""
    return {status: _answer(status) for status in statuses}


def _answer(status: int) -> dict[str, Any]:
    kind, detail = _EXAMPLES[status]
    title = HTTPStatus(status).phrase
    example = {"type": f"{_URN}{kind}", "title": title, "status": status, "detail": detail}
    described: dict[str, Any] = {
        "description": f"{title}: a problem (RFC 9457).",
        "content": {MEDIA_TYPE: {"schema": _SCHEMA, "example": example}},
    }
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        seconds = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        described["headers"] = {"Retry-After": seconds}
    return described


_URN = "urn:arm-ka:problem:"
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "Stable: switch on it."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "For a person."},
        "code": {"type": "string", "description": "Why an upload was refused."},
    },
}

OTHERS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "Another problem (RFC 9457).",
        "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
    }
}
# What every route may answer instead.
RESPONSES = answers(400, 401, 403, 500, 503) | OTHERS


def problem(
    status: HTTPStatus,
    kind: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **fields: object,
) -> JSONResponse:
    """Build a problem document."""
    body = {
        "type": f"{_URN}{kind}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        **fields,
    }
    return JSONResponse(
        body, status_code=status.value, headers=dict(headers or {}), media_type=MEDIA_TYPE
    )


def install(app: FastAPI) -> None:
    """Give every error its response."""
    app.add_exception_handler(CoreError, _core_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_gone)
    app.add_middleware(LastResort, answer=lambda scope, error: _unforeseen(scope["path"], error))


async def _core_error(request: Request, error: Exception) -> JSONResponse:
    return problem_of(error, request.scope["path"])


def problem_of(error: Exception, path: str) -> JSONResponse:
    """The problem document of whatever went wrong in the core."""
    match error:
        case UploadRefused(code=code, message=message):
            refused = _REFUSALS.get(code, HTTPStatus.UNPROCESSABLE_ENTITY)
            return problem(refused, "upload-refused", message, code=code)
        case RevisionMoved(etag=etag):
            return _of_kind(HTTPStatus.PRECONDITION_FAILED, error, {"ETag": etag})
        case CoreError() if (status := _STATUSES.get(type(error))) is not None:
            return _of_kind(status, error)
        case _:
            return _unforeseen(path, error)


_STATUSES: Mapping[type[CoreError], HTTPStatus] = {
    FileNotFound: HTTPStatus.NOT_FOUND,
    JobNotFound: HTTPStatus.NOT_FOUND,
    MessageNotFound: HTTPStatus.NOT_FOUND,
    OperationNotFound: HTTPStatus.NOT_FOUND,
    SourceMissing: HTTPStatus.NOT_FOUND,
    UserNotFound: HTTPStatus.NOT_FOUND,
    TokenNotFound: HTTPStatus.NOT_FOUND,
    AttemptNotFound: HTTPStatus.NOT_FOUND,
    DocumentNotFound: HTTPStatus.NOT_FOUND,
    PageNotKept: HTTPStatus.NOT_FOUND,
    AttemptUnderWay: HTTPStatus.CONFLICT,
    FileWithdrawn: HTTPStatus.CONFLICT,
    NothingRead: HTTPStatus.CONFLICT,
    NameTaken: HTTPStatus.CONFLICT,
    NotLocal: HTTPStatus.CONFLICT,
    NotUnderReview: HTTPStatus.CONFLICT,
    AttemptSuperseded: HTTPStatus.CONFLICT,
    ReasonNeeded: HTTPStatus.CONFLICT,
    KeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    BulkTooLarge: HTTPStatus.UNPROCESSABLE_ENTITY,
    PasswordUnfit: HTTPStatus.UNPROCESSABLE_ENTITY,
    PasswordWrong: HTTPStatus.UNPROCESSABLE_ENTITY,
    ValueRefused: HTTPStatus.UNPROCESSABLE_ENTITY,
    RevisionNeeded: HTTPStatus.PRECONDITION_REQUIRED,
}


def _of_kind(
    status: HTTPStatus, error: CoreError, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Errors are named as facts: the problem's type is that name, its fields are the error's."""
    kind = re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
    fields: dict[str, Any] = {
        name: value if isinstance(value, int | list) else str(value)
        for name, value in vars(error).items()
    }
    return problem(status, kind, str(error), headers, **fields)


async def _invalid_request(_request: Request, error: Exception) -> JSONResponse:
    errors = error.errors() if isinstance(error, RequestValidationError) else []
    facts = [{"where": ".".join(map(str, fact["loc"])), "why": fact["msg"]} for fact in errors]
    detail = "The request is not as it should be: see `errors`."
    return problem(HTTPStatus.BAD_REQUEST, "invalid-request", detail, errors=facts)


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "-")
    if status is HTTPStatus.BAD_REQUEST:
        kind = "invalid-request"
    return problem(status, kind, str(error.detail), headers=error.headers)


async def _client_gone(_request: Request, _error: Exception) -> JSONResponse:
    log.info("a client hung up in the middle of its request")
    return problem(HTTPStatus.BAD_REQUEST, "invalid-request", "The request breaks off.")


def _unforeseen(path: str, error: Exception) -> JSONResponse:
    if is_unmigrated(error):
        log.error("the database lacks this version's tables: run `armka migrate`", path=path)
        return problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "unavailable",
            "The database is not ready for this version: its operator has to run `armka migrate`.",
            headers={"Retry-After": _RETRY_AFTER_SECONDS},
        )
    if isinstance(error, StoreUnavailable) or is_unavailable(error) or lost_race(error):
        log.warning("a request had to be put off", path=path, error=type(error).__name__)
        return problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "unavailable",
            "The database, the object store or the disk cannot serve this right now. Try again.",
            headers={"Retry-After": _RETRY_AFTER_SECONDS},
        )
    log.error("request failed", path=path, exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal",
        "The request failed for a reason that was not foreseen; the log of the core has it.",
    )
