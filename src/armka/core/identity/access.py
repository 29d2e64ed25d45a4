"""Who may do what: every route with the roles and the scope it takes. Pure data, the only place.

What is not in this table does not exist for anybody: the guard answers before a route is asked.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from armka.core.identity.principal import Principal, Role, Scope

_PLACE = re.compile(r"\{([a-z_]+)(:path)?\}")

ANALYST, OPERATOR, MANAGER, ADMIN = Role
EVERYBODY = frozenset(Role)
_WITHIN_A_STEP, _ACROSS_STEPS = "[^/]+", ".*"


@dataclass(frozen=True)
class Rule:
    """One route. Without roles it is open to all; without a scope no machine's token opens it."""

    method: str
    path: str
    roles: frozenset[Role]
    scope: Scope | None = None
    is_open: bool = False
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(_pattern(self.path), re.DOTALL))

    def admits(self, principal: Principal) -> bool:
        """Whether this caller may come through."""
        if self.is_open:
            return True
        if principal.scopes is not None:
            return self.scope in principal.scopes
        return bool(self.roles & principal.roles)


def _pattern(path: str) -> str:
    pieces, end = [], 0
    for place in _PLACE.finditer(path):
        pieces.append(re.escape(path[end : place.start()]))
        pieces.append(_ACROSS_STEPS if place[2] else _WITHIN_A_STEP)
        end = place.end()
    return "".join([*pieces, re.escape(path[end:])])


def _open(method: str, path: str) -> Rule:
    return Rule(method, path, frozenset(), is_open=True)


def _rule(method: str, path: str, roles: Iterable[Role], scope: Scope | None = None) -> Rule:
    return Rule(method, path, frozenset(roles), scope)


_WORK = (ANALYST, MANAGER, ADMIN)
_REPEAT = (ANALYST, OPERATOR, MANAGER, ADMIN)
_MANY = (OPERATOR, MANAGER, ADMIN)
_FILE = "/api/v1/files/{file_id}"
_DOCUMENT = f"{_FILE}/documents/{{ordinal}}"
_USER = "/api/v1/users/{user_id}"

