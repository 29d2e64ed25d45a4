"""The guard: the one door. It knows who asks, and lets through what the table of access says.

Whoever is unknown learns nothing, not even what exists. A browser's session opens unsafe methods
only for pages of ours: its `Origin` must be ours, and it must bring the token that our pages hold.
"""

from collections.abc import Callable, MutableMapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from armka.core.database.pool import is_unavailable, lost_race
from armka.core.http import problems
from armka.core.identity import secrecy
from armka.core.identity.access import Rule, methods_of, rule_of
from armka.core.identity.browser import (
    FORM_FIELD,
    FORM_HEADER,
    SIGN_IN,
    cookie_name,
    is_private,
    origin_of,
)
from armka.core.identity.credentials import Credentials
from armka.core.identity.principal import Kind, Principal

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PAGES = "/console"
_FORM = "application/x-www-form-urlencoded"
_FORM_BYTES = 64 * 1024

RefusalPage = Callable[[Request, int], Response]


class _Refused(Exception):
    """The answer instead of what was asked for."""

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


class Guard:
    """Lets requests through to the routes, each with its `principal` in the scope's state."""

    def __init__(
        self, app: ASGIApp, credentials: Credentials, origin: str | None, page: RefusalPage
    ) -> None:
        self._app = app
        self._credentials = credentials
        self._origin = origin
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = _Asked(scope, receive, self._origin)
        refusal = await self._refusal(asked)
        if refusal is None:
            await self._app(scope, asked.receive, send)
        else:
            await refusal(scope, receive, send)

    async def _refusal(self, asked: "_Asked") -> Response | None:
        """What is answered instead: a problem for programs, a page for people."""
        is_page = asked.path.startswith(_PAGES)
        try:
            await self._judge(asked)
        except _Refused as refused:
            status = refused.answer.status_code
            if is_page and status >= HTTPStatus.FORBIDDEN:
                return self._page(Request(asked.scope), status)
            return refused.answer
        except Exception as error:
            if not is_page or not (is_unavailable(error) or lost_race(error)):
                raise
            return self._page(Request(asked.scope), HTTPStatus.SERVICE_UNAVAILABLE)
        return None

    async def _judge(self, asked: "_Asked") -> None:
        rule = rule_of(asked.method, asked.path)
        if rule is not None and rule.is_open:
            # Signing in is unsafe too: nobody is to be signed in by another site.
            if asked.method not in _SAFE:
                await asked.must_come_from_our_page()
            return
        principal = await self._principal(asked)
        if rule is None:
            raise _Refused(_nothing_here(asked.path))
        if not rule.admits(principal):
            raise _Refused(_forbidden(rule, principal))
        state = asked.scope.setdefault("state", {})
        state |= {"principal": principal, "cookie": asked.cookie}

    async def _principal(self, asked: "_Asked") -> Principal:
        bearer = asked.bearer
        if bearer is not None:
            principal = await self._credentials.of_bearer(bearer, asked.address)
        elif asked.headers.get("authorization") is not None:
            principal = None
        elif asked.cookie is not None and (
            principal := await self._credentials.of_cookie(asked.cookie, asked.address)
        ):
            if asked.method not in _SAFE:
                await asked.must_come_from_our_page()
        elif asked.path.startswith(_PAGES):
            principal = None
        else:
            principal = self._credentials.of_none(asked.address)
            if principal is not None:
                asked.must_come_from_this_machine()
        if principal is None:
            raise _Refused(_unknown(asked))
        return principal


