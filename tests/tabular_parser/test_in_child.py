"""Files made to break the parser are refused in a child; the service's own process goes on, no
larger than before, and serves the next file by another child.
"""

import io
import zipfile
from pathlib import Path
from random import Random

import pytest

from armka.contract.vocabulary import ErrorCode, FileType
from armka.sdk.children import Children
from armka.sdk.frames import Declined, OutOfMemory, Read, Report
from armka.sdk.settings import ServiceSettings
from armka.services.tabular_parser.recognise import recognise
from tests.books import xlsx
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import source_of, task_of

SETTINGS = ServiceSettings(concurrency=1, memory_mb=64)
_SHEET = "xl/worksheets/sheet1.xml"
_MEBIBYTE = 1024 * 1024


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.xlsx"
    xlsx.write(path, [lay_out(make(Random(1)), Layout())])
    return path


def changed(path: Path, part: str, body: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(buffer, "w", 8) as target:
        for name in source.namelist():
            target.writestr(name, body if name == part else source.read(name))
    return buffer.getvalue()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


async def test_hostile_files_hurt_nobody_else(tmp_path, good):
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 9}">' for n in range(1, 9))
    row = '<row r="{0}"><c r="A{0}"><v>1</v></c></row>'
    hostile: list[tuple[str, FileType, bytes]] = [
        ("bomb", FileType.XLSX, changed(good, _SHEET, b" " * 8 * _MEBIBYTE)),
        ("entities", FileType.XLSX, changed(good, _SHEET, f"<!DOCTYPE a [{entities}]>".encode())),
        (
            "claims",
            FileType.XLSX,
            changed(good, _SHEET, _sheet(row.format(1) + row.format(1_048_576))),
        ),
        ("wide page", FileType.XLS, b"<table>" + b"<tr><td colspan=1000>x" * 6000),
        ("deep page", FileType.XLS, b"<table><tr><td>" * 20_000),
        ("long page", FileType.XLS, b"<table>" + b"<tr><td>1<td>2<td>3<td>4" * 60_000),
        ("long line", FileType.XLS, b"a;b\n" + b'"' + b"x" * 10_000_000),
    ]
    async with Children(recognise, SETTINGS) as children:
        pid, report = await _read(children, good, FileType.XLSX)
        assert isinstance(report, Read)
        before = resident()
        for name, file_type, data in hostile:
            path = tmp_path / name
            path.write_bytes(data)
            hurt, report = await _read(children, path, file_type)
            assert hurt == pid
            assert isinstance(report, Declined | OutOfMemory), name
            if isinstance(report, Declined):
                assert report.code in (ErrorCode.UNREADABLE, ErrorCode.INVALID_DOCUMENT), name
            pid, report = await _read(children, good, FileType.XLSX)
            assert pid != hurt
            assert isinstance(report, Read)
        assert resident() - before < 30 * _MEBIBYTE


def _sheet(rows: str) -> bytes:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'.encode()


async def _read(children: Children, path: Path, file_type: FileType) -> tuple[int, Report]:
    async with children.one() as child:
        report, _ = await child.recognise(task_of(source_of(path, file_type)), 60)
        return child.pid, report
