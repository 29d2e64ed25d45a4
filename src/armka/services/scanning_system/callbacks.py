"""Clients that asked for it are called when a document is at its end: tried again, then given up.

Nothing rests on a call: whoever is not reached asks for the document's state.
"""

import asyncio
import random
import ssl
from http import HTTPStatus
from typing import Self

import httpx
import msgspec
import structlog

from armka.services.scanning_system.records import Callback, Record
from armka.services.scanning_system.settings import ScanningSettings

log = structlog.get_logger(__name__)

_PAUSES_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_CALL_SECONDS = 10.0
_PASSING = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
)


class CallbackInvalid(Exception):
    """No address can be called so."""


class Caller:
    """Calls clients; entered, it holds its connections."""

    def __init__(self, settings: ScanningSettings) -> None:
        self._hosts = settings.callback_host_names
        self._http = httpx.AsyncClient(
            timeout=_CALL_SECONDS,
            verify=ssl.create_default_context(),
            trust_env=False,
            follow_redirects=False,  # it would lead past the hosts that may be called
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    def agreed(self, url: str | None, token: str | None) -> Callback | None:
        """What a client asked for, where its host may be called. Raises CallbackInvalid."""
        if url is None:
            return None
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise CallbackInvalid(f"callback: {error}") from None
        if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo:
            raise CallbackInvalid("callback: give an http or https address without credentials")
        if not token:
            raise CallbackInvalid("callback: give a Callback-Token beside it")
        if parsed.host not in self._hosts:
            log.warning("a host that is not called: SCANNING_CALLBACK_HOSTS", host=parsed.host)
            return None
        return Callback(url, token)

    async def tell(self, record: Record, callback: Callback) -> None:
        """Tell that a document is at its end, until it is heard or there is no hope of it."""
        body = msgspec.json.encode(record.view())
        for pause in _PAUSES_SECONDS:
            answer = await self._called(callback, body)
            if isinstance(answer, int) and not _is_passing(answer):
                log.info("a client is told", document=record.document_id, status=answer)
                return
            log.info("a client is not told yet", document=record.document_id, why=answer)
            await asyncio.sleep(pause * random.uniform(0.75, 1.25))
        log.warning("a client is not told", document=record.document_id)

    async def _called(self, callback: Callback, body: bytes) -> int | str:
        """The status that was answered, or why there is none."""
        headers = {"Authorization": f"Bearer {callback.token}", "Content-Type": "application/json"}
        try:
            async with self._http.stream("POST", callback.url, content=body, headers=headers) as it:
                return it.status_code
        except httpx.HTTPError as error:
            return f"{type(error).__name__}: {error}"


def _is_passing(status: int) -> bool:
    """Whether a refusal may change; every other one is the client's last word."""
    return status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR
