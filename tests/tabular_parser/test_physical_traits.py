"""What 1С and Excel really write, and what other readers make of it."""

import io
import re
import struct
import zipfile
from datetime import datetime
from random import Random

import pytest
import python_calamine
import xlrd

from armka.contract.vocabulary import FileType
from armka.services.tabular_parser import xls, xlsb, xlsx
from armka.services.tabular_parser.recognise import recognise
from armka.services.tabular_parser.zip_container import ZipContainer
from tests.books import xls as write_xls
from tests.books import xlsb as write_xlsb
from tests.books import xlsx as write_xlsx
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import lines, source_of, through, truth
from tests.books.sheets import Look, Sheet


@pytest.fixture
def book():
    return make(Random(7), off_balance=True)


@pytest.fixture
def rewritten(tmp_path, book):
    """A written XLSX whose parts are changed by a function of name and text."""

    def rewrite(change, layout=Layout()):  # noqa: B008 - frozen
        path = tmp_path / "book.xlsx"
        write_xlsx.write(path, [lay_out(book, layout)])
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as source:
            parts = {name: source.read(name).decode() for name in source.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
            for name, text in parts.items():
                target.writestr(*change(name, text))
        return recognise(source_of(path))

    return rewrite


def test_number_formats_numbered_from_50_are_no_dates(tmp_path, book):
    """Calamine takes them for East Asian dates, so that amounts are gone; the test proves that on
    the same file.
    """
    path = tmp_path / "book.xls"
    write_xls.write(path, [lay_out(book, Layout())], like_1c=True)
    formats = xlrd.open_workbook(path, formatting_info=True).format_map
    assert formats[51].format_str == "#,##0.00;[Red]-#,##0.00"
    seen = python_calamine.load_workbook(str(path)).get_sheet_by_index(0).to_python()
    assert any(isinstance(value, datetime) for row in seen for value in row)
    assert lines(recognise(source_of(path)).documents[0]) == truth(book)


def test_shared_strings_with_a_capital_s_and_a_wrong_dimension_are_read(tmp_path, book):
    path = tmp_path / "book.xlsx"
    write_xlsx.write(path, [lay_out(book, Layout())], like_1c=True)
    assert "xl/SharedStrings.xml" in zipfile.ZipFile(path).namelist()
    assert lines(recognise(source_of(path)).documents[0]) == truth(book)


@pytest.mark.parametrize("file_type", [FileType.XLS, FileType.XLSX, FileType.XLSB])
def test_account_codes_that_live_in_the_number_format_are_read(tmp_path, book, file_type):
    recognition = through(tmp_path, file_type, lay_out(book, Layout(numeric_codes=True)))
    codes = {line.account for line in recognition.documents[0].lines}
    assert {"01", "20.Н", "001", "60"} <= codes


@pytest.mark.parametrize("file_type", [FileType.XLS, FileType.XLSX, FileType.XLSB])
def test_every_reader_hands_over_the_same_grid(tmp_path, book, file_type):
    """Cell by cell, with formats, looks, outline, hidden rows and merges."""
    sheet = lay_out(book, Layout(first_column=1, collapsed=True))
    sheet.put(40, 9, True)
    sheet.put(41, 9, "курсив", Look(italic=True, bold=True, indent=2))
    path = tmp_path / f"book.{file_type.lower()}"
    through(tmp_path, file_type, sheet)
    data = path.read_bytes()
    readers = {
        FileType.XLS: lambda: xls.read(data),
        FileType.XLSX: lambda: xlsx.read(ZipContainer(data)),
        FileType.XLSB: lambda: xlsb.read(ZipContainer(data)),
    }
    (grid,) = readers[file_type]()
    seen = {
        (row.number - 1, column): (value, grid.styles[style])
        for row in grid.rows
        for column, value, style in row.cells
    }
    assert {place: value for place, (value, _) in seen.items()} == {
        place: value for place, (value, _) in sheet.cells.items()
    }
    for place, (_, look) in sheet.cells.items():
        style = seen[place][1]
        assert (style.number_format, style.bold, style.italic, style.indent) == (
            look.number_format,
            look.bold,
            look.italic,
            look.indent,
        )
    levels = {row.number - 1: row.level for row in grid.rows if row.level}
    assert levels == {row: level for row, level in sheet.levels.items() if level}
    assert {row.number - 1 for row in grid.rows if row.hidden} == sheet.hidden_rows
    assert {
        (m.first_row - 1, m.first_column, m.last_row - 1, m.last_column) for m in grid.merges
    } == set(sheet.merges)


def test_short_cell_records_are_read_and_not_skipped(tmp_path, book):
    """Calamine loses every cell that follows another; the test proves that on the same file."""
    path = tmp_path / "book.xlsb"
    sheet = lay_out(book, Layout())
    write_xlsb.write(path, [sheet], short_records=True)
    seen = python_calamine.load_workbook(str(path)).get_sheet_by_index(0).to_python()
    assert sum(value != "" for row in seen for value in row) < len(sheet.cells)
    assert lines(recognise(source_of(path)).documents[0]) == truth(book)


def test_texts_that_stand_in_the_cells_of_an_xlsb_are_read(tmp_path, book):
    path = tmp_path / "book.xlsb"
    write_xlsb.write(path, [lay_out(book, Layout())], shared_strings=False)
    assert lines(recognise(source_of(path)).documents[0]) == truth(book)


def test_strict_namespaces_and_prefixes_are_read(rewritten, book):
    def change(name, text):
        text = text.replace(
            "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
            "http://purl.oclc.org/ooxml/spreadsheetml/main",
        )
        if name.startswith("xl/worksheets/sheet"):
            text = re.sub(r"<(/?)(\w)", r"<\1x:\2", text).replace("xmlns=", "xmlns:x=")
        return name, text

    assert lines(rewritten(change).documents[0]) == truth(book)


def test_cells_and_rows_without_references_follow_the_one_before(rewritten, book):
    """Writers may leave out `r` where nothing lies between."""

    def change(name, text):
        if name.startswith("xl/worksheets/sheet"):
            text = re.sub(r'(<c r="C(\d+)"[^>]*>(?:<v>[^<]*</v></c>))<c r="D\2"', r"\1<c", text)
            text = re.sub(r'<row r="(1[0-9])"', "<row", text)
        return name, text

    assert lines(rewritten(change).documents[0]) == truth(book)


def test_a_formula_that_was_never_calculated_is_unknown(rewritten):
    def change(name, text):
        if name.startswith("xl/worksheets/sheet"):
            text = re.sub(
                r"<v>[\d.]+</v></c></row><row r=\"30\"",
                '<f>SUM(A1:A2)</f></c></row><row r="30"',
                text,
            )
        return name, text

    document = rewritten(change).documents[0]
    assert [cell.raw for line in document.lines for cell in line.unknown] == [
        "формула без вычисленного значения"
    ]


@pytest.mark.parametrize("stored", ["NaN", "INF", "1_000", "0x10", "1e999", "١٢"])
def test_a_stored_number_that_is_none_is_unknown(rewritten, stored):
    def change(name, text):
        if name.startswith("xl/worksheets/sheet"):
            text = re.sub(
                r"<v>[\d.]+</v></c></row><row r=\"30\"",
                f'<v>{stored}</v></c></row><row r="30"',
                text,
            )
        return name, text

    document = rewritten(change).documents[0]
    assert [cell.raw for line in document.lines for cell in line.unknown] == [stored]


def test_rich_and_escaped_texts_are_read(rewritten):
    def change(name, text):
        if name == "xl/sharedStrings.xml":
            text = text.replace(
                "<si><t>Сальдо на начало периода</t></si>",
                "<si><r><t>Сальдо на</t></r><r><t>_x000D_\nначало периода</t></r>"
                "<rPh><t>x</t></rPh></si>",
            )
        return name, text

    assert rewritten(change).documents[0].checks == []


def test_of_a_text_and_a_number_in_one_cell_only_the_one_that_counts_is_read(rewritten, book):
    """Two pieces put together would be a number that nobody wrote."""

    def change(name, text):
        if name.startswith("xl/worksheets/sheet"):
            text = text.replace("</v></c>", "</v><is><t>7</t></is></c>")
        return name, text

    assert lines(rewritten(change).documents[0]) == truth(book)


def test_amounts_too_long_for_a_float_keep_their_kopecks(tmp_path):
    sheet = lay_out(make(Random(1), subaccounts=False), Layout(numeric_codes=False))
    row = next(row for (row, _), (value, _) in sheet.cells.items() if value == "70")
    sheet.put(row, 2, "=X")
    path = tmp_path / "book.xlsx"
    write_xlsx.write(path, [sheet])
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    sheet_name = "xl/worksheets/sheet1.xml"
    parts[sheet_name] = re.sub(rb"<f>X</f><v>0</v>", b"<v>99999999999999.99</v>", parts[sheet_name])
    with zipfile.ZipFile(path, "w") as target:
        for name, body in parts.items():
            target.writestr(name, body)
    document = recognise(source_of(path)).documents[0]
    assert (
        next(line for line in document.lines if line.account == "70").values[0]
        == "99999999999999.99"
    )


def test_an_xls_sheet_of_nothing_but_text_is_read_through(tmp_path):
    sheet = Sheet()
    sheet.put(3, 3, "только текст")
    path = tmp_path / "book.xls"
    write_xls.write(path, [sheet])
    (grid,) = xls.read(path.read_bytes())
    assert [(row.number, row.cells[0][:2]) for row in grid.rows] == [(4, (3, "только текст"))]


def biff2(texts: dict[tuple[int, int], bytes], numbers: dict[tuple[int, int], float]) -> bytes:
    """A worksheet of Excel 2 without a code page."""
    records = [struct.pack("<HHHH", 9, 4, 2, 16)]
    for (row, column), text in texts.items():
        body = struct.pack("<HH3xB", row, column, len(text)) + text
        records.append(struct.pack("<HH", 4, len(body)) + body)
    for (row, column), number in numbers.items():
        records.append(struct.pack("<HHHH3xd", 3, 15, row, column, number))
    return b"".join([*records, struct.pack("<HH", 10, 0)])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Сальдо на начало".encode("cp1251"), "Сальдо на начало"),
        ("Übergröße, Crème brûlée".encode("cp1252"), "Übergröße, Crème brûlée"),
    ],
)
def test_texts_of_old_books_that_name_no_code_page_are_cyrillic_where_they_look_so(text, shown):
    """Books before Excel 97 have no Unicode, and many of them no word on their code page."""
    (grid,) = xls.read(biff2({(0, 0): text}, {(1, 1): -1922584.88}))
    assert [(row.number, row.cells[0][:2]) for row in grid.rows] == [
        (1, (0, shown)),
        (2, (1, -1922584.88)),
    ]
