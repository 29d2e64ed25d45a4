"""A line of log for every request: what was asked of which file or job, never whose it is."""

import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from uuid import UUID

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

_IDS = ("file_id", "job_id", "operation_id", "message_id", "user_id", "token_id")
_ID = re.compile(r"[0-9a-fA-F-]{1,36}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_PROBES = frozenset({"/livez", "/readyz", "/healthcheck", "/metrics"})

_ABOUT: ContextVar[dict[str, str] | None] = ContextVar("armka_request_about", default=None)

Count = Callable[[str, str, int], None]


def about(**ids: UUID) -> None:
    """Tell which file and job the request turned out to be about."""
    known = _ABOUT.get()
    if known is not None:
        known.update({name: str(value) for name, value in ids.items()})


class RequestLog:
    """Logs method, route, status, milliseconds and ids; counts by method, route and status.

    The route is the pattern, not the path: neither names, nor filters, nor tokens get in.
    """

    def __init__(self, app: ASGIApp, count: Count) -> None:
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began, ids = 500, time.perf_counter(), dict[str, str]()
        token = _ABOUT.set(ids)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            _ABOUT.reset(token)
            self._tell(scope, status, time.perf_counter() - began, ids)

    def _tell(self, scope: Scope, status: int, seconds: float, ids: dict[str, str]) -> None:
        route = _pattern(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._count(method, route, status)
        given = scope.get("path_params", {})
        # Only ids: a path can hold anything.
        told = {name: given[name] for name in _IDS if _ID.fullmatch(str(given.get(name, "")))}
        say = log.debug if route in _PROBES else log.info
        say(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
            **(told | ids),
        )


def _pattern(scope: Scope) -> str:
    """The whole pattern of the route; it knows itself only what comes after its router's prefix."""
    route = scope.get("route")
    if route is None:
        return "none"
    own: str = route.path
    prefix = scope["path"].split("/")[: -own.count("/")]
    return "/".join(prefix) + own
