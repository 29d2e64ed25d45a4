"""The application: routes, who may call them, what errors look like."""

import hmac
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from armka.core.files.attempts import Attempts
from armka.core.files.store import Files
from armka.core.files.uploads import Uploads
from armka.core.http import files, jobs, problems
from armka.core.jobs.store import Jobs

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class Parts:
    """What the routes work with."""

    files: Files
    uploads: Uploads
    attempts: Attempts
    jobs: Jobs
    upload_limit: int
    token: str | None
    health: Callable[[], dict[str, Any]]


def create_app(parts: Parts, version: str, lifespan: Lifespan) -> FastAPI:
    """Build the application."""
    # The interactive page would load its scripts from elsewhere; the document itself is served.
    app = FastAPI(title="arm-ka", version=version, docs_url=None, redoc_url=None, lifespan=lifespan)
    problems.install(app)
    if parts.token is not None:
        app.add_middleware(_Bearer, token=parts.token)
    api = APIRouter(prefix="/api/v1", responses=problems.RESPONSES)
    api.include_router(files.router(parts.files, parts.uploads, parts.attempts, parts.upload_limit))
    api.include_router(jobs.router(parts.jobs))
    app.include_router(api)

    @app.get("/healthcheck", tags=["health"])
    async def healthcheck() -> dict[str, Any]:
        """Say that the process runs, and how its loops are, without asking any server."""
        return parts.health()

    return app


class _Bearer:
    """Lets in who sends the token, and everybody to the paths that are open."""

    _OPEN = frozenset({"/healthcheck"})

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._OPEN or self._knows(scope):
            await self._app(scope, receive, send)
            return
        refusal = problems.problem(
            HTTPStatus.UNAUTHORIZED,
            "unauthorized",
            "Send the API token as `Authorization: Bearer …`.",
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        given = token.strip().encode("latin-1")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token)
