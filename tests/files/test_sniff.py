"""What an upload is, by its content and name together (F1)."""

import io
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.core.errors import UploadRefused
from armka.core.files.sniff import sniff
from tests.books import compound
from tests.files import documents


def type_of(content: bytes, name: str) -> str:
    """The type, or the code of the refusal."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            return sniff(file, name).value
        except UploadRefused as error:
            return error.code


TYPES = [
    pytest.param(documents.xlsx(), "XLSX", id="xlsx"),
    pytest.param(documents.xls(), "XLS", id="xls"),
    pytest.param(documents.xlsb(), "XLSB", id="xlsb"),
    pytest.param(documents.PDF, "PDF", id="pdf"),
    pytest.param(b"\r\n" * 200 + documents.PDF, "PDF", id="pdf after a preamble"),
    pytest.param(documents.PNG, "PNG", id="png"),
    pytest.param(documents.JPG, "JPG", id="jpg"),
]


@pytest.mark.parametrize(("content", "file_type"), TYPES)
@pytest.mark.parametrize(
    "name", ["отчёт.xls", "отчёт.XLSX", "отчёт.xlsb", "отчёт.pdf", "отчёт.png", "отчёт", ""]
)
def test_content_that_is_clear_decides_whatever_the_name(
    content: bytes, file_type: str, name: str
) -> None:
    """A wrong or missing extension changes nothing."""
    assert type_of(content, name) == file_type


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(documents.HTML, id="html"),
        pytest.param(documents.SPREADSHEET_ML, id="spreadsheetml"),
        pytest.param(documents.CSV, id="csv"),
        pytest.param(documents.CSV_UTF16, id="csv in utf-16"),
        pytest.param(documents.BIFF2, id="bare biff"),
    ],
)
def test_a_spreadsheet_in_another_dress_is_xls_only_under_its_name(content: bytes) -> None:
    """HTML, SpreadsheetML, CSV and bare BIFF under `.xls` are left to the parser."""
    assert type_of(content, "Ведомость.XLS ") == "XLS"
    assert type_of(content, "Ведомость.txt") == "UNSUPPORTED_FILE"
    assert type_of(content, "Ведомость.xlsx") == "UNSUPPORTED_FILE"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"", "EMPTY_FILE", id="empty"),
        pytest.param(documents.archive("word/document.xml"), "UNSUPPORTED_FILE", id="docx"),
        pytest.param(documents.archive("mimetype", "content.xml"), "UNSUPPORTED_FILE", id="ods"),
        pytest.param(documents.archive("a.txt"), "UNSUPPORTED_FILE", id="zip"),
        pytest.param(documents.archive(), "UNSUPPORTED_FILE", id="empty zip"),
        pytest.param(documents.xlsx()[:-300], "DAMAGED_FILE", id="cut off"),
        pytest.param(b"PK\x03\x04" + b"\xff" * 500, "DAMAGED_FILE", id="noise after PK"),
        pytest.param(b"MOXCEL\0\0\x01", "UNSUPPORTED_FILE", id="mxl"),
        pytest.param(b"\0" * 5000, "UNSUPPORTED_FILE", id="zeros"),
        pytest.param(b"MZ\x90\0\x03\0", "UNSUPPORTED_FILE", id="program"),
    ],
)
def test_what_is_no_supported_document_is_refused_with_a_code(content: bytes, code: str) -> None:
    """Under any name."""
    for name in ("a.xls", "a.xlsx", "a.pdf"):
        assert type_of(content, name) == code


def test_an_encrypted_workbook_is_told_from_other_ole_files(tmp_path: Path) -> None:
    """F1: encrypted OOXML is refused at the door; a Word document is no workbook."""
    assert type_of(documents.encrypted(tmp_path), "a.xlsx") == "ENCRYPTED_FILE"
    assert type_of(documents.ole(tmp_path, "WordDocument"), "a.xls") == "UNSUPPORTED_FILE"
    assert type_of(documents.ole(tmp_path, "Workbook"), "a.xls") == "XLS"
    assert type_of(documents.ole(tmp_path, "Book"), "a.xls") == "XLS"


def test_a_name_inside_the_data_is_no_stream(tmp_path: Path) -> None:
    """`EncryptedPackage` typed into a cell does not make a workbook encrypted."""
    words = "EncryptedPackage\0".encode("utf-16-le")
    path = tmp_path / "book.xls"
    compound.write(path, {"Workbook": (words + b"\0" * 94) * 64})
    assert type_of(path.read_bytes(), "a.xls") == "XLS"


def test_a_crowded_zip_directory_costs_no_memory() -> None:
    """A million names are not read one by one."""
    content = documents.crowded_zip(1_000_000)
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        tracemalloc.start()
        try:
            with pytest.raises(UploadRefused, match="damaged"):
                sniff(file, "a.xlsx")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 4 * 1024 * 1024


_HEADS = st.sampled_from(
    [b"", b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x09\x08", b"%PDF-"]
)


@given(head=_HEADS, rest=st.binary(max_size=600), name=st.text(max_size=20))
def test_any_bytes_get_a_type_or_a_refusal(head: bytes, rest: bytes, name: str) -> None:
    """Nothing else ever comes out."""
    assert type_of(head + rest, name)


@given(cut=st.integers(min_value=1), at=st.integers(min_value=0), noise=st.binary(max_size=8))
def test_a_mangled_workbook_gets_a_type_or_a_refusal(cut: int, at: int, noise: bytes) -> None:
    """Bytes replaced and cut anywhere in a real zip."""
    whole = documents.archive("xl/workbook.xml", "xl/worksheets/sheet1.xml")
    at %= len(whole)
    mangled = (whole[:at] + noise + whole[at + len(noise) :])[: cut % (len(whole) + 1)]
    assert type_of(mangled, "a.xlsx")


def test_the_file_may_be_read_on() -> None:
    """`sniff` starts from the beginning, wherever the file stands."""
    file = io.BytesIO(documents.PDF)
    file.read()
    assert sniff(file, "a.pdf").value == "PDF"
