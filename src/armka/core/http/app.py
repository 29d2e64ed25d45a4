"""The application: routes, who may call them, what errors look like."""

import hmac
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response

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
        app.middleware("http")(_bearer(parts.token))
    api = APIRouter(prefix="/api/v1")
    api.include_router(files.router(parts.files, parts.uploads, parts.attempts, parts.upload_limit))
    api.include_router(jobs.router(parts.jobs))
    app.include_router(api)

    @app.get("/healthcheck", tags=["health"])
    async def healthcheck() -> dict[str, Any]:
        """Say that the process runs, and how its loops and connections are, without asking any server."""
        return parts.health()

    return app


Call = Callable[[Request], Awaitable[Response]]


def _bearer(token: str) -> Callable[[Request, Call], Awaitable[Response]]:
    expected = f"Bearer {token}".encode()

    async def check(request: Request, call: Call) -> Response:
        given = request.headers.get("authorization", "").encode()
        if request.url.path != "/healthcheck" and not hmac.compare_digest(given, expected):
            return problems.problem(
                HTTPStatus.UNAUTHORIZED,
                "unauthorized",
                "Send the API token as `Authorization: Bearer …`.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return await call(request)

    return check
