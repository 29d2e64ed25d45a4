"""The way in and out: password, link, identity provider; one's own password; how it looks."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from armka.core.console.pages import (
    HEADERS,
    LANGUAGE_COOKIE,
    THEME_COOKIE,
    THEMES,
    Pages,
)
from armka.core.console.words import CODES
from armka.core.errors import (
    LinkVoid,
    PasswordUnfit,
    PasswordWrong,
    ProviderRefused,
    ProviderUnavailable,
    SignInLocked,
    SignInRefused,
)
from armka.core.identity import secrecy
from armka.core.identity.browser import SIGN_IN
from armka.core.identity.identity import Identity
from armka.core.identity.passwords import SHORTEST
from armka.core.identity.principal import Kind, Principal

HOME = "/console/documents"
_PASSWORD = "/console/password"  # noqa: S105 - a page
_FOREVER_SECONDS = 10 * 365 * 86400

Text = Annotated[str, Form(max_length=1024)]
Next = Annotated[str, Query(alias="next", max_length=4096)]


def router(pages: Pages, identity: Identity) -> APIRouter:
    """The routes."""
    api = APIRouter()
    _add_password(api, pages, identity)
    _add_link(api, pages, identity)
    _add_provider(api, pages, identity)
    _add_own(api, pages, identity)
    _add_looks(api)
    return api


def _add_password(api: APIRouter, pages: Pages, identity: Identity) -> None:
    has_provider = identity.provider is not None

    @api.get("/sign-in")
    async def form(request: Request, came_from: Next = HOME) -> Response:
        browser = pages.browser(request)
        if await identity.sessions.user(browser.cookie) is not None:
            return _go(_inside(came_from))
        return pages.page(
            request,
            "sign_in.html",
            came_from=_inside(came_from),
            has_provider=has_provider,
            may_sign_in=browser.may_sign_in,
            problem=None,
            typed="",
        )

    @api.post("/sign-in")
    async def sign_in(
        request: Request, name: Text = "", password: Text = "", came_from: Text = HOME
    ) -> Response:
        browser = pages.browser(request)
        problem: SignInLocked | SignInRefused
        try:
            if not browser.may_sign_in:
                raise SignInRefused
            signed_in = await identity.sign_in.with_password(name, password, _address(request))
        except (SignInLocked, SignInRefused) as error:
            problem = error
        else:
            response = _go(_inside(came_from))
            browser.keep(response, signed_in.cookie)
            return response
        return pages.page(
            request,
            "sign_in.html",
            status=429 if isinstance(problem, SignInLocked) else 403,
            came_from=_inside(came_from),
            has_provider=has_provider,
            may_sign_in=browser.may_sign_in,
            problem=problem,
            typed=name,
        )


def _add_link(api: APIRouter, pages: Pages, identity: Identity) -> None:
    @api.get("/sign-in/link")
    async def show(request: Request) -> Response:
        may_sign_in = pages.browser(request).may_sign_in
        return pages.page(request, "link.html", is_void=False, may_sign_in=may_sign_in)

    @api.post("/sign-in/link")
    async def use(request: Request, secret: Text = "") -> Response:
        browser = pages.browser(request)
        try:
            if not browser.may_sign_in:
                raise LinkVoid
            signed_in, has_password = await identity.sign_in.with_link(secret, _address(request))
        except LinkVoid:
            return pages.page(
                request, "link.html", status=403, is_void=True, may_sign_in=browser.may_sign_in
            )
        response = _go(HOME if has_password else _PASSWORD)
        browser.keep(response, signed_in.cookie)
        return response


def _add_provider(api: APIRouter, pages: Pages, identity: Identity) -> None:
    def refused(request: Request, error: ProviderRefused | ProviderUnavailable) -> Response:
        status = 403 if isinstance(error, ProviderRefused) else 503
        is_away = isinstance(error, ProviderUnavailable)
        return pages.page(request, "refused.html", status=status, why=error.why, is_away=is_away)

    @api.get("/sign-in/provider")
    async def leave(request: Request, came_from: Next = HOME) -> Response:
        browser = pages.browser(request)
        if identity.provider is None or not browser.may_sign_in:
            return _go(SIGN_IN)
        try:
            address = await identity.provider.begin(browser.cookie, _inside(came_from))
        except (ProviderRefused, ProviderUnavailable) as error:
            return refused(request, error)
        response = _go(address)
        browser.keep(response)
        return response

    @api.get("/sign-in/callback")
    async def arrive(request: Request, state: str = "", code: str = "") -> Response:
        browser = pages.browser(request)
        if identity.provider is None:
            return _go(SIGN_IN)
        try:
            arrived = await identity.provider.finish(state, code, browser.cookie, _address(request))
        except (ProviderRefused, ProviderUnavailable) as error:
            return refused(request, error)
        response = _go(_inside(arrived.came_from))
        browser.keep(response, arrived.signed_in.cookie)
        return response


def _add_own(api: APIRouter, pages: Pages, identity: Identity) -> None:
    @api.post("/sign-out")
    async def sign_out(request: Request) -> Response:
        user: Principal = request.state.principal
        browser = pages.browser(request)
        await identity.sessions.end(browser.cookie, user)
        response = _go(SIGN_IN)
        browser.keep(response, secrecy.new_secret())
        return response

    async def account(user: Principal) -> tuple[bool, bool]:
        """Whether the password is kept here, and whether there is one."""
        if user.kind is not Kind.USER or user.id is None:
            return False, False
        row = await identity.accounts.get(user.id)
        return row["issuer"] is None, row["has_password"]

    async def shown(
        request: Request, problem: PasswordUnfit | PasswordWrong | None, done: bool = False
    ) -> Response:
        is_local, has_password = await account(request.state.principal)
        return pages.page(
            request,
            "password.html",
            status=200 if problem is None else 422,
            is_local=is_local,
            has_password=has_password,
            shortest=SHORTEST,
            problem=problem,
            done=done,
        )

    @api.get("/password")
    async def form(request: Request) -> Response:
        return await shown(request, None)

    @api.post("/password")
    async def change(request: Request, old: Text = "", new: Text = "") -> Response:
        user: Principal = request.state.principal
        is_local, _ = await account(user)
        if not is_local or user.id is None:
            return await shown(request, None)
        keep: str | None = request.state.cookie
        try:
            await identity.accounts.change_own(user, user.id, old, new, keep)
        except (PasswordUnfit, PasswordWrong) as error:
            return await shown(request, error)
        return await shown(request, None, done=True)


def _add_looks(api: APIRouter) -> None:
    @api.post("/preferences")
    async def prefer(language: Text = "", theme: Text = "", came_from: Text = HOME) -> Response:
        response = _go(_inside(came_from))
        if language in CODES:
            _remember(response, LANGUAGE_COOKIE, language)
        if theme in THEMES:
            _remember(response, THEME_COOKIE, theme)
        return response


def _remember(response: Response, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=_FOREVER_SECONDS, path="/", samesite="lax")


def _go(address: str) -> Response:
    return RedirectResponse(address, status_code=303, headers=HEADERS)


def _inside(address: str) -> str:
    """Where to go next: a page of the console, never another site."""
    is_ours = address.startswith("/console/") and "\\" not in address and address.isprintable()
    return address if is_ours and "//" not in address else HOME


def _address(request: Request) -> str | None:
    return None if request.client is None else request.client.host
