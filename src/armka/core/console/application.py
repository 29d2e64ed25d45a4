"""The console joined: its pages under `/console`, with errors that are pages too."""

from dataclasses import dataclass
from functools import partial
from importlib.resources import files

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from armka.core.asgi import LastResort
from armka.core.carrying.store import Carrying
from armka.core.console import changes, clients, documents, history, review, sign_in
from armka.core.console.changes import AttemptsSideBySide
from armka.core.console.clients import Clients
from armka.core.console.documents import Documents
from armka.core.console.history import FileHistory
from armka.core.console.pages import Pages
from armka.core.console.review import Review
from armka.core.console.settings import ConsoleSettings
from armka.core.continuity.store import Continuity
from armka.core.database.pool import is_unavailable, lost_race
from armka.core.errors import FileNotFound
from armka.core.files.changes import FileChanges
from armka.core.files.store import Files
from armka.core.history.store import Histories
from armka.core.identity.identity import Identity
from armka.core.review.documents import ReviewedDocuments
from armka.core.review.pages import PageSources

log = structlog.get_logger(__name__)

_STATIC = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True)
class ConsoleParts:
    """What the pages are made of."""

    identity: Identity
    files: Files
    histories: Histories
    continuity: Continuity
    carrying: Carrying
    changes: FileChanges
    documents: ReviewedDocuments
    pages: PageSources
    upload_limit: int
    version: str


class Console:
    """The pages, to be mounted; also what the guard shows to people that it turns away."""

    def __init__(self, parts: ConsoleParts, settings: ConsoleSettings) -> None:
        self._parts = parts
        self._pages = Pages(settings, parts.identity.settings.origin, parts.version)

    def install(self, app: FastAPI) -> None:
        """Mount the console, and lead to it from the root."""

        @app.get("/", include_in_schema=False)
        async def root() -> Response:
            return RedirectResponse(sign_in.HOME, status_code=303)

        app.mount("/console", _application(self._parts, self._pages))

    def refusal(self, request: Request, status: int) -> Response:
        """The page instead of one that was not let through."""
        names = {403: "forbidden.html", 404: "not_found.html", 503: "later.html"}
        name = names.get(status, "unclear.html")
        return self._pages.page(request, name, status=status)


def _application(parts: ConsoleParts, pages: Pages) -> FastAPI:
    identity = parts.identity
    console = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    async def not_found(request: Request, _error: Exception) -> Response:
        return pages.page(request, "not_found.html", status=404)

    async def unclear(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 400
        if status in {404, 405}:
            return await not_found(request, error)
        return pages.page(request, "unclear.html", status=status)

    console.add_exception_handler(HTTPException, unclear)
    console.add_exception_handler(RequestValidationError, unclear)
    console.add_exception_handler(FileNotFound, not_found)
    console.add_middleware(LastResort, answer=partial(_failed, pages))
    console.include_router(sign_in.router(pages, identity))
    shown = Documents(pages, parts.files, parts.changes, identity.sessions, parts.upload_limit)
    console.include_router(documents.router(shown))
    console.include_router(history.router(FileHistory(pages, parts.histories)))
    console.include_router(changes.router(AttemptsSideBySide(pages, parts.carrying)))
    console.include_router(clients.router(Clients(pages, parts.continuity)))
    reviewed = Review(pages, parts.files, parts.documents, parts.pages)
    console.include_router(review.router(reviewed))
    console.mount("/static", _Static(directory=str(files(__package__) / "static")))
    return console


class _Static(StaticFiles):
    """Files of ours: asked for again each time, answered with 304 while they are the same."""

    def file_response(self, *args: object, **options: object) -> Response:
        response = super().file_response(*args, **options)  # type: ignore[arg-type]
        response.headers.update(_STATIC)
        return response


def _failed(pages: Pages, scope: Scope, error: Exception) -> Response:
    """A page for whatever went wrong."""
    request = Request(scope)
    if is_unavailable(error) or lost_race(error):
        log.warning("a page had to be put off", error=type(error).__name__)
        response: Response = pages.page(request, "later.html", status=503)
        response.headers["Retry-After"] = "5"
        return response
    log.error("a page failed", path=request.url.path, exc_info=error)
    return pages.page(request, "failed.html", status=500)
