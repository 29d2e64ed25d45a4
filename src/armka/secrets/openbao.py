"""OpenBao's KV version 2, over HTTP."""

import asyncio
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import msgspec
import structlog
from pydantic import SecretStr

from armka.secrets.settings import OpenBaoSettings

log = structlog.get_logger(__name__)

# Below BAO_SECRET_PATH: what developers may see, and what they may not.
_PARTS = ("secrets", "supersecrets")
_PREFIX = "OPENBAO__"
# A token is renewed when so much of its time has passed.
_RENEW_AT = 0.75
# After a refusal the next login waits: OpenBao locks out who tries too often, and keeps a token for
# every login.
_REFUSAL_SECONDS = 30.0


class SecretsUnavailable(OSError):
    """OpenBao did not answer, or cannot (sealed, starting): ask again later."""


class SecretsRefused(PermissionError):
    """OpenBao does not let us in, or not read this."""


class SecretMissing(FileNotFoundError):
    """There is no secret under the path."""


class _Auth(msgspec.Struct):
    client_token: str = ""
    lease_duration: int = 0
    renewable: bool = False


class _Answer(msgspec.Struct):
    auth: _Auth | None = None
    data: dict[str, Any] | None = None
    errors: list[str] | None = None


@dataclass(frozen=True)
class _Token:
    value: SecretStr
    renew_at: float = float("inf")
    ends_at: float = float("inf")


class OpenBao:
    """Reads the secrets of one path; `read` may be called at any time, in turn."""

    def __init__(self, settings: OpenBaoSettings) -> None:
        self._settings = settings
        self._token: _Token | None = None
        self._refusal: tuple[float, str] = (0.0, "")
        self._turn = asyncio.Lock()

    @property
    def refresh_seconds(self) -> float:
        """How often its secrets should be read again."""
        return self._settings.refresh_seconds

    async def read(self) -> Mapping[str, SecretStr]:
        """The fields of both secrets, named as their variables without `OPENBAO__`.

        Raises SecretsUnavailable, SecretsRefused, SecretMissing; none tells a secret.
        """
        async with self._turn:
            try:
                async with self._client() as http:
                    return await self._read(http)
            except (httpx.HTTPError, ssl.SSLError) as error:
                reason = str(error) or type(error).__name__
                raise SecretsUnavailable(
                    f"OpenBao at {self._settings.address} does not answer: {reason}"
                ) from None

    def _client(self) -> httpx.AsyncClient:
        settings = self._settings
        headers = {"X-Vault-Request": "true"}
        if settings.namespace is not None:
            headers["X-Vault-Namespace"] = settings.namespace
        return httpx.AsyncClient(
            base_url=str(settings.address),
            headers=headers,
            timeout=settings.timeout_seconds,
            verify=ssl.create_default_context(cafile=settings.ca_file),
            trust_env=False,
        )

    async def _read(self, http: httpx.AsyncClient) -> Mapping[str, SecretStr]:
        token = await self._valid_token(http)
        try:
            return await self._fields(http, token)
        except SecretsRefused:
            if self._settings.token is not None:
                raise
        # The token may have been revoked: a fresh one settles it.
        self._token = None
        token = await self._valid_token(http)
        try:
            return await self._fields(http, token)
        except SecretsRefused as error:
            self._put_off_login(error)
            raise

    async def _fields(self, http: httpx.AsyncClient, token: _Token) -> Mapping[str, SecretStr]:
        base = self._settings.secret_path.strip("/")
        paths = [f"{base}/{part}" for part in _PARTS]
        found = [await self._secret(http, token, path) for path in paths]
        if all(fields is None for fields in found):
            where = " nor ".join(f"{self._settings.mount_point}/{path}" for path in paths)
            raise SecretMissing(f"OpenBao has neither {where}")
        return {
            name.removeprefix(_PREFIX): SecretStr(value)
            for fields in found
            for name, value in _flat(fields or {})
        }

    async def _secret(
        self, http: httpx.AsyncClient, token: _Token, path: str
    ) -> dict[str, Any] | None:
        mount = self._settings.mount_point.strip("/")
        status, answer = await _ask(http, "GET", f"/v1/{mount}/data/{path}", token)
        if status == HTTPStatus.NOT_FOUND:
            return None  # also a deleted version
        _check(status, answer, f"to read {mount}/{path}")
        fields = (answer.data or {}).get("data")
        return fields if isinstance(fields, dict) else None

    async def _valid_token(self, http: httpx.AsyncClient) -> _Token:
        token, now = self._token, time.monotonic()
        if token is not None and now < token.renew_at:
            return token
        if token is None and self._settings.token is not None:
            token = _Token(self._settings.token)
        renewed = await self._renew(http, token) if token is not None else None
        if renewed is None and self._settings.token is not None:
            renewed = _Token(self._settings.token)
        self._token = renewed or await self._log_in(http)
        return self._token

    async def _renew(self, http: httpx.AsyncClient, token: _Token) -> _Token | None:
        """The token with a new term; None where it has reached its end, or cannot be renewed."""
        status, answer = await _ask(http, "POST", "/v1/auth/token/renew-self", token)
        if status >= HTTPStatus.BAD_REQUEST or answer.auth is None:
            return None
        return _termed(answer.auth)

    async def _log_in(self, http: httpx.AsyncClient) -> _Token:
        until, reason = self._refusal
        if time.monotonic() < until:
            raise SecretsRefused(reason)
        path, body = self._login()
        status, answer = await _ask(http, "POST", f"/v1/auth/{path}/login", None, body)
        try:
            _check(status, answer, f"to log in by auth/{path}")
        except SecretsRefused as error:
            self._put_off_login(error)
            raise
        if answer.auth is None or not answer.auth.client_token:
            raise SecretsUnavailable("OpenBao answered a login without a token")
        log.info("logged in to openbao", by=path, seconds=answer.auth.lease_duration)
        return _termed(answer.auth)

    def _put_off_login(self, refusal: SecretsRefused) -> None:
        self._refusal = (time.monotonic() + _REFUSAL_SECONDS, str(refusal))

    def _login(self) -> tuple[str, dict[str, str]]:
        settings = self._settings
        if settings.kubernetes_role is not None:
            jwt = _content(settings.kubernetes_token_file)
            return settings.kubernetes_mount, {"role": settings.kubernetes_role, "jwt": jwt}
        if settings.approle_secret_id is not None:
            secret_id = settings.approle_secret_id.get_secret_value()
        else:
            secret_id = _content(settings.approle_secret_id_file)
        role_id = settings.approle_role_id or ""
        return settings.approle_mount, {"role_id": role_id, "secret_id": secret_id}


