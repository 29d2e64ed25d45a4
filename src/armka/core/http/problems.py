"""Errors as problem documents (RFC 9457). The `type` is stable: clients may switch on it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from armka.core.database.pool import is_unavailable, lost_race
from armka.core.errors import AttemptUnderWay, CoreError, FileNotFound, JobNotFound, UploadRefused
from armka.objects.store import StoreUnavailable

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
_RETRY_AFTER_SECONDS = "5"
_REFUSALS = {"FILE_TOO_LARGE": HTTPStatus.REQUEST_ENTITY_TOO_LARGE}

# For the OpenAPI document: what every route may answer instead.
RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457); `type` is stable.",
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "type": "object",
                    "required": ["type", "title", "status", "detail"],
                    "properties": {
                        "type": {"type": "string", "format": "uri"},
                        "title": {"type": "string"},
                        "status": {"type": "integer"},
                        "detail": {"type": "string", "description": "For a person."},
                        "code": {"type": "string", "description": "Why an upload was refused."},
                    },
                }
            }
        },
    }
}


def problem(
    status: HTTPStatus,
    kind: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **fields: object,
) -> JSONResponse:
    """Build a problem document."""
    body = {
        "type": f"urn:arm-ka:problem:{kind}",
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
    app.add_middleware(_LastResort)


class _LastResort:
    """Answers for every other error.

    A handler for Exception would answer too, and then raise: each outage of a server would be
    logged as a failure of this one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if has_begun:
                raise
            await _unforeseen(scope["path"], error)(scope, receive, send)


async def _core_error(request: Request, error: Exception) -> JSONResponse:
    match error:
        case FileNotFound(file_id=file_id):
            return problem(HTTPStatus.NOT_FOUND, "file-not-found", str(error), file_id=str(file_id))
        case JobNotFound(job_id=job_id):
            return problem(HTTPStatus.NOT_FOUND, "job-not-found", str(error), job_id=str(job_id))
        case AttemptUnderWay(file_id=file_id, file_status=file_status):
            return problem(
                HTTPStatus.CONFLICT,
                "attempt-under-way",
                str(error),
                file_id=str(file_id),
                file_status=file_status,
            )
        case UploadRefused(code=code, message=message):
            status = _REFUSALS.get(code, HTTPStatus.UNPROCESSABLE_ENTITY)
            return problem(status, "upload-refused", message, code=code)
        case _:
            return _unforeseen(request.scope["path"], error)


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
