"""What an uploaded file is, by its content and name together (F1).

Nothing hostile is parsed: magic bytes, the member names of a zip, and the stream names of an OLE file are all that is
looked at. Whether the document can be read is the service's business.
"""

import mmap
import zipfile
from pathlib import Path

from armka.contract.vocabulary import FileType
from armka.core.errors import UploadRefused

_HEAD_BYTES = 4096
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"
_ZIP_EMPTY = b"PK\x05\x06"
# A PDF may be preceded by other bytes; readers look for the mark in the first kilobyte.
_PDF_WITHIN_BYTES = 1024
_OLE_ENTRY_BYTES = 128
_OLE_STREAM = 2

_SUPPORTED = "XLS, XLSX, XLSB, PDF, PNG, JPG"


def sniff(path: Path, name: str) -> FileType:
    """Tell the type of a file; raises UploadRefused with a message for a person."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if not head:
        raise UploadRefused("EMPTY_FILE", "The file is empty. Save the document again and upload it.")
    if b"%PDF-" in head[:_PDF_WITHIN_BYTES]:
        return FileType.PDF
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return FileType.PNG
    if head.startswith(b"\xff\xd8\xff"):
        return FileType.JPG
    if head.startswith((_ZIP, _ZIP_EMPTY)):
        return _of_zip(path)
    if head.startswith(_OLE):
        return _of_ole(path)
    return _of_bare_spreadsheet(head, name)


def _of_zip(path: Path) -> FileType:
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.lower().replace("\\", "/") for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise UploadRefused(
            "DAMAGED_FILE", "The file is damaged: it is cut off or was not saved to the end. Save it again."
        ) from None
    if "xl/workbook.bin" in names:
        return FileType.XLSB
    if "xl/workbook.xml" in names:
        return FileType.XLSX
    raise _unsupported("It is an archive or an office document, but no Excel workbook.")


def _of_ole(path: Path) -> FileType:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if _has_stream(content, "EncryptedPackage"):
            raise UploadRefused(
                "ENCRYPTED_FILE", "The workbook is protected with a password. Save it without a password and upload it."
            )
        if _has_stream(content, "Workbook") or _has_stream(content, "Book"):
            return FileType.XLS
    raise _unsupported("It is an office document, but no Excel workbook.")


def _has_stream(content: mmap.mmap, name: str) -> bool:
    """Whether a directory entry of the OLE file has this name; entries are 128 bytes, aligned."""
    wanted = name.encode("utf-16-le") + b"\0\0"
    at = content.find(wanted)
    while at >= 0:
        entry = content[at : at + _OLE_ENTRY_BYTES]
        if (
            at % _OLE_ENTRY_BYTES == 0
            and len(entry) == _OLE_ENTRY_BYTES
            and int.from_bytes(entry[64:66], "little") == len(wanted)
            and entry[66] == _OLE_STREAM
        ):
            return True
        at = content.find(wanted, at + 1)
    return False


def _of_bare_spreadsheet(head: bytes, name: str) -> FileType:
    """Old BIFF, HTML, SpreadsheetML or CSV under `.xls`: the parser tells them apart."""
    is_biff = head[:1] == b"\x09" and head[1:2] in b"\x00\x02\x04\x08" and head[2:4] in (b"\x04\x00", b"\x06\x00", b"\x08\x00")
    is_text = b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if name.lower().endswith(".xls") and (is_biff or is_text):
        return FileType.XLS
    if head.startswith(b"MOXCEL"):
        raise _unsupported("It is a 1C spreadsheet document (MXL): save it from 1C as XLSX.")
    raise _unsupported("Its content is none of these.")


def _unsupported(fact: str) -> UploadRefused:
    return UploadRefused("UNSUPPORTED_FILE", f"Only {_SUPPORTED} can be recognised. {fact}")
