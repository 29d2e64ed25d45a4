"""Who this process is to NATS: an nkey seed and a JWT, read again before they end (N3).

A secret is a `SecretStr` from the moment it is read; nothing here shows one.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec
import nkeys
import structlog
from pydantic import SecretStr

from armka.messaging.settings import NatsSettings

log = structlog.get_logger(__name__)

SEED_FIELD = "NATS__NATS_SEED"
JWT_FIELD = "NATS__NATS_JWT"
_SOON_SECONDS = 86_400.0
# The end of the year 9999: a later end is none.
_LATEST = 253_402_300_800


class SecretFields(Protocol):
    """A store of secrets that is asked again: OpenBao."""

    @property
    def refresh_seconds(self) -> float:
        """How often to ask."""
        ...

    async def read(self) -> Mapping[str, SecretStr]:
        """Every field by name; raises OSError whose text tells no secret."""
        ...


class CredentialsIncomplete(OSError):
    """The store of secrets lacks a field; `missing` names it."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"the field {missing} is missing: NATS needs the nkey seed and the JWT")
        self.missing = missing


class _Claims(msgspec.Struct):
    exp: int = 0
    iat: int = 0


@dataclass(frozen=True)
class Credentials:
    """An nkey seed and the JWT that was issued for it."""

    seed: SecretStr
    jwt: SecretStr

    @property
    def expires(self) -> datetime | None:
        """When the JWT ends; None where it never does, or cannot be read."""
        end = self._claims().exp
        return datetime.fromtimestamp(end, UTC) if end else None

    @property
    def ends_soon(self) -> bool:
        """Whether only a tenth of its time is left, at most a day."""
        claims = self._claims()
        left = claims.exp - time.time()
        return claims.exp > 0 and left < min(0.1 * (claims.exp - claims.iat), _SOON_SECONDS)

    def _claims(self) -> _Claims:
        try:
            payload = self.jwt.get_secret_value().split(".")[1].encode()
            claims = base64.urlsafe_b64decode(payload + b"=" * (-len(payload) % 4))
            read = msgspec.json.decode(claims, type=_Claims)
        except (IndexError, binascii.Error, msgspec.DecodeError, ValueError):
            return _Claims()
        return read if 0 < read.exp < _LATEST else _Claims()

    @property
    def has_expired(self) -> bool:
        """By this machine's clock."""
        return self.expires is not None and self.expires <= datetime.now(UTC)

    def options(self, may_sign: Callable[[], None]) -> dict[str, Any]:
        """What the client library wants; `may_sign` raises where they must not be shown now."""

        def sign(nonce: str) -> bytes:
            may_sign()
            pair = nkeys.from_seed(bytearray(self.seed.get_secret_value().encode()))
            try:
                return base64.b64encode(bytes(pair.sign(nonce.encode())))
            finally:
                pair.wipe()

        return {
            "signature_cb": sign,
            "user_jwt_cb": lambda: bytearray(self.jwt.get_secret_value().encode()),
        }


class Wallet:
    """The credentials of the moment: those of the environment, or else the store's newest.

    The environment's never change. Of the store's the last known ones are used while it is away.
    """

    def __init__(self, settings: NatsSettings, fields: SecretFields | None) -> None:
        given = settings.seed is not None and settings.jwt is not None
        self._fields = None if given else fields
        self._known: Credentials | None = None
        self._is_doubted = False
        self._is_away = False
        if settings.seed is not None and settings.jwt is not None:
            self._known = Credentials(settings.seed, settings.jwt)

    @property
    def known(self) -> Credentials | None:
        """The last ones that were read."""
        return self._known

    def doubt(self) -> None:
        """The server did not take them, or was not there: read them anew before the next try."""
        self._is_doubted = True

    async def take(self) -> Credentials | None:
        """What to connect with now; None: without credentials. Raises OSError where none is known
        yet.
        """
        known = self._known
        if self._fields is not None and (known is None or known.has_expired or self._is_doubted):
            try:
                await self._read(self._fields)
            except OSError:
                if self._known is None:
                    raise
        self._is_doubted = False
        return self._known

    async def watch(self) -> None:
        """Ask the store again and again, until cancelled."""
        while self._fields is not None:
            await asyncio.sleep(self._fields.refresh_seconds)
            try:
                await self._read(self._fields)
            except OSError as error:
                log.debug("credentials not read again", error=str(error))

    async def _read(self, fields: SecretFields) -> None:
        try:
            read = await fields.read()
            for name in (SEED_FIELD, JWT_FIELD):
                if not read.get(name, SecretStr("")).get_secret_value():
                    raise CredentialsIncomplete(name)
        except OSError as error:
            if not self._is_away and self._known is not None:
                log.warning("the last known nats credentials stay in use", error=str(error))
            self._is_away = True
            raise
        if self._is_away:
            log.info("nats credentials can be read again")
        self._is_away = False
        self._known = Credentials(read[SEED_FIELD], read[JWT_FIELD])
