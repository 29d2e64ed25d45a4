"""The HTTP side: documents are submitted, followed, fetched, cancelled."""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import msgspec
from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import AwareDatetime, BaseModel, Field

from armka.services.scanning_system import NAME, VERSION, problems
from armka.services.scanning_system.answer import Answer
from armka.services.scanning_system.callbacks import CallbackInvalid, Caller
from armka.services.scanning_system.desk import Desk
from armka.services.scanning_system.problems import Refusal
from armka.services.scanning_system.readers import Readers
from armka.services.scanning_system.receiving import Received, receive
from armka.services.scanning_system.records import Callback, Record, Status
from armka.services.scanning_system.settings import ScanningSettings
from armka.services.scanning_system.tessdata import Ocr

_DESCRIPTION = (
    "ИС Сканирование: PDF, PNG and JPG in; pages with words and tables, their places and their "
    "confidence out. Errors are problem documents (RFC 9457) with stable types."
)
_NAME_LENGTH = 500
_KEY_LENGTH = 200
_WAIT_MOST = 30
_BODY = {
    "requestBody": {
        "required": True,
        "description": "The document's bytes.",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}}
            for kind in ("application/pdf", "image/png", "image/jpeg")
        },
    }
}


class Error(BaseModel):
    """Why a document could not be read."""

    code: str = Field(description="One of the exchange contract's error codes.")
    message: str = Field(description="For a person, in Russian.")


class DocumentStatus(BaseModel):
    """Where a document is."""

    document_id: UUID
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    error: Error | None
    pages_done: int
    pages_total: int
    callback: bool = Field(description="Whether its end will be told to the callback's address.")


@dataclass(frozen=True)
class _Asked:
    """What a submission says beside the document."""

    name: Annotated[str, Query(max_length=_NAME_LENGTH, description="Data only.")] = ""
    deadline: Annotated[
        AwareDatetime | None, Query(description="Nobody waits for the answer after it.")
    ] = None
    callback: Annotated[
        str | None,
        Query(max_length=_NAME_LENGTH, description="Where its end is told, if that may be."),
    ] = None
    callback_token: Annotated[str | None, Header(max_length=_KEY_LENGTH)] = None
    idempotency_key: Annotated[str | None, Header(max_length=_KEY_LENGTH)] = None


