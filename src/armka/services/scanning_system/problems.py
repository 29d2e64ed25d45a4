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

from armka.services.scanning_system.desk import DiskFull, DocumentUnknown, Full, KeyTaken
from armka.services.scanning_system.readers import NotRead

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
_URN = "urn:arm-ka:problem:"
_RETRY_AFTER = {"Retry-After": "5"}
_SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "Stable: switch on it."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "For a person."},
        "code": {"type": "string", "description": "Why a document cannot be read."},
    },
}


class Refusal(Exception):
    """A request that is answered with a problem."""

    def __init__(
        self, status: HTTPStatus, kind: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.response = problem(status, kind, detail, headers)


def problem(
    status: HTTPStatus,
    kind: str,
    detail: str,
    headers: Mapping[str, str] | None = None,
    **fields: object,
) -> JSONResponse:
    """Build a problem document."""
    body = {"type": f"{_URN}{kind}", "title": status.phrase, "status": status.value}
    return JSONResponse(
        body | {"detail": detail} | fields,
        status_code=status.value,
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: the problems with these statuses that a route may answer."""
    return {
        status: {
            "description": f"{HTTPStatus(status).phrase}: a problem (RFC 9457).",
            "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
        }
        for status in statuses
    }


def install(app: FastAPI) -> None:
    """Give every error its response."""
    for kind in (Refusal, NotRead, DocumentUnknown, KeyTaken, Full, DiskFull):
        app.add_exception_handler(kind, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_gone)
    app.add_exception_handler(Exception, _unforeseen)


async def _ours(_request: Request, error: Exception) -> JSONResponse:
    match error:
        case Refusal(response=response):
            return response
        case NotRead(failure=failure):
            status = HTTPStatus.UNPROCESSABLE_ENTITY
            return problem(status, "document-refused", failure.message, code=failure.code)
        case DocumentUnknown():
            return problem(HTTPStatus.NOT_FOUND, "document-unknown", str(error))
        case KeyTaken():
            return problem(HTTPStatus.CONFLICT, "key-taken", str(error))
        case Full():
            detail = "As many documents wait as are taken on. Send it again later."
            return problem(HTTPStatus.TOO_MANY_REQUESTS, "full", detail, _RETRY_AFTER)
        case _:
            detail = "There is no room on the disk for this document. Send it again later."
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, "disk-full", detail, _RETRY_AFTER)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    errors = error.errors() if isinstance(error, RequestValidationError) else []
    facts = [{"where": ".".join(map(str, fact["loc"])), "why": fact["msg"]} for fact in errors]
    detail = "The request is not as it should be: see `errors`."
    return problem(HTTPStatus.BAD_REQUEST, "invalid-request", detail, errors=facts)


async def _http_error(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    kind = status.phrase.lower().replace(" ", "-")
    return problem(status, kind, str(error.detail), error.headers)


async def _client_gone(_request: Request, _error: Exception) -> JSONResponse:
    log.info("a client hung up in the middle of its request")
    return problem(HTTPStatus.BAD_REQUEST, "invalid-request", "The request breaks off.")


async def _unforeseen(_request: Request, _error: Exception) -> JSONResponse:
    detail = "The request failed for a reason that was not foreseen; the log has it."
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", detail)
