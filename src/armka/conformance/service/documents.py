"""The source files that the kit sends where it is given none, and those that nobody can read."""

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from armka.contract.vocabulary import FileType, Pipeline


class FileNotTaken(Exception):
    """The name of a file given to the kit ends in no type of the pipeline."""

    def __init__(self, path: Path, pipeline: Pipeline) -> None:
        super().__init__(f"{path}: its name ends in no type of the {pipeline} pipeline")
        self.path = path
        self.pipeline = pipeline


@dataclass(frozen=True)
class Document:
    """A source file: what it is called, what it is said to be, and its bytes."""

    name: str
    file_type: FileType
    content: bytes


def from_file(path: Path, pipeline: Pipeline) -> Document:
    """A file of the user's; raises FileNotTaken, OSError."""
    suffix = path.suffix.removeprefix(".").upper().replace("JPEG", "JPG")
    if suffix not in {one.value for one in FileType if one.pipeline is pipeline}:
        raise FileNotTaken(path, pipeline)
    return Document(path.name, FileType(suffix), path.read_bytes())


def own(pipeline: Pipeline) -> Document:
    """The kit's own small document: a trial balance (ОСВ) as XLSX, or an empty page as PNG."""
    if pipeline is Pipeline.TABULAR:
        return Document("ОСВ за 2023 год.xlsx", FileType.XLSX, _workbook(_TRIAL_BALANCE))
    return Document("page.png", FileType.PNG, _white_page(200, 280))


def corrupt(like: Document) -> dict[str, bytes]:
    """Contents that are no document of any type, each with what is wrong with it."""
    noise = bytes((n * 131 + 17) % 256 for n in range(2048))
    half = like.content[: max(len(like.content) // 2, 1)]
    return {"an empty file": b"", "noise": noise, "its first half, then noise": half + noise}


def encrypted(pipeline: Pipeline) -> Document:
    """A document under a password: OOXML in an OLE container, or a PDF with /Encrypt."""
    if pipeline is Pipeline.TABULAR:
        return Document("ОСВ под паролем.xlsx", FileType.XLSX, _encrypted_workbook())
    return Document("под паролем.pdf", FileType.PDF, _ENCRYPTED_PDF)


_TRIAL_BALANCE: list[list[str | int]] = [
    ["ООО «Ромашка»"],
    ["Оборотно-сальдовая ведомость за 2023 г."],
    [],
    [
        "Счет",
        "Сальдо на начало периода",
        "",
        "Обороты за период",
        "",
        "Сальдо на конец периода",
        "",
    ],
    ["", "Дебет", "Кредит", "Дебет", "Кредит", "Дебет", "Кредит"],
    ["51", 1000, "", 500, 300, 1200, ""],
    ["60", "", 400, 300, 500, "", 600],
    ["80", "", 600, "", "", "", 600],
    ["Итого", 1000, 1000, 800, 800, 1200, 1200],
]


def _workbook(rows: list[list[str | int]]) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relations = f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{kind}'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": f'{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{kind}"><sheets>'
        '<sheet name="TDSheet" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{relations}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>'
        f"{''.join(_row(n, cells) for n, cells in enumerate(rows, 1))}</sheetData></worksheet>",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return made.getvalue()


def _row(number: int, cells: list[str | int]) -> str:
    written = "".join(
        f'<c r="{letter}{number}"><v>{cell}</v></c>'
        if isinstance(cell, int)
        else f'<c r="{letter}{number}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
        for letter, cell in zip("ABCDEFG", cells, strict=False)
        if cell != ""
    )
    return f'<row r="{number}">{written}</row>'


def _white_page(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\xff" * width) * height)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


_SECTOR = 512
_FREE, _END, _FAT, _NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


def _encrypted_workbook() -> bytes:
    """A compound file of version 3 with the two streams of an encrypted OOXML package."""
    information = struct.pack("<HHI", 4, 4, 0x40).ljust(4096, b"\0")
    package = struct.pack("<Q", 4088) + bytes((n * 57 + 3) % 256 for n in range(4088))
    streams = (("EncryptionInfo", information), ("EncryptedPackage", package))
    each = 4096 // _SECTOR
    chains = [[2 + n + each * index for n in range(each)] for index in range(2)]
    table = [_FAT, _END] + [
        step for chain in chains for step in [sector + 1 for sector in chain[:-1]] + [_END]
    ]
    table += [_FREE] * (_SECTOR // 4 - len(table))
    entries = [_entry("Root Entry", 5, child=1, start=_END, size=0)]
    entries += [
        _entry(name, 2, child=_NONE, start=chain[0], size=len(content), right=right)
        for (name, content), chain, right in zip(streams, chains, (2, _NONE), strict=True)
    ]
    entries.append(bytes(128))
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16),
        0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, _END, 0, _END, 0,
    )  # fmt: skip
    places = struct.pack("<109I", 0, *[_FREE] * 108)
    directory = b"".join(entries)
    return header + places + struct.pack("<128I", *table) + directory + information + package


def _entry(name: str, kind: int, *, child: int, start: int, size: int, right: int = _NONE) -> bytes:
    written = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16sIQQIQ", written, len(written), kind, 1, _NONE, right, child, bytes(16),
        0, 0, 0, start, size,
    )  # fmt: skip


_ENCRYPTED_PDF = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 280] >>
endobj
4 0 obj
<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4
/O <0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20>
/U <2122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40> >>
endobj
xref
0 5
0000000000 65535 f\x20
0000000009 00000 n\x20
0000000058 00000 n\x20
0000000115 00000 n\x20
0000000186 00000 n\x20
trailer
<< /Size 5 /Root 1 0 R /Encrypt 4 0 R
/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] >>
startxref
392
%%EOF
"""
