"""Errors as problem documents (RFC 9457). The `type` is stable: clients may switch on it."""

from collections.abc import Mapping
from http import HTTPStatus

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from armka.core.database.pool import is_unavailable
from armka.core.errors import AttemptUnderWay, CoreError, FileNotFound, JobNotFound, UploadRefused
from armka.objects.store import StoreUnavailable

log = structlog.get_logger(__name__)

_RETRY_AFTER_SECONDS = "5"


def problem(
    status: HTTPStatus, kind: str, detail: str, headers: Mapping[str, str] | None = None, **fields: object
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
        body, status_code=status.value, headers=dict(headers or {}), media_type="application/problem+json"
    )


def install(app: FastAPI) -> None:
    """Give every error its response."""
    app.add_exception_handler(CoreError, _core_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(StoreUnavailable, _unavailable)
    app.add_exception_handler(Exception, _unforeseen)


async def _core_error(request: Request, error: Exception) -> JSONResponse:
    match error:
        case FileNotFound(file_id=file_id):
            return problem(HTTPStatus.NOT_FOUND, "file-not-found", str(error), file_id=str(file_id))
        case JobNotFound(job_id=job_id):
            return problem(HTTPStatus.NOT_FOUND, "job-not-found", str(error), job_id=str(job_id))
        case AttemptUnderWay(file_id=file_id, file_status=status):
            return problem(
                HTTPStatus.CONFLICT, "attempt-under-way", str(error), file_id=str(file_id), file_status=status
            )
        case UploadRefused(code="FILE_TOO_LARGE"):
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "upload-refused", error.message, code=error.code)
        case UploadRefused(code=code, message=message):
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "upload-refused", message, code=code)
        case _:
            return await _unforeseen(request, error)


async def _invalid_request(_request: Request, error: Exception) -> JSONResponse:
    errors = error.errors() if isinstance(error, RequestValidationError) else []
    facts = [{"where": ".".join(map(str, fact["loc"])), "why": fact["msg"]} for fact in errors]
    return problem(HTTPStatus.BAD_REQUEST, "invalid-request", "The request is not as it should be.", errors=facts)


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "-")
    return problem(status, kind, str(error.detail), headers=error.headers)


async def _unavailable(_request: Request, error: Exception) -> JSONResponse:
    log.warning("a server that the API needs is away", error=type(error).__name__)
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "The database or the object store cannot be reached right now. Nothing was lost; try again.",
        headers={"Retry-After": _RETRY_AFTER_SECONDS},
    )


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    if is_unavailable(error):
        return await _unavailable(request, error)
    log.error("request failed", path=request.url.path, exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "The request failed for a reason that was not foreseen."
    )
