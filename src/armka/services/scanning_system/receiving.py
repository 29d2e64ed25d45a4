"""A document comes in: its bytes to the disk, its kind by its first bytes."""

import asyncio
import hashlib
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.requests import Request

from armka.services.scanning_system.problems import Refusal
from armka.services.scanning_system.reading.calls import Kind

_PNG = b"\x89PNG\r\n\x1a\n"
_JPG = b"\xff\xd8\xff"
_PDF = b"%PDF-"
# A PDF may be preceded by other bytes; readers look for the mark in the first kilobyte.
_HEAD_BYTES = 1024
_SECONDS = 300.0
_TYPES: dict[str, Kind] = {"application/pdf": "PDF", "image/png": "PNG", "image/jpeg": "JPG"}


@dataclass(frozen=True)
class Received:
    """A document on the disk."""

    kind: Kind
    sha256: str
    size: int
    warnings: list[str]


async def receive(request: Request, path: Path, limit: int) -> Received:
    """Write the request's body to a file; raises Refusal."""
    _check_length(request, limit)
    digest, size, head = hashlib.sha256(), 0, b""
    try:
        async with asyncio.timeout(_SECONDS):
            with path.open("wb") as file:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > limit:
                        raise _too_large(limit)
                    if len(head) < _HEAD_BYTES:
                        head += chunk[:_HEAD_BYTES]
                    digest.update(chunk)
                    await asyncio.to_thread(file.write, chunk)
    except TimeoutError:
        detail = f"The document did not arrive within {_SECONDS:g} seconds."
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "too-slow", detail) from None
    kind = _kind(head[:_HEAD_BYTES])
    return Received(kind, digest.hexdigest(), size, _warnings(request, kind))


def _check_length(request: Request, limit: int) -> None:
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> Refusal:
    detail = f"The document is larger than {limit // 1024} KiB."
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "document-too-large", detail)


def _kind(head: bytes) -> Kind:
    if head.startswith(_PNG):
        return "PNG"
    if head.startswith(_JPG):
        return "JPG"
    if _PDF in head:
        return "PDF"
    detail = "Send a PDF, a PNG or a JPG: the document is none of these by its first bytes."
    raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", detail)


def _warnings(request: Request, kind: Kind) -> list[str]:
    named = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if _TYPES.get(named, kind) == kind:
        return []
    return [f"Файл прислан как {named}, а по содержимому это {kind}"]
