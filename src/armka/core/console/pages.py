"""Rendering: a template, the words of the reader's language, the headers that every page has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from armka.core.console import words
from armka.core.console.settings import ConsoleSettings
from armka.core.history.advice import advice_for
from armka.core.identity import secrecy
from armka.core.identity.browser import (
    FORM_FIELD,
    cookie_name,
    is_loopback,
    is_secure,
    origin_of,
)
from armka.core.identity.principal import Principal

LANGUAGE_COOKIE, THEME_COOKIE = "armka-language", "armka-theme"
THEMES = ("auto", "light", "dark")

# Nothing is loaded from elsewhere, nothing runs that is not a file of ours.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Browser:
    """Who reads: the cookie, and what it was chosen to look like."""

    cookie: str
    cookie_name: str
    is_secure: bool
    may_sign_in: bool

    def keep(self, response: Response, cookie: str | None = None) -> None:
        """Let the browser keep a cookie of the session."""
        response.set_cookie(
            self.cookie_name,
            cookie or self.cookie,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )


def browser_of(request: Request, public: str | None) -> Browser:
    """The browser of a request; one without a cookie gets a new one."""
    host = request.headers.get("host", "")
    origin = origin_of(request.url.scheme, host, public)
    name, secure = cookie_name(origin), is_secure(origin)
    cookie = request.cookies.get(name) or secrecy.new_secret()
    return Browser(cookie, name, secure, secure or is_loopback(host))


class Pages:
    """Renders templates."""

    def __init__(self, settings: ConsoleSettings, public: str | None, version: str) -> None:
        self._usual = settings.language
        self._public = public
        self._version = version
        self._environments = {
            code: _environment(language)
            for code, language in words.languages(settings.time_zone).items()
        }

    def browser(self, request: Request) -> Browser:
        """The browser of a request."""
        return browser_of(request, self._public)

    def page(self, request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page, whole or the piece of it that was asked for."""
        browser = self.browser(request)
        text = self.piece(request, name, browser=browser, **values)
        response = HTMLResponse(text, status_code=status, headers=HEADERS)
        if request.cookies.get(browser.cookie_name) is None:
            browser.keep(response)
        return response

    def piece(self, request: Request, name: str, **values: Any) -> str:
        """Text of a template."""
        browser: Browser = values.pop("browser", None) or self.browser(request)
        user: Principal | None = getattr(request.state, "principal", None)
        theme = request.cookies.get(THEME_COOKIE)
        template = self._environments[self.language(request)].get_template(name)
        return template.render(
            user=user,
            path=request.url.path,
            form_field=FORM_FIELD,
            form_token=secrecy.form_token(browser.cookie),
            theme=theme if theme in THEMES else "auto",
            version=self._version,
            **values,
        )

    def language(self, request: Request) -> str:
        """The code of the reader's language."""
        accepted = request.headers.get("accept-language", "")
        return words.chosen(request.cookies.get(LANGUAGE_COOKIE), accepted, self._usual)


def _environment(language: words.Language) -> Environment:
    environment = Environment(
        loader=PackageLoader("armka.core.console"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    installed: Mapping[str, Any] = {
        "language": language.code,
        "languages": words.NAMES,
        "themes": THEMES,
        "moment": language.moment,
        "day": language.day,
        "clock": language.clock,
        "date": language.date,
        "amount": language.amount,
        "number": language.number,
        "advice_for": advice_for,
    }
    environment.globals.update(installed)
    # The extension adds this method; the types of Jinja2 do not tell of it.
    environment.install_gettext_translations(  # type: ignore[attr-defined]
        language.translations, newstyle=True
    )
    return environment
