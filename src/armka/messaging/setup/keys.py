"""nkeys, and the JWTs that they issue to each other: operator to account, account to user."""

import base64
import hashlib
import os
import time
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
import nkeys

OPERATOR = nkeys.PREFIX_BYTE_OPERATOR
ACCOUNT = nkeys.PREFIX_BYTE_ACCOUNT
USER = nkeys.PREFIX_BYTE_USER

_KIND_BYTES = 32
_HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}
# A user may answer a message so much later: results wait for the database's commit.
_ANSWER_NANOSECONDS = 10 * 60 * 10**9
_NO_LIMITS = {"subs": -1, "data": -1, "payload": -1}
_ACCOUNT_LIMITS = _NO_LIMITS | {
    "conn": -1,
    "leaf": -1,
    "imports": -1,
    "exports": -1,
    "wildcards": True,
}
_JETSTREAM_LIMITS = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}


@dataclass(frozen=True)
class Key:
    """An nkey pair, as the seed that makes it."""

    seed: str = field(repr=False)

    @classmethod
    def new(cls, kind: int) -> Self:
        """A fresh pair of OPERATOR, ACCOUNT or USER."""
        return cls(bytes(nkeys.encode_seed(os.urandom(_KIND_BYTES), kind)).decode())

    @property
    def public(self) -> str:
        """The name by which the others know it."""
        return bytes(nkeys.from_seed(bytearray(self.seed.encode())).public_key).decode()

    def issue(
        self,
        subject: str,
        name: str,
        claims: dict[str, Any],
        seconds: float | None = None,
        *,
        age_seconds: float = 0,
    ) -> str:
        """A JWT about `subject`, valid for so many seconds from now, or for ever."""
        now = int(time.time() - age_seconds)
        payload: dict[str, Any] = {"iat": now, "iss": self.public, "sub": subject, "name": name}
        payload["nats"] = {"version": 2} | claims
        if seconds is not None:
            payload["exp"] = int(time.time() + seconds)
        payload["jti"] = hashlib.sha256(msgspec.json.encode(payload)).hexdigest()
        signed = f"{_base64(msgspec.json.encode(_HEADER))}.{_base64(msgspec.json.encode(payload))}"
        signature = nkeys.from_seed(bytearray(self.seed.encode())).sign(signed.encode())
        return f"{signed}.{_base64(bytes(signature))}"


def operator_claims(system_account: str) -> dict[str, Any]:
    """An operator whose servers report to this account."""
    return {"type": "operator", "system_account": system_account}


def account_claims(*, jetstream: bool) -> dict[str, Any]:
    """An account without limits of its own; JetStream only where wanted."""
    return {
        "type": "account",
        "limits": _ACCOUNT_LIMITS | (_JETSTREAM_LIMITS if jetstream else {}),
        "default_permissions": {"pub": {}, "sub": {}},
    }


def user_claims(
    publish: tuple[str, ...], subscribe: tuple[str, ...], *, answers: bool
) -> dict[str, Any]:
    """A user who may publish and subscribe to these subjects, and to no other."""
    answering = {"resp": {"max": 1, "ttl": _ANSWER_NANOSECONDS}} if answers else {}
    return {
        "type": "user",
        "pub": {"allow": list(publish)},
        "sub": {"allow": list(subscribe)},
        **answering,
        **_NO_LIMITS,
    }


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