def create_app(
    settings: ScanningSettings, desk: Desk, readers: Readers, caller: Caller, ocr: Ocr
) -> FastAPI:
    """Build the application."""
    app = FastAPI(
        title=f"arm-ka {NAME}",
        version=VERSION,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    app.include_router(_documents(settings, desk, readers, caller))
    app.include_router(_health(desk, ocr))
    _describe_answer(app)
    return app


def _documents(
    settings: ScanningSettings, desk: Desk, readers: Readers, caller: Caller
) -> APIRouter:
    known = [Depends(_authorised(settings))]
    api = APIRouter(
        prefix="/v1/documents",
        tags=["documents"],
        dependencies=known,
        responses=problems.answers(400, 401, 500),
    )

    @api.post(
        "",
        status_code=HTTPStatus.ACCEPTED,
        response_model=DocumentStatus,
        openapi_extra=_BODY,
        responses=problems.answers(408, 409, 413, 415, 422, 429, 503),
        callbacks=_callbacks().routes,
    )
    async def submit(request: Request, asked: Annotated[_Asked, Depends()]) -> JSONResponse:
        """Hand in a document; the same key again gives the same document."""
        agreed = _agreed(caller, asked)
        with desk.receiving() as path:
            received = await receive(request, path, settings.max_bytes)
            record = desk.known(asked.idempotency_key, received.sha256)
            if record is None:
                pages = await readers.inspect(str(path), received.kind)
                made = _record(received, pages, asked, agreed)
                record = await desk.accept(made, path)
        await desk.call_back(record, agreed)
        location = {"Location": f"/v1/documents/{record.document_id}"}
        return JSONResponse(record.view(), HTTPStatus.ACCEPTED, location)

    @api.get("/{document_id}", response_model=DocumentStatus, responses=problems.answers(404))
    async def status(
        document_id: UUID,
        wait: Annotated[
            float, Query(ge=0, le=_WAIT_MOST, description="Seconds to wait for its end.")
        ] = 0,
    ) -> JSONResponse:
        """Where a document is; with `wait`, at its end or after so many seconds."""
        return JSONResponse((await desk.wait(str(document_id), wait)).view())

    @api.get(
        "/{document_id}/result",
        response_class=FileResponse,
        responses=problems.answers(404, 409) | _ANSWERED,
    )
    async def result(document_id: UUID) -> FileResponse:
        """The answer, once the document is done."""
        record = desk.record(str(document_id))
        if record.status is not Status.DONE:
            detail = f"document {document_id} is {record.status}: there is no answer"
            raise Refusal(HTTPStatus.CONFLICT, "not-done", detail)
        return FileResponse(desk.answer(str(document_id)), media_type="application/json")

    @api.delete(
        "/{document_id}", status_code=HTTPStatus.NO_CONTENT, responses=problems.answers(404)
    )
    async def cancel(document_id: UUID) -> Response:
        """Stop reading a document; one at its end stays as it is."""
        await desk.cancel(str(document_id))
        return Response(status_code=HTTPStatus.NO_CONTENT)

    return api


def _callbacks() -> APIRouter:
    """What is called, for the OpenAPI document."""
    api = APIRouter()

    @api.post("{$request.query.callback}", status_code=HTTPStatus.NO_CONTENT)
    async def ended(
        body: DocumentStatus,
        authorization: Annotated[str, Header(description="`Bearer` and the Callback-Token.")],
    ) -> None:
        """A document is at its end: done or failed. Without a 2xx, or a 4xx that is no 408, 425 or
        429, the call is repeated for about two minutes; it may come twice.
        """

    return api


_ANSWERED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}},
    }
}


def _agreed(caller: Caller, asked: _Asked) -> Callback | None:
    try:
        return caller.agreed(asked.callback, asked.callback_token)
    except CallbackInvalid as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, "invalid-request", str(error)) from None


def _record(received: Received, pages: int, asked: _Asked, callback: Callback | None) -> Record:
    return Record(
        document_id=str(uuid4()),
        name=asked.name,
        kind=received.kind,
        sha256=received.sha256,
        size=received.size,
        pages_total=pages,
        created=time.time(),
        key=asked.idempotency_key,
        deadline=None if asked.deadline is None else asked.deadline.timestamp(),
        warnings=received.warnings,
        callback=callback,
    )


def _authorised(settings: ScanningSettings) -> Callable[..., None]:
    bearer = HTTPBearer(auto_error=False)
    token = settings.token.get_secret_value().encode() if settings.token else None

    def authorised(
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> None:
        if token is None:
            return
        if given is None or not hmac.compare_digest(given.credentials.encode(), token):
            detail = "Send the token as `Authorization: Bearer …`."
            headers = {"WWW-Authenticate": "Bearer"}
            raise Refusal(HTTPStatus.UNAUTHORIZED, "unauthorized", detail, headers)

    return authorised


def _health(desk: Desk, ocr: Ocr) -> APIRouter:
    api = APIRouter(tags=["health"])

    @api.get("/livez")
    async def livez() -> dict[str, str]:
        """Whether this process runs."""
        return {"status": "ok"}

    @api.get("/readyz")
    async def readyz() -> dict[str, Any]:
        """Whether documents are taken on, and what cannot be read here."""
        return {"status": "ok", "unanswered": desk.unanswered, "ocr": ocr.missing or "ok"}

    return api


def _describe_answer(app: FastAPI) -> None:
    """The answer is written by msgspec, and so is its schema."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        document = generate()
        _, schemas = msgspec.json.schema_components(
            [Answer], ref_template="#/components/schemas/{name}"
        )
        document["components"]["schemas"] |= schemas
        return document

    app.openapi = openapi  # type: ignore[method-assign]