class _Asked:
    """A request, as far as the guard looks at it."""

    def __init__(self, scope: Scope, receive: Receive, origin: str | None) -> None:
        self.scope: MutableMapping[str, Any] = scope
        self.receive = receive
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers = Headers(scope=scope)
        self._origin = origin

    @property
    def address(self) -> str | None:
        client = self.scope.get("client")
        return None if client is None else client[0]

    @property
    def bearer(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    @property
    def cookie(self) -> str | None:
        """The session's cookie; on plain HTTP only that of the loopback."""
        return cookies(self.headers).get(cookie_name(self._our_origin))

    @property
    def is_a_person_at_the_door(self) -> bool:
        """Whether a browser asks for the bare address: its reader wants the console."""
        return self.path == "/" and "text/html" in self.headers.get("accept", "")

    @property
    def _our_origin(self) -> str:
        host = self.headers.get("host", "")
        return origin_of(self.scope["scheme"], host, self._origin)

    async def must_come_from_our_page(self) -> None:
        """Refuse forms and scripts of other sites, and pages that lost their token."""
        if self.headers.get("origin") != self._our_origin:
            raise _Refused(_foreign())
        cookie = self.cookie
        given = self.headers.get(FORM_HEADER) or await self._form_token()
        if cookie is None or given is None or not secrecy.is_form_token(cookie, given):
            raise _Refused(_foreign())

    async def _form_token(self) -> str | None:
        """The token among the fields of a small form, which is handed on as it came."""
        if not self.headers.get("content-type", "").startswith(_FORM):
            return None
        body = await self._body()
        fields = parse_qs(body.decode("latin-1"), max_num_fields=50)
        return next(iter(fields.get(FORM_FIELD, [])), None)

    async def _body(self) -> bytes:
        receive, messages = self.receive, list[Message]()
        body: bytes = b""
        while True:
            message = await receive()
            messages.append(message)
            body += message.get("body", b"")
            if len(body) > _FORM_BYTES:
                raise _Refused(_too_large())
            if not message.get("more_body"):
                break

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        self.receive = again
        return body

    def must_come_from_this_machine(self) -> None:
        """Where nobody is asked who they are, no page of another site may ask in their name."""
        origin, host = self.headers.get("origin"), self.headers.get("host", "")
        is_cross_site = self.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
        is_foreign = origin is not None and origin != self._our_origin
        if not is_private(host) or (self.method not in _SAFE and (is_foreign or is_cross_site)):
            raise _Refused(_foreign())


def cookies(headers: Headers) -> dict[str, str]:
    """The cookies of a request."""
    try:
        parsed = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in parsed.items()}


def _unknown(asked: _Asked) -> Response:
    if asked.path.startswith(_PAGES) or asked.is_a_person_at_the_door:
        if asked.headers.get("hx-request") is not None:
            # A piece of a page cannot show the sign-in; the page itself must go there.
            return Response(status_code=401, headers={"HX-Redirect": SIGN_IN})
        query = asked.scope["query_string"].decode("latin-1")
        came_from = f"{asked.path}?{query}" if query else asked.path
        back = f"?next={quote(came_from)}" if asked.method in _SAFE else ""
        return RedirectResponse(f"{SIGN_IN}{back}", status_code=303)
    return problems.problem(
        HTTPStatus.UNAUTHORIZED,
        "unauthorized",
        "Send an API token as `Authorization: Bearer …`, or sign in to the console.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def _nothing_here(path: str) -> Response:
    methods = methods_of(path)
    if not methods:
        return problems.problem(HTTPStatus.NOT_FOUND, "not-found", "Not Found")
    return problems.problem(
        HTTPStatus.METHOD_NOT_ALLOWED,
        "method-not-allowed",
        "Method Not Allowed",
        headers={"Allow": ", ".join(methods)},
    )


def _forbidden(rule: Rule, principal: Principal) -> Response:
    if principal.kind is Kind.TOKEN:
        wants = f"the scope {rule.scope}" if rule.scope else "a person: no token opens it"
    else:
        wants = "one of the roles " + ", ".join(sorted(rule.roles))
    return problems.problem(HTTPStatus.FORBIDDEN, "forbidden", f"This takes {wants}.")


def _foreign() -> Response:
    return problems.problem(
        HTTPStatus.FORBIDDEN,
        "foreign-request",
        "This request does not come from a page of this console: load the page again.",
    )


def _too_large() -> Response:
    return problems.problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "content-too-large", "The form is too large."
    )
