"""The quick way through a sheet gives what the thorough one gives, or steps back."""

import io
import zipfile
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armka.osv.grid import LooseRow, Merge, Value
from armka.services.tabular_parser import regular_xml
from armka.services.tabular_parser.limits import CellCount, Corrupt, TooLarge
from armka.services.tabular_parser.sheet_xml import SheetXml
from tests.books import xlsx
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make

STRINGS = ["Счет", "Дебет", "a & b"]
_HEAD = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
Read = tuple[list[LooseRow], list[Merge]]


def quickly(data: bytes) -> Read | None:
    sheet = SheetXml(STRINGS, 3, CellCount())
    return told(sheet) if regular_xml.read(data, sheet, CellCount()) else None


def thoroughly(data: bytes) -> Read:
    sheet = SheetXml(STRINGS, 3, CellCount())
    sheet.parse(data)
    return told(sheet)


def told(sheet: SheetXml) -> Read:
    """Rows of whatever kind, alike."""
    rows = [LooseRow(row.number, row.cells, row.level, row.hidden) for row in sheet.rows]
    return rows, sheet.merges


def sheet_of(rows: str, *, head: str = _HEAD, tail: str = "") -> bytes:
    return f"{head}<sheetData>{rows}</sheetData>{tail}</worksheet>".encode()


def values(read: Read | None) -> list[Value]:
    assert read is not None
    return [cell[1] for row in read[0] for cell in row.cells]