RULES: tuple[Rule, ...] = (
    # Probes: asked by what starts and stops processes.
    _open("GET", "/healthcheck"),
    _open("GET", "/livez"),
    _open("GET", "/readyz"),
    _rule("GET", "/metrics", _MANY, Scope.METRICS_READ),
    # What the API is.
    _rule("GET", "/docs", EVERYBODY, Scope.FILES_READ),
    _rule("GET", "/openapi.json", EVERYBODY, Scope.FILES_READ),
    # Documents.
    _rule("GET", "/api/v1/files", EVERYBODY, Scope.FILES_READ),
    _rule("POST", "/api/v1/files", _WORK, Scope.FILES_UPLOAD),
    _rule("GET", _FILE, EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/source", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/lines", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/lines.csv", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/lines.json", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/lines.xlsx", EVERYBODY, Scope.FILES_READ),
    _rule("POST", f"{_FILE}/withdraw", _WORK, Scope.FILES_MANAGE),
    _rule("POST", f"{_FILE}/restore", _WORK, Scope.FILES_MANAGE),
    # The review: everybody sees what was read; who works with documents corrects and confirms.
    _rule("GET", _DOCUMENT, EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_DOCUMENT}/lines", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_DOCUMENT}/corrections", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_DOCUMENT}/source", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_DOCUMENT}/pages/{{page}}", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_DOCUMENT}/pages/{{page}}/picture", EVERYBODY, Scope.FILES_READ),
    _rule("POST", f"{_DOCUMENT}/carry-over", _WORK, Scope.FILES_REVIEW),
    _rule("POST", f"{_DOCUMENT}/corrections", _WORK, Scope.FILES_REVIEW),
    _rule("POST", f"{_DOCUMENT}/proposals/accept", _WORK, Scope.FILES_REVIEW),
    _rule("POST", f"{_FILE}/confirm", _WORK, Scope.FILES_REVIEW),
    _rule("POST", f"{_FILE}/reopen", _WORK, Scope.FILES_REVIEW),
    # Attempts: one's own document again; many at once are for who answers for them.
    _rule("POST", f"{_FILE}/attempts", _REPEAT, Scope.ATTEMPTS),
    _rule("GET", f"{_FILE}/attempts", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/timeline", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/changes", EVERYBODY, Scope.FILES_READ),
    _rule("POST", "/api/v1/attempts/bulk", _MANY, Scope.ATTEMPTS),
    _rule("GET", "/api/v1/operations/{operation_id}", _MANY, Scope.ATTEMPTS),
    _rule("GET", "/api/v1/operations/{operation_id}/items", _MANY, Scope.ATTEMPTS),
    # R6: documents of a client in their order.
    _rule("GET", "/api/v1/continuity", EVERYBODY, Scope.FILES_READ),
    _rule("GET", f"{_FILE}/documents/{{ordinal}}/continuity", EVERYBODY, Scope.FILES_READ),
    # The exchange.
    _rule("GET", "/api/v1/jobs", EVERYBODY, Scope.JOBS_READ),
    _rule("GET", "/api/v1/jobs/{job_id}", EVERYBODY, Scope.JOBS_READ),
    _rule("GET", "/api/v1/jobs/{job_id}/messages", _MANY, Scope.JOBS_READ),
    _rule("GET", "/api/v1/rejected-messages", _MANY, Scope.JOBS_READ),
    _rule("GET", "/api/v1/rejected-messages/{message_id}", _MANY, Scope.JOBS_READ),
    # Who may come in.
    _rule("GET", "/api/v1/me", EVERYBODY, Scope.FILES_READ),
    _rule("POST", "/api/v1/me/password", EVERYBODY),
    _rule("GET", "/api/v1/users", [ADMIN], Scope.IDENTITY),
    _rule("POST", "/api/v1/users", [ADMIN], Scope.IDENTITY),
    _rule("GET", _USER, [ADMIN], Scope.IDENTITY),
    _rule("POST", f"{_USER}/roles", [ADMIN], Scope.IDENTITY),
    _rule("POST", f"{_USER}/password", [ADMIN], Scope.IDENTITY),
    _rule("POST", f"{_USER}/disable", [ADMIN], Scope.IDENTITY),
    _rule("POST", f"{_USER}/enable", [ADMIN], Scope.IDENTITY),
    _rule("POST", f"{_USER}/sign-out", [ADMIN], Scope.IDENTITY),
    _rule("POST", f"{_USER}/sign-in-link", [ADMIN], Scope.IDENTITY),
    _rule("GET", "/api/v1/tokens", [ADMIN], Scope.IDENTITY),
    _rule("POST", "/api/v1/tokens", [ADMIN], Scope.IDENTITY),
    _rule("POST", "/api/v1/tokens/{token_id}/revoke", [ADMIN], Scope.IDENTITY),
    _rule("GET", "/api/v1/audit", [MANAGER, ADMIN], Scope.IDENTITY),
    # The console: the way in is open, its pages are for people alone.
    _open("GET", "/console/static/{path:path}"),
    _open("GET", "/console/sign-in"),
    _open("POST", "/console/sign-in"),
    _open("GET", "/console/sign-in/link"),
    _open("POST", "/console/sign-in/link"),
    _open("GET", "/console/sign-in/provider"),
    _open("GET", "/console/sign-in/callback"),
    _open("POST", "/console/preferences"),
    _rule("GET", "/", EVERYBODY, Scope.FILES_READ),
    _rule("POST", "/console/sign-out", EVERYBODY),
    _rule("GET", "/console/password", EVERYBODY),
    _rule("POST", "/console/password", EVERYBODY),
    _rule("GET", "/console/documents", EVERYBODY),
    _rule("GET", "/console/documents/live", EVERYBODY),
    _rule("GET", "/console/files/{file_id}", EVERYBODY),
    _rule("GET", "/console/files/{file_id}/documents/{ordinal}/continuity", EVERYBODY),
    _rule("GET", "/console/files/{file_id}/changes", EVERYBODY),
    _rule("GET", "/console/clients", EVERYBODY),
    _rule("GET", "/console/documents/{file_id}/{ordinal}", EVERYBODY),
)


def rule_of(method: str, path: str) -> Rule | None:
    """The rule of a request, where there is one; HEAD is a GET that is not read."""
    asked = "GET" if method == "HEAD" else method
    return next(
        (rule for rule in RULES if rule.method == asked and rule.pattern.fullmatch(path)), None
    )


def methods_of(path: str) -> list[str]:
    """What can be done at this path."""
    return [rule.method for rule in RULES if rule.pattern.fullmatch(path)]
