"""Who may come in: accounts, tokens, the caller itself, the audit."""

import base64
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from armka.core.errors import NotLocal
from armka.core.http.asked import (
    After,
    Caller,
    Limit,
    Moment,
    Words,
    decode_cursor,
    next_cursor,
)
from armka.core.http.problems import answers
from armka.core.http.views import (
    AuditEvent,
    AuditPage,
    NewToken,
    SignInLink,
    TokenPage,
    TokenView,
    UserPage,
    UserView,
)
from armka.core.http.views import Me as MeView
from armka.core.identity.accounts import Accounts
from armka.core.identity.audit import Audit, AuditFilter
from armka.core.identity.principal import Kind, Role, Scope
from armka.core.identity.tokens import DAYS_MAX, Tokens

_LAST_ID = 2**63 - 1

# What one types to sign in: no spaces at its ends, nothing that is not seen.
Name = Annotated[str, StringConstraints(pattern=r"^[\w.@+-]{1,64}$")]
Password = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
Roles = Annotated[list[Role], Field(min_length=1, max_length=len(Role))]
Scopes = Annotated[list[Scope], Field(min_length=1, max_length=len(Scope))]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewUser(_Body):
    """A local account; without a password it is opened with a sign-in link."""

    name: Name
    roles: Roles
    display_name: Words | None = None
    password: Password | None = None


class Why(_Body):
    """Why it is done; kept in the audit."""

    reason: Words | None = None


class NewRoles(Why):
    """The roles from now on."""

    roles: Roles


class NewPassword(_Body):
    """A password."""

    password: Password


class OwnPassword(_Body):
    """The present password and the new one."""

    old: str = Field(default="", max_length=1024)
    new: Password


class WantedToken(_Body):
    """What a token is for, and for how long."""

    name: Words
    scopes: Scopes
    days: int = Field(default=90, ge=1, le=DAYS_MAX)


def router(accounts: Accounts, tokens: Tokens, audit: Audit) -> APIRouter:
    """The routes under `/me`, `/users`, `/tokens` and `/audit`."""
    api = APIRouter(tags=["identity"])
    _add_caller(api, accounts)
    _add_users(api, accounts)
    _add_changes(api, accounts)
    _add_tokens(api, tokens)

    @api.get("/audit")
    async def events(
        actor: Words | None = None,
        action: Words | None = None,
        subject: Words | None = None,
        since: Annotated[Moment | None, Query(description="Inclusive.")] = None,
        before: Annotated[Moment | None, Query(description="Exclusive.")] = None,
        after: Annotated[int | None, Query(ge=1, le=_LAST_ID)] = None,
        limit: Limit = 100,
    ) -> AuditPage:
        """List who did what, and why, latest first."""
        wanted = AuditFilter(actor, action, subject, since, before)
        rows, following = await audit.page(wanted, after, limit)
        shown = [AuditEvent.model_validate(dict(row)) for row in rows]
        return AuditPage(items=shown, next=following)

    return api


def _add_caller(api: APIRouter, accounts: Accounts) -> None:
    @api.get("/me")
    async def me(caller: Caller) -> MeView:
        """Tell who the caller is, and what it may do."""
        return MeView(
            kind=caller.kind,
            id=caller.id,
            name=caller.name,
            roles=sorted(caller.roles),
            scopes=None if caller.scopes is None else sorted(caller.scopes),
        )

    @api.post("/me/password", responses=answers(409, 422))
    async def change_password(request: Request, caller: Caller, asked: OwnPassword) -> UserView:
        """Change one's own password; all other sessions of one's own end."""
        if caller.kind is not Kind.USER or caller.id is None:
            raise NotLocal(caller.id)
        keep: str | None = request.state.cookie
        await accounts.change_own(caller, caller.id, asked.old, asked.new, keep)
        return await _user(accounts, caller.id)