PIECES = [
    '<row r="{r}">',
    '<row r="{r}" spans="1:3" outlineLevel="2" hidden="1">',
    '<row r="{r}" ht="15" customHeight="true"/>',
    "</row>",
    "\r\n\t\t",
    '<c r="A{r}"><v>1.5</v></c>',
    '<c r="B{r}" s="1" t="s"><v>1</v></c>',
    '<c r="B{r}" s="9" t="s">\r\n\t<v>2</v>\r\n</c>',
    '<c r="C{r}" s="2" t="e"/>',
    '<c r="C{r}" t="e"><v>#REF!</v></c>',
    '<c r="D{r}" t="b"><v>1</v></c>',
    '<c r="E{r}" t="str"><f>A1&amp;""</f><v>a &lt; &#1073;_x000D_</v></c>',
    '<c r="F{r}"><f>SUM(A1)</f></c>',
    '<c r="F{r}"><f t="shared" si="0"/><v>12345678901234567.89</v></c>',
    '<c r="G{r}" t="inlineStr"><is><t xml:space="preserve"> Итого </t></is></c>',
    '<c r="G{r}" t="inlineStr"><is><r><t>И</t></r><r><t>того</t></r></is></c>',
    '<c r="H{r}" t="n"></c>',
    '<c r="H{r}"><v/></c>',
    '<c r="H{r}"><v>1_000</v></c>',
    '<c r="H{r}"><v>1e999</v></c>',
    '<c r="H{r}"><v>1-2</v></c>',
    '<c r="I{r}" t="s"><v>-1</v></c>',
    '<c r="I{r}" t="s"><v>77</v></c>',
    '<c r="J9"><v>3</v></c>',
    "<c><v>4</v></c>",
    '<c s="1" r="K{r}"><v>5</v></c>',
    '<c r="XFE{r}"><v>6</v></c>',
    '<c r="L{r}"><v>7</v><is><t>8</t></is></c>',
    "<!-- <c r='A1'><v>9</v></c> -->",
    "<![CDATA[<v>]]>",
    "&nbsp;",
    "<v>10</v>",
    "]]>",
]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.lists(st.sampled_from(PIECES), max_size=6), max_size=4))
def test_both_ways_give_the_same_or_the_quick_one_steps_back(rows):
    text = "".join(
        f'<row r="{n}">{"".join(row)}</row>'.replace("{r}", str(n)) for n, row in enumerate(rows, 1)
    )
    data = sheet_of(text, tail='<mergeCells><mergeCell ref="A1:C2"/></mergeCells>')
    try:
        quick = quickly(data)
    except Corrupt:
        with pytest.raises(Corrupt):
            thoroughly(data)
        return
    if quick is not None:
        assert quick == thoroughly(data)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=3)
)
def test_after_any_damage_too(written, damage):
    changed = bytearray(written)
    for place, byte in damage:
        changed[int(place * len(changed))] = byte
    try:
        quick = quickly(bytes(changed))
    except Corrupt:
        with pytest.raises(Corrupt):
            thoroughly(bytes(changed))
        return
    if quick is not None:
        assert quick == thoroughly(bytes(changed))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A short sheet as XlsxWriter writes it, its texts among the first three."""
    path = tmp_path_factory.mktemp("book") / "book.xlsx"
    xlsx.write(path, [lay_out(make(Random(3), share=0.05), Layout(text_amounts=None))])
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as source:
        data = source.read("xl/worksheets/sheet1.xml")
    for index in range(1000, 2, -1):
        data = data.replace(b't="s"><v>%d</v>' % index, b't="s"><v>2</v>')
    return data


def test_what_the_usual_writers_print_goes_the_quick_way(written):
    assert quickly(written) == thoroughly(written)


@pytest.mark.parametrize("encoding", ["utf-8", "us-ascii"])
def test_1c_prints_a_mark_a_declaration_and_white_space(encoding):
    rows = (
        '\r\n\t\t<row r="1" ht="15">\r\n\t\t\t<c r="B1" s="1" t="s">\r\n\t\t\t\t<v>0</v>\r\n\t\t\t'
        '</c>\r\n\t\t\t<c r="C1" s="2" t="e"/>\r\n\t\t</row>\r\n\t'
    )
    head = f'<?xml version="1.0" encoding="{encoding}" standalone="yes"?>\r\n{_HEAD}\r\n\t'
    data = b"\xef\xbb\xbf" + sheet_of(rows, head=head)
    assert values(quickly(data)) == ["Счет"]


@pytest.mark.parametrize(
    "data",
    [
        sheet_of('<row r="1"><c r="A1"><v>1</v></c></row>', head=_HEAD + "<!-- <sheetData> -->"),
        sheet_of('<row r="1"/>', head='<?xml version="1.0" encoding="windows-1251"?>' + _HEAD),
        sheet_of('<row r="1" r="2"/>'),
        sheet_of('<row r="1"><c r="A1"><v>1</v></c></row>').replace(b"worksheet", b"chartsheet"),
        sheet_of('<row r="1"><c r="A2"><v>1</v></c></row>'),
    ],
)
def test_any_other_shape_is_left_to_the_thorough_way(data):
    assert quickly(data) is None


def test_cells_are_counted_once_also_where_the_quick_way_steps_back():
    count = CellCount()
    data = sheet_of('<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c><v>1</v></c></row>')
    assert not regular_xml.read(data, SheetXml([], 1, count), count)
    assert count.cells == 0


def test_the_limit_of_cells_holds_on_the_quick_way(monkeypatch):
    monkeypatch.setattr("armka.services.tabular_parser.limits.MAX_CELLS", 1)
    data = sheet_of('<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>1</v></c></row>')
    with pytest.raises(TooLarge):
        quickly(data)


def test_two_rows_of_one_number_are_refused_either_way():
    data = sheet_of(
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="1"><c r="A1"><v>2</v></c></row>'
    )
    for way in (quickly, thoroughly):
        with pytest.raises(Corrupt, match="дважды"):
            way(data)


@pytest.mark.parametrize(
    ("table", "strings"),
    [
        ("<sst><si><t>a &amp; b</t></si><si><t/></si></sst>", ["a & b", ""]),
        ("<sst>\r\n<si>\r\n<t xml:space='preserve'>a</t></si></sst>", None),
        ("<sst><si><r><t>a</t></r></si></sst>", None),
        ("<sst><si><t>a</t><rPh><t>b</t></rPh></si></sst>", None),
        ("<sst><!-- --><si><t>a</t></si></sst>", None),
    ],
)
def test_shared_strings_of_the_usual_shape(table, strings):
    assert regular_xml.strings(table.encode()) == strings
