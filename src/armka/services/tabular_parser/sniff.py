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
    (b"TABLE\r\n0,1", "DIF"),
    (b"TABLE\n0,1", "DIF"),
    (b"MIME-Version:", "MHTML"),
    (b"\x00\x00\x02\x00", "LOTUS"),
    (b"\x00\x00\x1a\x00", "LOTUS"),
]
# A dBase table: its version, the date of its last change, and the end of its head.
_DBF = re.compile(
    rb"[\x02\x03\x30\x31\x43\x83\x8b\xcb\xf5]([\x00-\xff])[\x01-\x0c][\x01-\x1f]", re.DOTALL
)
_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_SPREADSHEETML = "urn:schemas-microsoft-com:office:spreadsheet"
_MXL_XML = "http://v8.1c.ru/8.2/data/spreadsheet"
_STREAMS = {"WordDocument": "DOC", "PowerPoint Document": "PPT"}
_ZIPPED = {
    "word/document.xml": "DOCX",
    "ppt/presentation.xml": "PPTX",
    "index/document.iwa": "NUMBERS",
}


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
    NUMBERS = "таблица Apple Numbers"
    DOCX = "документ Word (DOCX)"
    DOC = "документ Word (DOC)"
    PPTX = "презентация PowerPoint (PPTX)"
    PPT = "презентация PowerPoint (PPT)"
    PDF = "файл PDF"
    PNG = "картинка PNG"
    JPG = "картинка JPG"
    MXL = "табличный документ 1С (MXL)"
    SYLK = "файл SYLK"
    DIF = "файл DIF"
    DBF = "таблица dBase (DBF)"
    LOTUS = "таблица Lotus 1-2-3"
    RTF = "документ RTF"
    ARCHIVE = "архив"
    HTML = "веб-страница (HTML)"
    MHTML = "веб-архив (MHTML)"
    SPREADSHEETML = "таблица XML 2003"
    XML = "файл XML"
    TEXT = "текстовый файл (возможно, CSV)"
    UNKNOWN = "файл неизвестного вида"


def sniff(data: bytes) -> Content:
    """Tell what the bytes are; of a zip only that it is one: its members say the rest."""
    if not data.strip(b"\0 \t\r\n") or data in _TEXT_MARKS:
        return Content.EMPTY
    if data.startswith(_OLE2):
        return _ole2(data)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Content.ZIP
    if _BIFF.match(data) and len(data) > 4 and data[2] in (4, 6, 8, 16) and data[3] == 0:
        return Content.XLS
    return _marked(data) or _text(data)


def _marked(data: bytes) -> Content | None:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Content[name]
    is_dbf = _DBF.match(data) and 32 < int.from_bytes(data[8:10], "little") < len(data)
    return Content.DBF if is_dbf else None


def of_members(names: list[str]) -> Content:
    """What a zip with these members is."""
    lower = {name.lower().replace("\\", "/").lstrip("/") for name in names}
    if "xl/workbook.bin" in lower:
        return Content.XLSB
    if any(re.fullmatch(r"xl/workbook\d*\.xml", name) for name in lower):
        return Content.XLSX
    for name, content in _ZIPPED.items():
        if name in lower:
            return Content[content]
    return Content.ODS if {"content.xml", "mimetype"} <= lower else Content.ZIP


def _ole2(data: bytes) -> Content:
    if _has_stream(data, "EncryptedPackage"):
        return Content.ENCRYPTED
    if any(_has_stream(data, name) for name in ("Workbook", "Book", "BOOK")):
        return Content.XLS
    for name, content in _STREAMS.items():
        if _has_stream(data, name):
            return Content[content]
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
    if _SPREADSHEETML in start:
        return Content.SPREADSHEETML
    if _MXL_XML in start:
        return Content.MXL
    if "<html" in start or "<table" in start or start.startswith(("<!doctype html", "<meta")):
        return Content.HTML
    if start.startswith("<?xml"):
        return Content.XML
    printable = sum(byte >= 32 or byte in b"\t\r\n" for byte in head)
    is_text = printable == len(head) or head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return Content.TEXT if is_text else Content.UNKNOWN
