"""What cannot be read ends in the right code, with a message that tells a person what is wrong and
what to do.
"""

import io
import struct
import zipfile
from itertools import permutations
from random import Random

import pytest

from armka.contract.vocabulary import ErrorCode, FileType
from armka.sdk.handler import Refused
from armka.services.tabular_parser.recognise import recognise
from tests.books import compound
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import WRITERS, source_of, through
from tests.books.sheets import Sheet

FORMATS = list(WRITERS)


@pytest.fixture
def refusal(tmp_path):
    """How a file of these bytes is refused."""

    def refuse(data: bytes, file_type: FileType) -> Refused:
        path = tmp_path / "file.bin"
        path.write_bytes(data)
        with pytest.raises(Refused) as refused:
            recognise(source_of(path, file_type))
        return refused.value

    return refuse


def written(tmp_path, file_type: FileType) -> bytes:
    path = tmp_path / f"book.{file_type.lower()}"
    WRITERS[file_type](path, [lay_out(make(Random(1)), Layout())])
    data: bytes = path.read_bytes()
    return data


@pytest.mark.parametrize("file_type", FORMATS)
@pytest.mark.parametrize("data", [b"", b"\0" * 5000, b"  \r\n"])
def test_an_empty_file(refusal, file_type, data):
    refused = refusal(data, file_type)
    assert refused.code is ErrorCode.UNREADABLE
    assert "Файл пуст" in refused.message


@pytest.mark.parametrize("file_type", FORMATS)
def test_a_workbook_without_data(tmp_path, file_type):
    with pytest.raises(Refused) as refused:
        through(tmp_path, file_type, Sheet("Лист1"))
    assert refused.value.code is ErrorCode.INVALID_DOCUMENT
    assert "нет данных" in refused.value.message


@pytest.mark.parametrize("file_type", [FileType.XLSX, FileType.XLSB])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.97])
def test_a_file_that_was_cut_off(tmp_path, refusal, file_type, kept):
    data = written(tmp_path, file_type)
    refused = refusal(data[: int(len(data) * kept)], file_type)
    assert refused.code is ErrorCode.UNREADABLE
    assert "Файл поврежден" in refused.message


