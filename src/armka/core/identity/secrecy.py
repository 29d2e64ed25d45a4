"""Secrets that bearers hold: 256 random bits each; the database has their digests only."""

import hashlib
import hmac
import secrets

_TOKEN_PREFIX = "arm_"  # noqa: S105 - what scanners of leaked secrets look for
_SHOWN = 12


def new_secret() -> str:
    """A secret for a cookie or a link."""
    return secrets.token_urlsafe(32)


def new_token() -> str:
    """A secret for a machine, known by its beginning."""
    return f"{_TOKEN_PREFIX}{secrets.token_urlsafe(32)}"


def is_token(text: str) -> bool:
    """Whether this looks like a machine's token."""
    return text.startswith(_TOKEN_PREFIX)


def prefix(token: str) -> str:
    """What may be shown of a token."""
    return token[:_SHOWN]


def digest(secret: str) -> bytes:
    """What is kept of a secret. It has too many bits to be guessed, so one round does."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


def form_token(cookie: str) -> str:
    """What forms of the browser with this cookie carry, and no other site can know."""
    return hmac.new(cookie.encode(), b"armka form", hashlib.sha256).hexdigest()


def is_form_token(cookie: str, given: str) -> bool:
    """Whether a form came from a page of ours."""
    return hmac.compare_digest(form_token(cookie).encode(), given.encode())