def _add_users(api: APIRouter, accounts: Accounts) -> None:
    @api.get("/users")
    async def users(name: Words | None = None, after: After = None, limit: Limit = 100) -> UserPage:
        """List accounts by name; with `name`, those that are called so."""
        rows, following = await accounts.page(name, _name_cursor(after), limit)
        shown = [UserView.model_validate(dict(row)) for row in rows]
        cursor = None if following is None else _encode(f"{following[1]}{following[0]}")
        return UserPage(items=shown, next=cursor)

    @api.post("/users", status_code=201, responses=answers(409, 422))
    async def add(caller: Caller, asked: NewUser) -> UserView:
        """Make a local account."""
        user_id = await accounts.add(
            caller, asked.name, asked.display_name, asked.roles, asked.password
        )
        return await _user(accounts, user_id)

    @api.get("/users/{user_id}", responses=answers(404))
    async def one(user_id: UUID) -> UserView:
        """Show one account."""
        return await _user(accounts, user_id)


def _add_changes(api: APIRouter, accounts: Accounts) -> None:
    refusals: dict[int | str, dict[str, Any]] = answers(404, 409)

    @api.post("/users/{user_id}/roles", responses=refusals)
    async def roles(caller: Caller, user_id: UUID, asked: NewRoles) -> UserView:
        """Give a local account these roles; they hold from its next request on."""
        await accounts.set_roles(caller, user_id, asked.roles, asked.reason)
        return await _user(accounts, user_id)

    @api.post("/users/{user_id}/password", responses=refusals | answers(422))
    async def password(caller: Caller, user_id: UUID, asked: NewPassword) -> UserView:
        """Give a local account a new password; its sessions end."""
        await accounts.set_password(caller, user_id, asked.password)
        return await _user(accounts, user_id)

    @api.post("/users/{user_id}/disable", responses=refusals)
    async def disable(caller: Caller, user_id: UUID, asked: Why) -> UserView:
        """Let somebody in no more; their sessions end."""
        await accounts.disable(caller, user_id, asked.reason)
        return await _user(accounts, user_id)

    @api.post("/users/{user_id}/enable", responses=refusals)
    async def enable(caller: Caller, user_id: UUID, asked: Why) -> UserView:
        """Let somebody in again."""
        await accounts.enable(caller, user_id, asked.reason)
        return await _user(accounts, user_id)

    @api.post("/users/{user_id}/sign-out", responses=refusals)
    async def sign_out(caller: Caller, user_id: UUID, asked: Why) -> UserView:
        """End all sessions of somebody."""
        await accounts.sign_out(caller, user_id, asked.reason)
        return await _user(accounts, user_id)

    @api.post("/users/{user_id}/sign-in-link", status_code=201, responses=refusals)
    async def link(caller: Caller, user_id: UUID) -> SignInLink:
        """Make a link that signs a local account in once, within an hour; earlier ones are void."""
        secret, row = await accounts.link(caller, user_id)
        path = f"/console/sign-in/link#{secret}"
        return SignInLink(path=path, expires_at=row["expires_at"])


def _add_tokens(api: APIRouter, tokens: Tokens) -> None:
    @api.get("/tokens")
    async def page(after: After = None, limit: Limit = 100) -> TokenPage:
        """List tokens, latest first; of the secret itself only its beginning is known."""
        rows, following = await tokens.page(decode_cursor(after), limit)
        shown = [TokenView.model_validate(dict(row)) for row in rows]
        return TokenPage(items=shown, next=next_cursor(following))

    @api.post("/tokens", status_code=201, responses=answers(409))
    async def add(caller: Caller, asked: WantedToken) -> NewToken:
        """Make a token for a machine. It is shown in this answer and never again."""
        token, row = await tokens.add(caller, asked.name, asked.scopes, asked.days)
        return NewToken(**dict(row), token=token)

    @api.post("/tokens/{token_id}/revoke", responses=answers(404))
    async def revoke(caller: Caller, token_id: UUID, asked: Why) -> TokenView:
        """End a token at once."""
        return TokenView.model_validate(dict(await tokens.revoke(caller, token_id, asked.reason)))


async def _user(accounts: Accounts, user_id: UUID) -> UserView:
    return UserView.model_validate(dict(await accounts.get(user_id)))


def _encode(words: str) -> str:
    return base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")


def _name_cursor(cursor: str | None) -> tuple[str, UUID] | None:
    if cursor is None:
        return None
    try:
        words = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if "\0" in words:
            raise ValueError
        return words[36:], UUID(words[:36])
    except ValueError:
        raise HTTPException(400, "`after` is not a cursor of this list") from None