def test_an_xls_that_was_cut_off(tmp_path, refusal):
    data = written(tmp_path, FileType.XLS)
    assert refusal(data[: len(data) // 3], FileType.XLS).code is ErrorCode.UNREADABLE


def test_bytes_of_nothing_known(refusal):
    assert refusal(Random(1).randbytes(5000), FileType.XLSX).code is ErrorCode.UNREADABLE


@pytest.mark.parametrize("file_type", FORMATS)
def test_an_encrypted_office_package(tmp_path, refusal, file_type):
    """A workbook with a password is a compound file with the encrypted package in it, under any
    extension.
    """
    path = tmp_path / "encrypted"
    compound.write(
        path, {"EncryptionInfo": b"\4\0\4\0", "EncryptedPackage": Random(1).randbytes(9000)}
    )
    refused = refusal(path.read_bytes(), file_type)
    assert refused.code is ErrorCode.INVALID_FORMAT
    assert "паролем" in refused.message


def test_an_encrypted_xls(tmp_path, refusal):
    path = tmp_path / "encrypted"
    begin = struct.pack("<HHHHHHII", 0x809, 16, 0x600, 5, 0x1234, 1997, 0, 0)
    file_pass = struct.pack("<HHH", 0x2F, 54, 1) + bytes(52)
    compound.write(path, {"Workbook": begin + file_pass + struct.pack("<HH", 10, 0)})
    refused = refusal(path.read_bytes(), FileType.XLS)
    assert refused.code is ErrorCode.INVALID_FORMAT
    assert "паролем" in refused.message


def test_an_encrypted_zip(tmp_path, refusal):
    data = bytearray(written(tmp_path, FileType.XLSX))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = data.find(mark)
        while position != -1:
            data[position + offset] |= 1
            position = data.find(mark, position + 4)
    assert refusal(bytes(data), FileType.XLSX).code is ErrorCode.INVALID_FORMAT


@pytest.mark.parametrize(("said", "real"), list(permutations(FORMATS, 2)))
def test_a_file_that_is_another_of_our_types_than_said(tmp_path, refusal, said, real):
    refused = refusal(written(tmp_path, real), said)
    assert refused.code is ErrorCode.INVALID_FORMAT
    assert "не соответствует типу" in refused.message


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name in names:
            package.writestr(name, b"x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "called"),
    [
        (b"%PDF-1.7\n...", "PDF"),
        (b"\x89PNG\r\n\x1a\n....", "PNG"),
        (b"MOXCEL\0\0\7", "MXL"),
        (b"ID;PSCALC3\n", "SYLK"),
        (b"TABLE\r\n0,1\r\n", "DIF"),
        (b"\x03\x7d\x0c\x1f\1\0\0\0\x41\0\x10\0" + bytes(90), "DBF"),
        (b"\0\0\x02\0\6\4\6\0", "Lotus"),
        (b"MIME-Version: 1.0\r\n", "MHTML"),
        (b"<?xml version='1.0'?><document xmlns='http://v8.1c.ru/8.2/data/spreadsheet'/>", "MXL"),
        (b"<?xml version='1.0'?><a/>", "XML"),
        ("Письмо без таблицы".encode("cp1251"), "текстовый файл"),
        (zipped("word/document.xml"), "Word"),
        (zipped("ppt/presentation.xml"), "PowerPoint"),
        (zipped("Index/Document.iwa"), "Numbers"),
        (zipped("mimetype", "content.xml"), "ODS"),
        (zipped("readme.txt"), "ZIP"),
    ],
)
def test_a_file_in_a_foreign_dress_is_called_by_its_name(refusal, data, called):
    refused = refusal(data, FileType.XLS)
    assert refused.code is ErrorCode.INVALID_FORMAT
    assert called in refused.message
    assert "сохраните" in refused.message


@pytest.mark.parametrize(
    ("stream", "called"),
    [("WordDocument", "DOC"), ("PowerPoint Document", "PPT"), ("Contents", "Microsoft Office")],
)
def test_an_office_document_of_old(tmp_path, refusal, stream, called):
    path = tmp_path / "document"
    compound.write(path, {stream: b"x", "1Table": b"x"})
    refused = refusal(path.read_bytes(), FileType.XLS)
    assert refused.code is ErrorCode.INVALID_FORMAT
    assert called in refused.message


@pytest.mark.parametrize("file_type", [FileType.PDF, FileType.PNG, FileType.JPG])
def test_types_of_the_other_pipeline_are_not_ours(refusal, file_type):
    assert refusal(b"%PDF", file_type).code is ErrorCode.UNSUPPORTED_FORMAT


@pytest.mark.parametrize(
    ("title", "code", "called"),
    [
        ("Карточка счета 51", ErrorCode.INVALID_DOCUMENT, "карточку счета"),
        ("Шахматная ведомость", ErrorCode.INVALID_DOCUMENT, "шахматную ведомость"),
        ("Анализ субконто Контрагенты", ErrorCode.INVALID_DOCUMENT, "анализ субконто"),
    ],
)
@pytest.mark.parametrize("file_type", FORMATS)
def test_other_reports_are_refused_by_name(tmp_path, file_type, title, code, called):
    with pytest.raises(Refused) as refused:
        through(tmp_path, file_type, lay_out(make(Random(1)), Layout(title=title)))
    assert refused.value.code is code
    assert called in refused.value.message
    assert "TDSheet" in refused.value.message


def test_the_sheet_nearest_to_a_trial_balance_says_why(tmp_path):
    notes = Sheet("Заметки")
    notes.put(0, 0, "Просто текст")
    card = lay_out(make(Random(1)), Layout(title="Карточка счета 51"), "Карточка")
    with pytest.raises(Refused, match="карточку счета"):
        through(tmp_path, FileType.XLSX, notes, card)
