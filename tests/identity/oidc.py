"""A small OpenID Connect provider for tests: real keys, real signatures, every fault on demand."""

import asyncio
import base64
import contextlib
import hashlib
import json
import socket
import time
from collections.abc import AsyncIterator
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import uvicorn
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CLIENT = "arm-ka"


class Provider:
    """One issuer with one key; its faults are laid over the claims and headers of its tokens."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.calls_itself = issuer
        self.key = _key("first")
        self.person: dict[str, Any] = {
            "sub": "42",
            "preferred_username": "sidorova",
            "name": "Сидорова М. В.",
            "roles": ["analyst", "somebody-else's"],
        }
        self.claim_faults: dict[str, Any] = {}
        self.header_faults: dict[str, Any] = {}
        self.spoil = "no"
        self.keys_asked = 0
        self._codes: dict[str, dict[str, str]] = {}

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._keys),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def authorize(self, address: str) -> str:
        """What a person's browser is sent back to when they have signed in at `address`."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.issuer}/authorize?")
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        code = str(uuid4())
        self._codes[code] = asked
        back = urlencode({"code": code, "state": asked["state"]})
        return f"{asked['redirect_uri']}?{back}"

    def token(self, kind: str, **claims: Any) -> str:
        """A signed token with these claims, and its faults."""
        now = int(time.time())
        header = {"alg": "RS256", "kid": "first", "typ": kind} | self.header_faults
        body = {"iss": self.issuer, "iat": now, "exp": now + 300} | self.person | claims
        body = {k: v for k, v in (body | self.claim_faults).items() if v is not None}
        header = {k: v for k, v in header.items() if v is not None}
        return self._sign(header, body)

    def _sign(self, header: dict[str, Any], body: dict[str, Any]) -> str:
        match self.spoil:
            case "none":
                return _unsigned(header | {"alg": "none"}, body)
            case "shared":
                public = json.dumps(self.key.as_dict(private=False)).encode()
                head = header | {"alg": "HS256"}
                return jwt.encode(head, body, OctKey.import_key(public), algorithms=["HS256"])
            case "stranger":
                return jwt.encode(header, body, _key("stranger"))
            case "crit":
                token = jwt.encode(header, body, self.key).split(".")
                return ".".join([_part(header | {"crit": ["exp"], "exp": 1}), *token[1:]])
            case _:
                return jwt.encode(header, body, self.key)

    async def _discovery(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.calls_itself,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
            }
        )

    async def _keys(self, _request: Request) -> Response:
        self.keys_asked += 1
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _token(self, request: Request) -> Response:
        body = parse_qs((await request.body()).decode())
        form = {name: values[0] for name, values in body.items()}
        asked = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or challenge != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        token = self.token("JWT", aud=CLIENT, nonce=asked["nonce"])
        return JSONResponse({"id_token": token, "access_token": "x", "token_type": "Bearer"})


@cache
def _key(name: str) -> RSAKey:
    """A key; they are costly to make, so every provider has the same."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})


def _part(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def _unsigned(header: dict[str, Any], body: dict[str, Any]) -> str:
    return f"{_part(header)}.{_part(body)}."


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Provider]:
    """A provider that listens on the loopback."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        provider = Provider(f"http://127.0.0.1:{listening.getsockname()[1]}")
        config = uvicorn.Config(provider.app(), log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield provider
        finally:
            server.should_exit = True
            await serving