def openbao(settings: OpenBaoSettings) -> OpenBao | None:
    """The client, where an OpenBao is named."""
    return None if settings.address is None else OpenBao(settings)


def _termed(auth: _Auth) -> _Token:
    now, seconds = time.monotonic(), auth.lease_duration
    if seconds <= 0:
        return _Token(SecretStr(auth.client_token))
    return _Token(SecretStr(auth.client_token), now + _RENEW_AT * seconds, now + seconds)


async def _ask(
    http: httpx.AsyncClient,
    method: str,
    path: str,
    token: _Token | None,
    body: dict[str, str] | None = None,
) -> tuple[int, _Answer]:
    headers = {"X-Vault-Token": token.value.get_secret_value()} if token is not None else {}
    response = await http.request(method, path, headers=headers, json=body)
    try:
        return response.status_code, msgspec.json.decode(response.content or b"{}", type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return response.status_code, _Answer()


def _check(status: int, answer: _Answer, what: str) -> None:
    """Raises SecretsRefused or SecretsUnavailable where the answer is none."""
    if status < HTTPStatus.MULTIPLE_CHOICES:
        return
    said = "; ".join(answer.errors or []) or HTTPStatus(status).phrase
    if status < HTTPStatus.BAD_REQUEST:
        raise SecretsUnavailable(f"OpenBao sends us elsewhere {what}: name the active node")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
        raise SecretsUnavailable(f"OpenBao cannot answer now, {what}: {said}")
    raise SecretsRefused(f"OpenBao refuses {what}: {said} ({status})")


def _flat(fields: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Nested fields with their names joined by `__`, in capitals; what is no text is left out."""
    for name, value in fields.items():
        full = f"{above}{name}".upper()
        if isinstance(value, Mapping):
            yield from _flat(value, f"{full}__")
        elif isinstance(value, str):
            yield full, value.strip()


def _content(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return file.read_text().strip()
    except OSError as error:
        raise SecretsUnavailable(f"cannot read {file}: {error.strerror}") from None
