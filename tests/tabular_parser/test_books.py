"""What a generator wrote is what the service reads, in all three formats: parse(write(book)) ==
book.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armka.contract.vocabulary import FileType
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import make
from tests.books.recognised import WRITERS, lines, texts, through, total, truth

FORMATS = list(WRITERS)
PER_FORMAT = pytest.mark.parametrize("file_type", FORMATS)

layouts = st.builds(
    Layout,
    combined=st.booleans(),
    first_column=st.integers(0, 3),
    above=st.integers(0, 4),
    decorative=st.lists(st.integers(0, 2), max_size=6).map(tuple),
    numeric_codes=st.booleans(),
    text_amounts=st.sampled_from([None, None, "", " ", "\u00a0", "\u202f"]),
    outline=st.booleans(),
    outline_indent=st.booleans(),
    collapsed=st.booleans(),
    numbered_columns=st.booleans(),
    signatures=st.booleans(),
    page_break_after=st.sampled_from([None, 3, 20]),
)
ledgers = st.builds(
    lambda seed, share, **options: make(Random(seed), share=share, **options),
    st.integers(0, 2**32),
    st.floats(0.05, 1),
    subaccounts=st.booleans(),
    expanded=st.booleans(),
    off_balance=st.booleans(),
    largest=st.sampled_from([10**6, 10**11, 10**14]),
)


@PER_FORMAT
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(ledger=ledgers, layout=layouts)
def test_what_was_written_is_read(tmp_path, file_type, ledger, layout):
    recognition = through(tmp_path, file_type, lay_out(ledger, layout))
    (document,) = recognition.documents
    assert lines(document) == truth(ledger)
    assert total(document) == texts(ledger.total)
    assert document.organisation is not None
    assert document.organisation.name == ledger.organisation
    assert document.period is not None
    assert (document.period.from_, document.period.to) == ledger.dates
    assert document.checks == []
    assert not recognition.needs_check


@PER_FORMAT
def test_every_sheet_with_a_trial_balance_is_a_document(tmp_path, file_type):
    books = [make(Random(seed), share=0.3) for seed in range(3)]
    sheets = [lay_out(book, Layout(), f"Лист_{n}") for n, book in enumerate(books)]
    sheets[1].cells = {(0, 0): sheets[1].cells[0, 0]}
    recognition = through(tmp_path, file_type, *sheets)
    assert [document.source.sheet for document in recognition.documents] == ["Лист_0", "Лист_2"]
    assert [lines(document) for document in recognition.documents] == [
        truth(books[0]),
        truth(books[2]),
    ]
    assert ["Лист_1" in warning for warning in recognition.warnings] == [True]


@PER_FORMAT
def test_a_hidden_sheet_is_told_and_not_read(tmp_path, file_type):
    sheets = [lay_out(make(Random(1)), Layout(), name) for name in ("Видимый", "Черновик")]
    sheets[1].hidden = True
    recognition = through(tmp_path, file_type, *sheets)
    assert [document.source.sheet for document in recognition.documents] == ["Видимый"]
    assert recognition.warnings == ["Лист «Черновик» скрыт и не прочитан"]


@PER_FORMAT
def test_an_unbalanced_book_needs_a_check(tmp_path, file_type):
    book = make(Random(1))
    book.total = (book.total[0] + 100_000, *book.total[1:])
    recognition = through(tmp_path, file_type, lay_out(book, Layout()))
    assert recognition.needs_check
    assert {check.rule for check in recognition.documents[0].checks} == {"R1", "R4", "R5"}


@PER_FORMAT
def test_an_unreadable_amount_needs_a_check(tmp_path, file_type):
    book = make(Random(1))
    sheet = lay_out(book, Layout())
    place = next(
        place
        for place, (value, look) in sheet.cells.items()
        if look.number_format != "General" and place[1] > 1
    )
    sheet.put(*place, "12З,45")
    recognition = through(tmp_path, file_type, sheet)
    assert recognition.needs_check
    unknown = [cell.raw for line in recognition.documents[0].lines for cell in line.unknown]
    assert unknown == ["12З,45"]


def test_the_metrics_say_how_much_was_read(tmp_path):
    book = make(Random(1))
    metrics = through(tmp_path, FileType.XLSX, lay_out(book, Layout())).metrics
    assert metrics["documents"] == 1
    assert metrics["lines"] == len(book.accounts) + 1
