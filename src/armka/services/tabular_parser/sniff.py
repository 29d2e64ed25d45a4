"""What a file is by its bytes. Names and extensions are not looked at."""

import re
from enum import Enum

_OLE2 = bytes.fromhex("D0CF11E0A1B11AE1")
_BIFF = re.compile(rb"\x09[\x00\x02\x04\x08]")
_ENTRY_SIZE = 128
_MARKS: list[tuple[bytes, str]] = [
    (b"%PDF", "PDF"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPG"),
    (b"MOXCEL", "MXL"),
    (b"ID;P", "SYLK"),
    (b"{\\rtf", "RTF"),
    (b"Rar!", "ARCHIVE"),
    (b"7z\xbc\xaf", "ARCHIVE"),
    (b"\x1f\x8b", "ARCHIVE"),
]


class Content(Enum):
    """What the bytes are; the value is what a person calls it."""

    EMPTY = "пустой файл"
    XLS = "книга Excel 97-2003 (XLS)"
    XLSX = "книга Excel (XLSX)"
    XLSB = "двоичная книга Excel (XLSB)"
    ENCRYPTED = "книга, защищенная паролем"
    OLE2 = "файл Microsoft Office, но не книга Excel"
    ZIP = "архив ZIP, но не книга Excel"
    ODS = "таблица OpenDocument (ODS)"
    DOCX = "документ Word (DOCX)"
    PDF = "файл PDF"
    PNG = "картинка PNG"
    JPG = "картинка JPG"
    MXL = "табличный документ 1С (MXL)"
    SYLK = "файл SYLK"
    RTF = "документ RTF"
    ARCHIVE = "архив"
    HTML = "веб-страница (HTML)"
    SPREADSHEETML = "таблица XML 2003"
    XML = "файл XML"
    TEXT = "текстовый файл (возможно, CSV)"
    UNKNOWN = "файл неизвестного вида"


def sniff(data: bytes) -> Content:
    """Tell what the bytes are; of a zip only that it is one: its members say the rest."""
    if not data.strip(b"\0 \t\r\n"):
        return Content.EMPTY
    if data.startswith(_OLE2):
        return _ole2(data)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Content.ZIP
    if _BIFF.match(data) and len(data) > 4 and data[2] in (4, 6, 8, 16) and data[3] == 0:
        return Content.XLS
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Content[name]
    return _text(data)


def of_members(names: list[str]) -> Content:
    """What a zip with these members is."""
    lower = {name.lower().replace("\\", "/").lstrip("/") for name in names}
    if "xl/workbook.bin" in lower:
        return Content.XLSB
    if any(re.fullmatch(r"xl/workbook\d*\.xml", name) for name in lower):
        return Content.XLSX
    if "word/document.xml" in lower:
        return Content.DOCX
    return Content.ODS if {"content.xml", "mimetype"} <= lower else Content.ZIP


def _ole2(data: bytes) -> Content:
    if _has_stream(data, "EncryptedPackage"):
        return Content.ENCRYPTED
    if any(_has_stream(data, name) for name in ("Workbook", "Book", "BOOK")):
        return Content.XLS
    return Content.OLE2 if _has_stream(data, "Root Entry") else Content.UNKNOWN


def _has_stream(data: bytes, name: str) -> bool:
    """Whether the compound file's directory has an entry of this name; entries lie at multiples of
    their size.
    """
    mark = f"{name}\0".encode("utf-16-le")
    position = data.find(mark)
    while position != -1:
        length = int.from_bytes(data[position + 64 : position + 66], "little")
        if position % _ENTRY_SIZE == 0 and length == len(mark):
            return True
        position = data.find(mark, position + 1)
    return False


def _text(data: bytes) -> Content:
    head = data[:4096]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head.decode("utf-16", "replace")
    elif b"\0" in head:
        return Content.UNKNOWN
    else:
        text = head.decode("utf-8", "replace").lstrip("\ufeff")
    start = text.lstrip().lower()
    if "<html" in start or start.startswith(("<!doctype html", "<table", "<meta")):
        return Content.HTML
    if start.startswith("<?xml") or "urn:schemas-microsoft-com:office:spreadsheet" in start:
        is_sheet = "urn:schemas-microsoft-com:office:spreadsheet" in start
        return Content.SPREADSHEETML if is_sheet else Content.XML
    printable = sum(byte >= 32 or byte in b"\t\r\n" for byte in head)
    return Content.TEXT if printable == len(head) else Content.UNKNOWN
