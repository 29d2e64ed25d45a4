"""Receiving a multipart upload: streamed to local disk, counted while it comes, gone afterwards."""

import asyncio
import contextlib
import hashlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, parse_options_header

from armka.core.errors import UploadRefused
from armka.core.files.uploads import Upload
from armka.objects.store import Stored

# Boundaries, part headers and small fields around the file itself.
_FORM_OVERHEAD_BYTES = 64 * 1024
_MAX_FIELDS = 20
_MAX_FIELD_BYTES = 4096


class _Form:
    """What the parser has found so far."""

    def __init__(self, folder: Path, boundary: bytes) -> None:
        self.files: list[File] = []
        self.fields: dict[str, str] = {}
        config = {
            "UPLOAD_DIR": str(folder),
            "MAX_MEMORY_FILE_SIZE": 0,
            "MAX_FIELDS": _MAX_FIELDS,
            "MAX_FIELD_SIZE": _MAX_FIELD_BYTES,
        }
        self.parser = FormParser("multipart/form-data", self._field, self.files.append, boundary=boundary, config=config)

    def _field(self, field: Field) -> None:
        name = (field.field_name or b"").decode("utf-8", "replace")
        self.fields[name] = (field.value or b"").decode("utf-8", "replace")


@contextlib.asynccontextmanager
async def received(request: Request, limit: int) -> AsyncIterator[Upload]:
    """The uploaded file of a request with one file part and, optionally, `client_ref`.

    Raises UploadRefused for a file over `limit` bytes, HTTPException for what is no such form.
    """
    with tempfile.TemporaryDirectory(prefix="armka-upload-") as folder:
        form = _Form(Path(folder), _boundary(request))
        try:
            await _feed(form, request, limit)
            yield await _upload(form, limit)
        except FormParserError as error:
            raise HTTPException(400, f"The form cannot be read: {error}") from None
        finally:
            for file in form.files:
                file.close()


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise HTTPException(415, "Send multipart/form-data with the document in the part `file`")
    return boundary


async def _feed(form: _Form, request: Request, limit: int) -> None:
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit + _FORM_OVERHEAD_BYTES:
        raise _too_large(limit)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit + _FORM_OVERHEAD_BYTES:
            raise _too_large(limit)
        form.parser.write(chunk)
    form.parser.finalize()


async def _upload(form: _Form, limit: int) -> Upload:
    if len(form.files) != 1:
        raise HTTPException(400, f"Send one document a request, in the part `file`; {len(form.files)} came")
    file = form.files[0]
    file.flush_to_disk()
    file.file_object.flush()
    path = Path((file.actual_file_name or b"").decode())
    stored = await asyncio.to_thread(_measure, path)
    if stored.size_bytes > limit:
        raise _too_large(limit)
    name = (file.file_name or b"").decode("utf-8", "replace")
    return Upload(path, name, stored, form.fields.get("client_ref") or None)


def _measure(path: Path) -> Stored:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return Stored(path.stat().st_size, digest.hexdigest())


def _too_large(limit: int) -> UploadRefused:
    return UploadRefused("FILE_TOO_LARGE", f"The file is larger than the {limit // 1024} KiB that are taken.")
