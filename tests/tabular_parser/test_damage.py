"""Damage inside of a file ends as a refusal, as a finding, or has touched no amount."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armka.contract.vocabulary import FileType
from armka.sdk.handler import Refused
from armka.services.tabular_parser.recognise import recognise
from tests.books import delimited, html, spreadsheet_ml, xls, xlsb, xlsx
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import lines, source_of, texts, total, truth
from tests.books.sheets import Sheet

# Name, file type, writer, the part that is damaged (None: the whole file).
KINDS: dict[str, tuple[FileType, Callable[[Path, list[Sheet]], None], str | None]] = {
    "XLSX": (FileType.XLSX, xlsx.write, "xl/worksheets/sheet1.xml"),
    "XLSX strings": (FileType.XLSX, xlsx.write, "xl/sharedStrings.xml"),
    "XLSX styles": (FileType.XLSX, xlsx.write, "xl/styles.xml"),
    "XLSB": (FileType.XLSB, xlsb.write, "xl/worksheets/sheet1.bin"),
    "XLSB strings": (FileType.XLSB, xlsb.write, "xl/sharedStrings.bin"),
    "XLS": (FileType.XLS, xls.write, None),
    "HTML": (FileType.XLS, html.write, None),
    "SpreadsheetML": (FileType.XLS, spreadsheet_ml.write, None),
    "CSV": (FileType.XLS, delimited.write, None),
}
LEDGER = make(Random(11), share=0.15, subaccounts=False)

# Bytes that mean something to one format or another go in more often than others.
BYTE = st.sampled_from(b"0123456789.,;-<>\"'&\0\xff") | st.integers(0, 255)
DAMAGE = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), BYTE), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    files = {}
    for name, (file_type, write, _) in KINDS.items():
        path = folder / f"{name}.{file_type.lower()}"
        write(path, [lay_out(LEDGER, Layout())])
        (whole,) = recognise(source_of(path, file_type)).documents
        assert not whole.checks
        files[name] = path
    return files


def damaged(data: bytes, part: str | None, damage: list[tuple[float, int]]) -> bytes:
    if part is None:
        changed = bytearray(data)
        for place, byte in damage:
            changed[int(place * len(changed))] = byte
        return bytes(changed)
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    parts[part] = damaged(parts[part], None, damage)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, body in parts.items():
            target.writestr(name, body)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(damage=DAMAGE)
def test_no_amount_changes_in_silence(tmp_path, good, kind, damage):
    file_type, _, part = KINDS[kind]
    path = tmp_path / "damaged"
    path.write_bytes(damaged(good[kind].read_bytes(), part, damage))
    try:
        recognition = recognise(source_of(path, file_type))
    except (Refused, MemoryError):  # so much memory is for the child's limit to refuse
        return
    if recognition.needs_check or any(document.checks for document in recognition.documents):
        return  # kopecks within the tolerance of R1 are a warning
    (document,) = recognition.documents
    assert [row[-1] for row in lines(document)] == [row[-1] for row in truth(LEDGER)]
    assert total(document) == texts(LEDGER.total)
