"""Documents of every kind, as small as they can be."""

import io
import struct
import zipfile
from pathlib import Path

import openpyxl
import xlwt

from tests.books import compound

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"
JPG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"
HTML = "<html><body><table><tr><td>Счет</td></tr></table></body></html>".encode()
SPREADSHEET_ML = (
    b'<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>'
    b'<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>'
)
CSV = "Счет;Дебет;Кредит\r\n51;1,00;\r\n".encode("cp1251")
CSV_UTF16 = "Счет\tДебет\r\n51\t1,00\r\n".encode("utf-16")
BIFF2 = struct.pack("<HHHH", 0x0009, 4, 2, 0x10)


def xlsx() -> bytes:
    book, into = openpyxl.Workbook(), io.BytesIO()
    book.active["A1"] = "Оборотно-сальдовая ведомость"
    book.save(into)
    return into.getvalue()


def xls() -> bytes:
    book, into = xlwt.Workbook(), io.BytesIO()
    book.add_sheet("TDSheet").write(0, 0, "Оборотно-сальдовая ведомость")
    book.save(into)
    return into.getvalue()


def archive(*names: str) -> bytes:
    """A zip with these members."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as made:
        for name in names:
            made.writestr(name, b"<x/>")
    return into.getvalue()


def xlsb() -> bytes:
    return archive("[Content_Types].xml", "xl/workbook.bin", "xl/worksheets/sheet1.bin")


def ole(folder: Path, *streams: str) -> bytes:
    """An OLE file with these streams."""
    path = folder / "made.ole"
    compound.write(path, dict.fromkeys(streams, b"\x00" * 5000))
    return path.read_bytes()


def encrypted(folder: Path) -> bytes:
    """What Excel writes when a workbook has a password."""
    return ole(folder, "EncryptionInfo", "EncryptedPackage")


def crowded_zip(entries: int) -> bytes:
    """A zip whose directory is all there is: `entries` names of 40 bytes."""
    name = b"x" * 40
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *[0] * 4, *[0] * 4, 0, 0, 0, 40, *[0] * 6)
    directory = (entry + name) * entries
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, entries % 65536, entries % 65536, len(directory), 34, 0
    )
    return b"PK\x03\x04" + b"\0" * 30 + directory + end
