"""What opens in Excel under `.xls` and is no Excel file is read as exactly: HTML, XML, CSV."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest

from armka.contract.vocabulary import ErrorCode, FileType
from armka.osv.grid import CellError, Grid, Merge, Style
from armka.sdk.handler import Recognition, Refused
from armka.services.tabular_parser import delimited_text, html_table, limits, spreadsheet_ml
from armka.services.tabular_parser.limits import Corrupt, TooLarge
from armka.services.tabular_parser.recognise import recognise
from tests.books import delimited, html
from tests.books import spreadsheet_ml as write_ml
from tests.books.layouts import MONEY, Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import lines, source_of, texts, total, truth
from tests.books.sheets import Look, Sheet

DRESSES: dict[str, Callable[[Path, list[Sheet]], None]] = {
    "HTML of 1С": html.write,
    "HTML of 1С, cp1251": partial(html.write, encoding="cp1251"),
    "HTML of Excel": partial(html.write, like_excel=True),
    "SpreadsheetML": write_ml.write,
    "SpreadsheetML, cp1251": partial(write_ml.write, encoding="windows-1251"),
    "SpreadsheetML, UTF-16": partial(write_ml.write, encoding="utf-16"),
    "CSV, cp1251": delimited.write,
    "CSV, cp866": partial(delimited.write, encoding="cp866"),
    "CSV, KOI8-R": partial(delimited.write, encoding="koi8-r"),
    "CSV, UTF-8 with BOM": partial(delimited.write, encoding="utf-8-sig"),
    "CSV, UTF-16, tabs": partial(delimited.write, encoding="utf-16", delimiter="\t"),
    "CSV, commas": partial(delimited.write, delimiter=",", encoding="utf-8"),
}


def read_as_xls(path: Path, data: bytes) -> Recognition:
    path.write_bytes(data)
    return recognise(source_of(path, FileType.XLS))


def refused(path: Path, data: bytes) -> Refused:
    with pytest.raises(Refused) as caught:
        read_as_xls(path, data)
    return caught.value


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize(
    "layout",
    [
        Layout(),
        Layout(combined=True, first_column=1, decorative=(1, 0, 2, 0, 1)),
        Layout(text_amounts="\u00a0", page_break_after=5, numeric_codes=False),
    ],
)
def test_what_was_written_is_read(tmp_path, dress, layout):
    ledger = make(Random(5), share=0.4, off_balance=True)
    path = tmp_path / "book.xls"
    DRESSES[dress](path, [lay_out(ledger, layout)])
    recognition = recognise(source_of(path))
    (document,) = recognition.documents
    assert lines(document) == truth(ledger)
    assert total(document) == texts(ledger.total)
    assert not recognition.needs_check


def the_grid(read: Callable[[bytes], Iterator[Grid]], data: bytes | str) -> Grid:
    grids = list(read(data if isinstance(data, bytes) else data.encode()))
    assert len(grids) == 1
    return grids[0]


@pytest.mark.parametrize("dress", ["HTML of Excel", "SpreadsheetML"])
def test_looks_merges_outline_and_hidden_rows_come_along(tmp_path, dress):
    sheet = Sheet()
    sheet.put(0, 0, "Заголовок", Look(bold=True))
    sheet.merge(0, 0, 0, 2)
    sheet.put(1, 0, 20, Look('0".Н"', indent=2))
    sheet.put(1, 2, -1922584.88, Look(MONEY, italic=True))
    sheet.put(2, 1, "скрыто")
    sheet.put(3, 1, "вглубь")
    sheet.hidden_rows.add(2)
    sheet.levels[3] = 2
    path = tmp_path / "book.xls"
    DRESSES[dress](path, [sheet])
    read = html_table.read if "HTML" in dress else spreadsheet_ml.read
    grid = the_grid(read, path.read_bytes())
    seen = {
        (row.number, column): (value, grid.styles[style])
        for row in grid.rows
        for column, value, style in row.cells
    }
    assert seen == {
        (1, 0): ("Заголовок", Style(bold=True)),
        (2, 0): (20.0, Style('0".Н"', indent=2)),
        (2, 2): (-1922584.88, Style(MONEY, italic=True)),
        (3, 1): ("скрыто", Style()),
        (4, 1): ("вглубь", Style()),
    }
    assert grid.merges == [Merge(1, 1, 0, 2)]
    assert [row.number for row in grid.rows if row.hidden] == [3]
    if dress != "SpreadsheetML":  # which knows no outline
        assert [row.level for row in grid.rows] == [0, 0, 0, 2]


def test_cells_of_a_page_stand_where_the_page_shows_them():
    page = (
        "<p>Над<br>таблицей</p><table><tr><td rowspan=2>A1<td colspan=2>B1<td>D1"
        "<tr><td>B2<td rowspan=3 colspan=2>C2<tr><td>A3<table><tr><td>вложено</table>дальше<td>B3"
        "</table>"
    )
    grid = the_grid(html_table.read, page)
    assert [(row.number, [cell[:2] for cell in row.cells]) for row in grid.rows] == [
        (1, [(0, "Над")]),
        (2, [(0, "таблицей")]),
        (3, [(0, "A1"), (1, "B1"), (3, "D1")]),
        (4, [(1, "B2"), (2, "C2")]),
        (5, [(0, "A3 дальше"), (1, "B3")]),
        (6, [(0, "вложено")]),
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('<td x:num="-1922584.88">(1 922 585)', -1922584.88),
        ('<td sdval="83173.72" sdnum="1049;0;# ##0,00">83 173,72', 83173.72),
        ('<td data-t="n" data-v="5" data-z="0.00">5,00', 5.0),
        ('<td data-t="s" data-v="60.01">60.01', "60.01"),
        ("<td x:num>1 234,56", "1 234,56"),
        ('<td x:num="1_000">1 000', CellError("1_000")),
        ("<td>\u22121\u00a0234,56\r\n", "\u22121\u00a0234,56"),
        ("<td><script>7</script>5", "5"),
        ("<td>5<!-- 7 -->", "5"),
    ],
)
def test_a_number_beside_the_text_is_the_stored_value(cell, value):
    grid = the_grid(html_table.read, f"<table><tr>{cell}</table>")
    assert [cell[1] for row in grid.rows for cell in row.cells] == [value]


@pytest.mark.parametrize(
    ("cell", "number_format"),
    [
        ("<td sdval=20 sdnum='1033;0;0&quot;.Н&quot;'>20.Н", '0".Н"'),
        ("<td sdval=20 sdnum='1033;'>20", "General"),
        ("<td data-t=n data-v=20 data-z='0\\.\"Н\"'>20.Н", '0\\."Н"'),
        ("<td x:num=20 style='mso-number-format:\"0\\0022\\.Н\\0022\"'>20.Н", '0".Н"'),
        ("<td x:num=5 style='mso-number-format:Standard'>5,00", "#,##0.00"),
        ("<td x:num=5 style='mso-number-format:\"0\\.00\\;\\[Red\\]0\\.00\"'>5", "0.00;[Red]0.00"),
    ],
)
def test_the_number_format_of_a_page_is_what_its_writer_meant(cell, number_format):
    grid = the_grid(html_table.read, f"<table><tr>{cell}</table>")
    assert grid.styles[grid.rows[0].cells[0][2]].number_format == number_format


@pytest.mark.parametrize(
    "cell",
    [
        "<td style='color:red'>5",
        "<td><font color='#FF0000'>5</font>",
        "<td class=xl65>5",
        "<td><span style='color: #f00000'>5</span>",
    ],
)
def test_red_is_seen(cell):
    page = f"<style>.xl24, .xl65 {{color:red;}}</style><table><tr>{cell}</table>"
    grid = the_grid(html_table.read, page)
    assert grid.styles[grid.rows[0].cells[0][2]].red


def test_white_space_of_any_kind_alone_is_an_empty_cell():
    grid = the_grid(html_table.read, "<table><tr><td>&nbsp;<td> \r\n<td><br>&nbsp; <tr><td>")
    assert grid.rows == []


@pytest.mark.parametrize(
    "page",
    [
        "<table><tr>" + "<td colspan=1000>x" * 17,
        "<table>" + "<tr><td colspan=1000 rowspan=3>x" * 101,
        "<table>" + "<tr><td>x" * 1001,
    ],
)
def test_a_page_larger_than_any_sheet_is_refused(monkeypatch, page):
    monkeypatch.setattr(limits, "MAX_CELLS", 100_000)
    monkeypatch.setattr(html_table, "MAX_ROW", 1000)
    with pytest.raises(TooLarge):
        the_grid(html_table.read, page)


def test_a_page_asks_for_nothing_outside(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("секрет", encoding="utf-8")
    page = (
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}">]><html>'
        '<link rel=stylesheet href="http://127.0.0.1:9/x.css"><table><tr><td>&x;</table></html>'
    )
    grid = the_grid(html_table.read, page)
    assert "секрет" not in repr(grid.rows)


def test_spreadsheet_ml_takes_no_document_type(tmp_path):
    sheet = Sheet()
    sheet.put(0, 0, "x")
    path = tmp_path / "book.xls"
    write_ml.write(path, [sheet])
    data = path.read_bytes().replace(b"<Workbook", b'<!DOCTYPE a [<!ENTITY a "aaa">]><Workbook')
    assert refused(path, data).code is ErrorCode.UNREADABLE


def test_hidden_sheets_and_several_documents_of_spreadsheet_ml(tmp_path):
    sheets = [lay_out(make(Random(n), share=0.2), Layout(), f"Лист{n}") for n in range(3)]
    sheets[1].hidden = True
    path = tmp_path / "book.xls"
    write_ml.write(path, sheets)
    recognition = recognise(source_of(path))
    assert [document.source.sheet for document in recognition.documents] == ["Лист0", "Лист2"]
    assert recognition.warnings == ["Лист «Лист1» скрыт и не прочитан"]


@pytest.mark.parametrize(
    "row",
    [
        '<Row ss:Index="1048577">',
        '<Row><Cell ss:Index="16385">',
        '<Row><Cell ss:MergeAcross="99999">',
    ],
)
def test_cells_outside_of_any_sheet(row):
    book = (
        "<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' "
        "xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><Worksheet><Table>"
        f"{row}{'</Cell>' if 'Cell' in row else ''}</Row></Table></Worksheet></Workbook>"
    )
    with pytest.raises(Corrupt):
        the_grid(spreadsheet_ml.read, book)


def test_styles_whose_parents_go_in_a_circle():
    book = (
        "<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' "
        "xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><Styles>"
        "<Style ss:ID='a' ss:Parent='b'/><Style ss:ID='b' ss:Parent='a'><Font ss:Bold='1'/></Style>"
        "</Styles><Worksheet><Table><Row><Cell ss:StyleID='a'><Data ss:Type='Error'>#REF!</Data>"
        "</Cell></Row></Table></Worksheet></Workbook>"
    )
    grid = the_grid(spreadsheet_ml.read, book)
    assert grid.rows[0].cells[0][1] == CellError("#REF!")
    assert grid.styles[grid.rows[0].cells[0][2]] == Style(bold=True)


def test_the_delimiter_that_a_text_declares_is_taken():
    grid = the_grid(delimited_text.read, "sep=|\r\nСчет|1;2|3;4\r\n60|5;6|7;8\r\n")
    assert [[cell[1] for cell in row.cells] for row in grid.rows] == [
        ["Счет", "1;2", "3;4"],
        ["60", "5;6", "7;8"],
    ]


def test_a_decimal_comma_between_commas_is_refused_and_not_read_as_two_amounts(tmp_path):
    text = "Счет,Дебет,Кредит\n60,1,2\n62,1,2\n70,1234,56,2\n"
    outcome = refused(tmp_path / "book.xls", text.encode())
    assert outcome.code is ErrorCode.UNREADABLE
    assert "строке 4" in outcome.message


def test_a_text_without_columns_is_called_a_text(tmp_path):
    outcome = refused(tmp_path / "book.xls", "Просто письмо.\nБез таблиц.\n".encode())
    assert outcome.code is ErrorCode.INVALID_FORMAT
    assert "текстовый файл" in outcome.message


@pytest.mark.parametrize("file_type", [FileType.XLSX, FileType.XLSB])
def test_only_the_name_of_an_xls_covers_another_dress(tmp_path, file_type):
    path = tmp_path / "book.bin"
    html.write(path, [lay_out(make(Random(1)), Layout())])
    with pytest.raises(Refused) as caught:
        recognise(source_of(path, file_type))
    assert caught.value.code is ErrorCode.INVALID_FORMAT
    assert "HTML" in caught.value.message
