"""What an uploaded file is, by its content and name together (F1).

Nothing hostile is parsed: magic bytes, the member names of a zip, and the stream names of an OLE
file are all that is looked at. Whether the document can be read is the service's business.
"""

import mmap
import struct
import zipfile
from typing import BinaryIO

from armka.contract.vocabulary import FileType
from armka.core.errors import UploadRefused

_HEAD_BYTES = 4096
_PNG = b"\x89PNG\r\n\x1a\n"
_JPG = b"\xff\xd8\xff"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"
_ZIP_EMPTY = b"PK\x05\x06"
_PDF = b"%PDF-"
# A PDF may be preceded by other bytes; readers look for the mark in the first kilobyte.
_PDF_WITHIN_BYTES = 1024
_BIFF = tuple(
    bytes((9, version, length, 0)) for version in (0, 2, 4, 8) for length in (4, 6, 8, 16)
)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# A workbook's directory holds some hundred names; millions of them would only cost memory.
_ZIP_DIRECTORY_BYTES = 1024 * 1024
_OLE_ENTRY_BYTES = 128
_OLE_STREAM = 2

_SUPPORTED = "XLS, XLSX, XLSB, PDF, PNG, JPG"


def sniff(content: BinaryIO, name: str) -> FileType:
    """Tell the type of an open file; raises UploadRefused with a message for a person."""
    content.seek(0)
    head = content.read(_HEAD_BYTES)
    if not head:
        raise UploadRefused(
            "EMPTY_FILE", "The file is empty. Save the document again and upload it."
        )
    if head.startswith(_PNG):
        return FileType.PNG
    if head.startswith(_JPG):
        return FileType.JPG
    if head.startswith((_ZIP, _ZIP_EMPTY)):
        return _of_zip(content)
    if head.startswith(_OLE):
        return _of_ole(content)
    if _PDF in head[:_PDF_WITHIN_BYTES]:
        return FileType.PDF
    return _of_bare_spreadsheet(head, name)


class _Sparing:
    """A file for `zipfile` that refuses to be read in large pieces: no directory is that long."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell

    def read(self, size: int = -1, /) -> bytes:
        if size > _ZIP_DIRECTORY_BYTES:
            raise ValueError(f"a zip directory of {size} bytes")
        return self._file.read(size)


def _of_zip(content: BinaryIO) -> FileType:
    try:
        with zipfile.ZipFile(_Sparing(content)) as archive:
            names = {name.lower().replace("\\", "/") for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, NotImplementedError, struct.error):
        raise UploadRefused(
            "DAMAGED_FILE",
            "The file is damaged: it is cut off or was not saved to the end. Save it again.",
        ) from None
    if "xl/workbook.bin" in names:
        return FileType.XLSB
    if "xl/workbook.xml" in names:
        return FileType.XLSX
    raise _unsupported("It is an archive or an office document, but no Excel workbook.")


def _of_ole(file: BinaryIO) -> FileType:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if _has_stream(content, "EncryptedPackage"):
            raise UploadRefused(
                "ENCRYPTED_FILE",
                "The workbook is protected with a password. Save it without one and upload it.",
            )
        if _has_stream(content, "Workbook") or _has_stream(content, "Book"):
            return FileType.XLS
    raise _unsupported("It is an office document, but no Excel workbook.")


def _has_stream(content: mmap.mmap, name: str) -> bool:
    """Whether a directory entry of the OLE file has this name; entries are 128 bytes, aligned."""
    wanted = name.encode("utf-16-le") + b"\0\0"
    at = content.find(wanted)
    while at >= 0:
        if at % _OLE_ENTRY_BYTES == 0 and _is_stream(content[at : at + _OLE_ENTRY_BYTES], wanted):
            return True
        at = content.find(wanted, at + 1)
    return False


def _is_stream(entry: bytes, name: bytes) -> bool:
    return (
        len(entry) == _OLE_ENTRY_BYTES
        and int.from_bytes(entry[64:66], "little") == len(name)
        and entry[66] == _OLE_STREAM
    )


def _of_bare_spreadsheet(head: bytes, name: str) -> FileType:
    """Old BIFF, HTML, SpreadsheetML or CSV under `.xls`: the parser tells them apart."""
    is_text = b"\0" not in head or head.startswith(_UTF16)
    if name.strip().lower().endswith(".xls") and (head.startswith(_BIFF) or is_text):
        return FileType.XLS
    if head.startswith(b"MOXCEL"):
        raise _unsupported("It is a 1C spreadsheet document (MXL): save it from 1C as XLSX.")
    raise _unsupported("Its content is none of these.")


def _unsupported(fact: str) -> UploadRefused:
    return UploadRefused("UNSUPPORTED_FILE", f"Only {_SUPPORTED} can be recognised. {fact}")
