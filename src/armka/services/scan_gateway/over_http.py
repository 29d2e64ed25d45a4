"""ИС Сканирование over HTTP."""

import asyncio
import contextlib
import re
import ssl
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, Self

import httpx
import msgspec

from armka.contract.vocabulary import FileType
from armka.services.scan_gateway.scanning import (
    Accepted,
    Busy,
    Gone,
    NotAsAgreed,
    NotLetIn,
    Progress,
    State,
    Submission,
    TurnedDown,
    Unavailable,
)
from armka.services.scan_gateway.settings import ScanningClientSettings

_CONTENT_TYPES = {
    FileType.PDF: "application/pdf",
    FileType.PNG: "image/png",
    FileType.JPG: "image/jpeg",
}
_DOCUMENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,127}\Z")
_CHUNK_BYTES = 256 * 1024
_NAME_CHARACTERS = 200
# Every answer but the result is small, and is read by this process.
_SMALL_BYTES = 64 * 1024
_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 30.0
_CANCEL_SECONDS = 2.0
_LONGEST_RETRY_AFTER = 60.0
_USUAL_RETRY_AFTER = 5.0
# Statuses of a refusal that say nothing about the file, and may change.
_PASSING = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
_GONE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


class _Failure(msgspec.Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _Accepted(msgspec.Struct, frozen=True):
    document_id: str
    callback: bool = False


class _State(msgspec.Struct, frozen=True):
    document_id: str
    status: State
    error: _Failure | None = None


class _Problem(msgspec.Struct, frozen=True):
    code: str | None = None
    detail: str | None = None
    title: str | None = None


class OverHttp:
    """A client of ИС Сканирование; entered, it holds its connections."""

    def __init__(self, settings: ScanningClientSettings, max_answer_bytes: int) -> None:
        self._max_answer_bytes = max_answer_bytes
        verify = ssl.create_default_context(cafile=settings.ca_file)
        self._http = httpx.AsyncClient(
            base_url=settings.url.rstrip("/") + "/v1/",
            headers=_headers(settings),
            timeout=httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            verify=verify,
            trust_env=False,  # neither a proxy nor another's credentials
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def submit(self, submission: Submission) -> Accepted:
        """Hand over a file. Raises TurnedDown."""
        with submission.path.open("rb") as file:
            request = self._http.build_request(
                "POST",
                "documents",
                params=_parameters(submission),
                content=_chunks(file),
                headers=_submission_headers(submission),
            )
            response, body = await self._small(request)
        if response.is_success:
            accepted: _Accepted = _decoded(body, _Accepted)
            will_call = accepted.callback and submission.callback is not None
            return Accepted(_document_id(accepted.document_id, body), will_call)
        status = response.status_code
        if response.is_client_error and status not in _PASSING:
            problem = _problem(body)
            raise TurnedDown(status, problem.code, problem.detail or problem.title, body)
        raise _trouble(response)

    async def progress(self, document: str, seconds: float) -> Progress:
        """Wait for the document's end, `seconds` at most, and say how far it is. Raises Gone."""
        request = self._http.build_request(
            "GET",
            f"documents/{document}",
            params={"wait": f"{seconds:g}"},
            timeout=httpx.Timeout(_SILENCE_SECONDS + seconds, connect=_CONNECT_SECONDS),
        )
        response, body = await self._small(request)
        if not response.is_success:
            raise Gone if response.status_code in _GONE else _trouble(response)
        state = _decoded(body, _State)
        if state.document_id != document:
            raise NotAsAgreed(f"the state of {state.document_id!r}, not of {document!r}", body)
        error = state.error or _Failure()
        return Progress(state.status, body, error.code, error.message)

    async def fetch(self, document: str, answer: Path) -> None:
        """Write what was read into a file, as it comes. Raises Gone."""
        request = self._http.build_request("GET", f"documents/{document}/result")
        async with self._sent(request) as response:
            if not response.is_success:
                raise Gone if response.status_code in _GONE else _trouble(response)
            with answer.open("wb") as file:
                await self._copy(response, file)

    async def _copy(self, response: httpx.Response, file: BinaryIO) -> None:
        size = 0
        async for chunk in response.aiter_raw():
            room = self._max_answer_bytes - size
            await asyncio.to_thread(file.write, chunk[:room])
            size += len(chunk)
            if len(chunk) > room:
                raise NotAsAgreed(f"the answer is larger than {self._max_answer_bytes} bytes")

    async def cancel(self, document: str) -> None:
        """Say that nobody waits for the document any more."""
        request = self._http.build_request(
            "DELETE", f"documents/{document}", timeout=_CANCEL_SECONDS
        )
        response, _ = await self._small(request)
        if not response.is_success and response.status_code not in _GONE:
            raise _trouble(response)

    async def _small(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        """Send a request whose answer is small."""
        body = b""
        async with self._sent(request) as response:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _SMALL_BYTES:
                    raise NotAsAgreed(f"over {_SMALL_BYTES} bytes where few were expected", body)
        return response, body

    @contextlib.asynccontextmanager
    async def _sent(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        try:
            response = await self._http.send(request, stream=True)
            try:
                yield response
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise Unavailable(f"{type(error).__name__}: {error}") from error


def _headers(settings: ScanningClientSettings) -> dict[str, str]:
    """Answers come as they are: nothing is unpacked here, and the bytes that came are kept."""
    token = settings.token.get_secret_value()
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    return headers | ({"Authorization": f"Bearer {token}"} if token else {})


def _parameters(submission: Submission) -> dict[str, str]:
    parameters = {
        "name": submission.name[:_NAME_CHARACTERS],
        "deadline": submission.deadline.isoformat(),
    }
    callback = submission.callback
    return parameters | ({"callback": callback.url} if callback else {})


def _submission_headers(submission: Submission) -> dict[str, str]:
    """The callback's secret is a header: addresses get into logs."""
    headers = {
        "Content-Type": _CONTENT_TYPES[submission.file_type],
        "Content-Length": str(submission.size_bytes),
        "Idempotency-Key": submission.key,
    }
    callback = submission.callback
    return headers | ({"Callback-Token": callback.token} if callback else {})


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, _CHUNK_BYTES):
        yield chunk


def _decoded(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise NotAsAgreed(str(error), body) from None


def _problem(body: bytes) -> _Problem:
    """What a refusal says; whoever refuses without saying why is believed all the same."""
    try:
        problem: _Problem = _decoded(body, _Problem)
    except NotAsAgreed:
        return _Problem()
    return problem


def _document_id(text: str, body: bytes) -> str:
    """Part of every later address, so it must be one segment of it."""
    if not _DOCUMENT_ID.match(text):
        raise NotAsAgreed(f"no document_id: {text[:128]!r}", body)
    return text


def _trouble(response: httpx.Response) -> Exception:
    """What a status is that says nothing about the document."""
    status, after = response.status_code, response.headers.get("Retry-After")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return NotLetIn(f"HTTP {status}: SCANNING_TOKEN is not accepted")
    full = status == HTTPStatus.SERVICE_UNAVAILABLE and after is not None
    if full or status == HTTPStatus.TOO_MANY_REQUESTS:
        after = after or ""
        seconds = float(after) if after.isascii() and after.isdigit() else _USUAL_RETRY_AFTER
        return Busy(min(max(seconds, 1.0), _LONGEST_RETRY_AFTER))
    return Unavailable(f"HTTP {status}")
