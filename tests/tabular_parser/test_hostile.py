"""Files made to break the reader end as a refusal, in bounded memory."""

import contextlib
import gc
import io
import zipfile
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armka.contract.vocabulary import ErrorCode, FileType
from armka.sdk.handler import Recognition, Refused
from armka.services.tabular_parser.recognise import recognise
from tests.books import xlsx
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import WRITERS, lines, source_of, truth

FORMATS = list(WRITERS)
_SHEET = "xl/worksheets/sheet1.xml"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.fixture
def book(tmp_path):
    """The parts of a good XLSX, its truth, and a way to recognise them changed."""
    ledger = make(Random(1))
    path = tmp_path / "book.xlsx"
    xlsx.write(path, [lay_out(ledger, Layout())])
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as source:
        parts = {name: source.read(name) for name in source.namelist()}

    def recognise_parts(changed: dict[str, bytes]) -> Recognition:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            for name, body in (parts | changed).items():
                target.writestr(name, body)
        return recognise(source_of(path))

    return ledger, parts, recognise_parts


def refused(run, *arguments) -> Refused:
    with pytest.raises(Refused) as caught:
        run(*arguments)
    return caught.value


def test_a_cell_in_the_far_corner_costs_no_memory(book):
    """1.4 KB that make other readers ask for 550 GB."""
    ledger, parts, run = book
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    recognition = run({_SHEET: parts[_SHEET].replace(b"</sheetData>", far)})
    assert lines(recognition.documents[0]) == truth(ledger)


def test_a_claim_of_four_billion_strings_costs_no_memory(book):
    ledger, parts, run = book
    strings = parts["xl/sharedStrings.xml"].replace(b'uniqueCount="', b'uniqueCount="4000000000')
    recognition = run({"xl/sharedStrings.xml": strings})
    assert lines(recognition.documents[0]) == truth(ledger)


@pytest.mark.parametrize("reference", [b"XFE1", b"ZZZZZZ1", b"A", b"1", b"", b"\xd0\x90\xd0\x911"])
def test_cells_outside_of_any_sheet(book, reference):
    _, parts, run = book
    if reference == b"A":
        reference = b"AAAA1"
    sheet = parts[_SHEET].replace(b'r="A5"', b'r="' + reference + b'"')
    assert refused(run, {_SHEET: sheet}).code is ErrorCode.UNREADABLE


@pytest.mark.parametrize("row", [b"0", b"-1", b"1048577", b"99999999999999999999", b"x"])
def test_rows_outside_of_any_sheet(book, row):
    _, parts, run = book
    sheet = parts[_SHEET].replace(b'<row r="5"', b'<row r="' + row + b'"')
    assert refused(run, {_SHEET: sheet}).code is ErrorCode.UNREADABLE


@pytest.mark.parametrize("index", [b"4000", b"-1", b"x"])
def test_a_string_that_is_not_in_the_table(book, index):
    _, parts, run = book
    sheet = parts[_SHEET].replace(b't="s"><v>4</v>', b't="s"><v>' + index + b"</v>")
    assert refused(run, {_SHEET: sheet}).code is ErrorCode.UNREADABLE


def test_a_document_type_declaration_is_refused(book):
    """Entities that multiply need one; a workbook has none."""
    _, parts, run = book
    entities = b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    sheet = parts[_SHEET].replace(b"<worksheet", entities + b"<worksheet", 1)
    assert refused(run, {_SHEET: sheet}).code is ErrorCode.UNREADABLE


def test_a_part_that_inflates_without_end(book):
    _, parts, run = book
    bomb = parts[_SHEET].replace(b"</sheetData>", b"</sheetData>" + b" " * 150_000_000)
    outcome = refused(run, {_SHEET: bomb})
    assert outcome.code is ErrorCode.UNREADABLE
    assert "сжата" in outcome.message


def test_parts_that_are_too_large_together(book):
    _, _, run = book
    outcome = refused(run, {f"xl/media/{n}.bin": b"\0" * 50_000_000 for n in range(5)})
    assert "распакованном виде" in outcome.message


def test_a_package_of_too_many_parts(book):
    _, _, run = book
    assert "частей" in refused(run, {f"x/{n}": b"" for n in range(1001)}).message


