"""XLS by the regular shape of its records: what xlrd would have read, record by record."""

from random import Random
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armka.osv.grid import Grid, RegularRow
from armka.services.tabular_parser import regular_biff, xls
from armka.services.tabular_parser.limits import Corrupt, Encrypted
from tests.books import xls as writer
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES


def told(data: bytes) -> str:
    """All that is read, or that it cannot be."""
    try:
        return repr([_told(grid) for grid in xls.read(data)])
    except (Corrupt, Encrypted) as error:
        return type(error).__name__


def _told(grid: Grid) -> tuple[object, ...]:
    rows = [(row.number, row.cells, row.level, row.hidden) for row in grid.rows]
    return grid.sheet, grid.hidden, grid.merges, grid.styles, rows


def by_xlrd(data: bytes) -> str:
    with patch.object(regular_biff.Reader, "read", return_value=None):
        return told(data)


class Books(list[bytes]):
    """What is told of a failure is about the damage, and not all the bytes."""

    def __repr__(self) -> str:
        """How many there are."""
        return f"{len(self)} books"


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """An outline, codes that are numbers, texts for amounts, hidden rows, whole roubles."""
    folder = tmp_path_factory.mktemp("books")
    layouts = [
        Layout(),
        Layout(combined=True, decorative=(1, 0, 2)),
        Layout(text_amounts="\u00a0", collapsed=True),
        Layout(money="#,##0", noise=1e-9),
    ]
    sheets = [[lay_out(make(Random(n), share=0.3), one)] for n, one in enumerate(layouts)]
    sheets += [[make_report(Random(5)).sheet(Dress())] for make_report in FAMILIES.values()]
    files = Books()
    for number, book in enumerate(sheets):
        writer.write(folder / f"{number}.xls", book)
        files.append((folder / f"{number}.xls").read_bytes())
    return files


def test_it_reads_what_xlrd_reads(books):
    for data in books:
        assert told(data) == by_xlrd(data) != "Corrupt"


def test_what_the_usual_writers_print_goes_the_quick_way(books):
    (grid,) = xls.read(books[0])
    assert sum(type(row) is RegularRow for row in grid.rows) > len(grid.rows) / 2


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    which=st.integers(0, 3),
    damage=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3
    ),
)
def test_after_any_damage_too(books, which, damage):
    """Where both read the file; one of them may refuse what the other never looks at."""
    changed = bytearray(books[which])
    for place, byte in damage:
        changed[int(place * len(changed))] = byte
    readings = {told(bytes(changed)), by_xlrd(bytes(changed))} - {"Corrupt"}
    assert len(readings) < 2, damage


def test_numbers_that_contradict_their_own_count_are_refused(books):
    """By the last column that such a record names xlrd goes, and loses the rest without a word."""
    at = books[0].index(b"\xbd\x00")
    while books[0][at + 2 : at + 4] != b"\x12\x00":
        at = books[0].index(b"\xbd\x00", at + 1)
    changed = bytearray(books[0])
    changed[at + 20] -= 1
    assert told(bytes(changed)) == "Corrupt"
