"""Operators, accounts and users of NATS, made on the spot: nkeys and their JWTs."""

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from typing import Any

import nkeys


@dataclass(frozen=True)
class Key:
    """An nkey pair."""

    seed: bytes

    @classmethod
    def new(cls, prefix: int) -> "Key":
        return cls(bytes(nkeys.encode_seed(os.urandom(32), prefix)))

    @property
    def public(self) -> str:
        return bytes(nkeys.from_seed(bytearray(self.seed)).public_key).decode()

    def jwt(self, subject: str, kind: str, **claims: Any) -> str:
        """A JWT about `subject`, issued by this key."""
        payload = {
            "iat": 1_700_000_000,
            "iss": self.public,
            "sub": subject,
            "name": kind,
            "nats": {"type": kind, "version": 2} | claims,
        }
        payload["jti"] = hashlib.sha256(json.dumps(payload).encode()).hexdigest()
        header = {"typ": "JWT", "alg": "ed25519-nkey"}
        signed = f"{_encode(header)}.{_encode(payload)}"
        signature = nkeys.from_seed(bytearray(self.seed)).sign(signed.encode())
        return f"{signed}.{_base64(bytes(signature))}"


def _encode(value: dict[str, Any]) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


_LIMITS = {"subs": -1, "data": -1, "payload": -1}
_ACCOUNT_LIMITS = _LIMITS | {
    "conn": -1,
    "leaf": -1,
    "imports": -1,
    "exports": -1,
    "wildcards": True,
}


def operator_mode() -> tuple[str, str, str]:
    """A server's configuration, and the seed and JWT of a user whom it lets in."""
    operator = Key.new(nkeys.PREFIX_BYTE_OPERATOR)
    accounts = [Key.new(nkeys.PREFIX_BYTE_ACCOUNT) for _ in range(2)]
    user = Key.new(nkeys.PREFIX_BYTE_USER)
    jwts = [operator.jwt(account.public, "account", limits=_ACCOUNT_LIMITS) for account in accounts]
    preload = "\n".join(
        f"  {account.public}: {jwt}" for account, jwt in zip(accounts, jwts, strict=True)
    )
    config = (
        f"operator: {operator.jwt(operator.public, 'operator')}\n"
        f"system_account: {accounts[1].public}\n"
        f"resolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n"
    )
    return config, user.seed.decode(), accounts[0].jwt(user.public, "user", **_LIMITS)