def test_a_package_that_lies_about_its_sizes(book, tmp_path):
    book[2]({})
    path = tmp_path / "book.xlsx"
    data = bytearray(path.read_bytes())
    entry = data.rfind(b"PK\x01\x02", 0, data.rfind(_SHEET.encode()))
    data[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")
    path.write_bytes(data)
    assert refused(recognise, source_of(path)).code is ErrorCode.UNREADABLE


@pytest.mark.parametrize("missing", ["xl/workbook.xml", _SHEET])
def test_a_package_without_its_parts(book, missing):
    _, parts, _ = book
    with pytest.raises(Refused):
        _recognise_without(parts, missing, book)


def _recognise_without(parts, missing, book):
    del parts[missing]
    book[2]({})


@pytest.mark.parametrize(
    "part", ["xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml", _SHEET]
)
def test_xml_that_is_none(book, part):
    assert refused(book[2], {part: b"<a><b></a>"}).code is ErrorCode.UNREADABLE


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/styles.xml", _SHEET])
@pytest.mark.parametrize("encoding", ["U0F-8", "utf-7", "euc-jp", "zlib"])
def test_an_encoding_that_no_workbook_has(book, part, encoding):
    _, parts, run = book
    body = parts[part].replace(b"UTF-8", encoding.encode(), 1)
    assert refused(run, {part: body}).code is ErrorCode.UNREADABLE


def test_formulas_and_links_outside_are_not_followed(book):
    ledger, parts, run = book
    sheet = parts[_SHEET].replace(
        b"</sheetData>",
        b'<row r="500"><c r="A500" t="str"><f>WEBSERVICE("http://127.0.0.1:9/")</f><v>x</v></c>'
        b"</row></sheetData>",
    )
    relations = parts["xl/_rels/workbook.xml.rels"].replace(
        b"</Relationships>",
        b'<Relationship Id="rId9" Type="x/externalLink" Target="file:///etc/passwd" '
        b'TargetMode="External"/></Relationships>',
    )
    recognition = run({_SHEET: sheet, "xl/_rels/workbook.xml.rels": relations})
    assert lines(recognition.documents[0]) == truth(ledger)


@pytest.mark.parametrize("escape", ["_x0000_", "_xD800_", "_x0007_", "_xFFFF_"])
def test_characters_that_no_database_takes_are_replaced(book, escape):
    _, parts, run = book
    strings = parts["xl/sharedStrings.xml"].replace("Касса".encode(), f"Ка{escape}са".encode())
    document = run({"xl/sharedStrings.xml": strings}).documents[0]
    assert next(line.name for line in document.lines if line.account == "50") == "Ка\ufffdса"


def test_the_garbage_collector_is_left_as_it_was(book):
    assert gc.isenabled()
    book[2]({})
    assert gc.isenabled()
    refused(book[2], {_SHEET: b"<"})
    assert gc.isenabled()


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A small good file of each type."""
    folder = tmp_path_factory.mktemp("good")
    files = {}
    for file_type, write in WRITERS.items():
        path = folder / f"good.{file_type.lower()}"
        write(path, [lay_out(make(Random(2), share=0.1), Layout())])
        files[file_type] = path.read_bytes()
    return files


def outcome_of(path, data: bytes, file_type: FileType) -> None:
    """Read the file; anything but a reading or a refusal fails the test by itself.

    So much memory that there is none is for the child process's limit to say.
    """
    path.write_bytes(data)
    with contextlib.suppress(Refused, MemoryError):
        recognise(source_of(path, file_type))


# Where, as a share of the length, and what.
DAMAGE = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1)


def damaged(data: bytes, damage: list[tuple[float, int]]) -> bytes:
    changed = bytearray(data)
    for place, byte in damage:
        changed[int(place * len(changed))] = byte
    return bytes(changed)


@pytest.mark.parametrize("file_type", FORMATS)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(damage=DAMAGE, kept=st.just(1.0) | st.floats(0, 1))
def test_any_damage_ends_as_a_reading_or_a_refusal(tmp_path, good, file_type, damage, kept):
    data = damaged(good[file_type], damage)
    outcome_of(tmp_path / "damaged", data[: int(kept * len(data))], file_type)


@pytest.mark.parametrize("part", ["workbook", "worksheets/sheet1", "styles", "sharedStrings"])
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(damage=DAMAGE)
def test_any_damage_inside_an_xlsb_ends_as_a_reading_or_a_refusal(tmp_path, good, part, damage):
    """The zip's own checksums would catch damage of the file: here the records are damaged."""
    with zipfile.ZipFile(io.BytesIO(good[FileType.XLSB])) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    parts[f"xl/{part}.bin"] = damaged(parts[f"xl/{part}.bin"], damage)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, body in parts.items():
            target.writestr(name, body)
    outcome_of(tmp_path / "damaged", buffer.getvalue(), FileType.XLSB)
