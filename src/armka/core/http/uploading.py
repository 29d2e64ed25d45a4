"""Receiving a multipart upload: streamed to local disk, counted while it comes, gone afterwards."""

import contextlib
import hashlib
import tempfile
import unicodedata
from collections.abc import AsyncIterator
from typing import BinaryIO

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from armka.core.errors import UploadRefused
from armka.core.files.uploads import Upload
from armka.objects.store import Stored

# Boundaries, part headers and small fields around the file itself.
_FORM_OVERHEAD_BYTES = 64 * 1024
_MAX_PARTS = 20
_MAX_FIELD_BYTES = 4096
_MAX_CLIENT_REF = 255
# The documents of one request together: so many times the limit of one.
_REQUEST_FACTOR = 4
_FORM = "multipart/form-data"


@contextlib.asynccontextmanager
async def received(request: Request, limit: int) -> AsyncIterator[list[Upload | UploadRefused]]:
    """The documents of a request with parts `file` and, optionally, `client_ref`.

    Raises UploadRefused where the first document is over `limit` bytes or all together are over
    four times that; of the others, one that is too large is a refusal among them. Raises
    HTTPException for what is no such form.
    """
    boundary = _boundary(request)
    with contextlib.ExitStack() as spools:
        try:
            form = _Form(boundary, spools, limit)
            await _feed(form, request, limit)
        except FormParserError as error:
            raise HTTPException(400, f"The form cannot be read: {error}") from None
        yield form.uploads()


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary")
    if kind.decode() != _FORM or not boundary:
        raise HTTPException(415, f"Send {_FORM} with the document in the part `file`")
    return boundary


async def _feed(form: "_Form", request: Request, limit: int) -> None:
    most = _REQUEST_FACTOR * limit + _FORM_OVERHEAD_BYTES
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise _too_large(limit)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise _too_large(limit)
        form.write(chunk)


class _Document:
    """One document of a form, in a spool on local disk; what is beyond the limit is dropped."""

    def __init__(self, name: str, spool: BinaryIO, limit: int) -> None:
        self._name = name
        self._spool = spool
        self._limit = limit
        self._size = 0
        self._digest = hashlib.sha256()

    @property
    def is_too_large(self) -> bool:
        return self._size > self._limit

    def write(self, piece: memoryview) -> None:
        self._size += len(piece)
        if self.is_too_large:
            self._spool.seek(0)
            self._spool.truncate()
            return
        self._digest.update(piece)
        self._spool.write(piece)

    def upload(self, client_ref: str | None) -> Upload | UploadRefused:
        if self.is_too_large:
            return _too_large(self._limit)
        self._spool.flush()
        stored = Stored(self._size, self._digest.hexdigest())
        return Upload(self._spool, self._name, stored, client_ref)


class _Form:
    """What a form has brought so far: documents in spools, the small fields in memory."""

    def __init__(self, boundary: bytes, spools: contextlib.ExitStack, limit: int) -> None:
        self._spools = spools
        self._limit = limit
        self._documents: list[_Document] = []
        self._fields: dict[str, bytes] = {}
        self._parts = 0
        self._is_complete = False
        self._header_name = self._header_value = b""
        self._disposition = b""
        self._field: str | None = None
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._part_begins,
                "on_header_field": self._header_name_comes,
                "on_header_value": self._header_value_comes,
                "on_header_end": self._header_ends,
                "on_headers_finished": self._headers_end,
                "on_part_data": self._data_comes,
                "on_end": self._form_ends,
            },
        )

    def write(self, chunk: bytes) -> None:
        """Take the next piece of the request's body."""
        self._parser.write(chunk)

    def uploads(self) -> list[Upload | UploadRefused]:
        """What came, once all of it came."""
        if not self._is_complete:
            raise HTTPException(400, "The form breaks off before its closing boundary")
        if not self._documents:
            raise HTTPException(400, "Send the document in the part `file`, with its file name")
        client_ref = _client_ref(self._fields)
        return [document.upload(client_ref) for document in self._documents]

    def _part_begins(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise HTTPException(400, f"The form has more than {_MAX_PARTS} parts")
        self._disposition = b""

    def _header_name_comes(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _header_value_comes(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _header_ends(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _headers_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"name", b"").decode("utf-8", "replace")
        file_name = options.get(b"filename")
        if file_name is None:
            self._field = name
            self._fields[name] = b""
            return
        if name != "file":
            raise HTTPException(400, "Send every document in a part `file`")
        self._field = None
        # Without a name from the start: even a killed process leaves no document behind.
        spool = tempfile.TemporaryFile(prefix="armka-upload-")  # noqa: SIM115 - closed with all
        self._spools.enter_context(spool)
        shown = file_name.decode("utf-8", "replace")
        self._documents.append(_Document(shown, spool, self._limit))

    def _data_comes(self, data: bytes, start: int, end: int) -> None:
        if self._field is None:
            self._file_comes(memoryview(data)[start:end])
            return
        value = self._fields[self._field] + data[start:end]
        if len(value) > _MAX_FIELD_BYTES:
            raise HTTPException(400, f"A field is longer than {_MAX_FIELD_BYTES} bytes")
        self._fields[self._field] = value

    def _file_comes(self, piece: memoryview) -> None:
        document = self._documents[-1]
        document.write(piece)
        # Of a single document nobody has to send the rest to hear that it is too large.
        if document.is_too_large and len(self._documents) == 1:
            raise _too_large(self._limit)

    def _form_ends(self) -> None:
        self._is_complete = True


def _client_ref(fields: dict[str, bytes]) -> str | None:
    value = fields.get("client_ref", b"")
    try:
        text = value.decode().strip()
    except UnicodeDecodeError:
        raise HTTPException(400, "`client_ref` is not UTF-8") from None
    if len(text) > _MAX_CLIENT_REF or any(unicodedata.category(letter) == "Cc" for letter in text):
        raise HTTPException(
            400, f"`client_ref` has at most {_MAX_CLIENT_REF} characters, and no control characters"
        )
    return text or None


def _too_large(limit: int) -> UploadRefused:
    return UploadRefused("FILE_TOO_LARGE", f"The file is larger than {limit // 1024} KiB.")
