"""Every family of reports through files of every format: what was written is what is read."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.books.recognised import WRITERS, through
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES
from tests.osv.read_lines import lines_of
from tests.osv.test_families import EXPECTED, dresses

EACH = pytest.mark.parametrize("family", FAMILIES)


@EACH
@pytest.mark.parametrize("file_type", WRITERS)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), dress=dresses)
def test_what_was_written_is_read(tmp_path, family, file_type, seed, dress: Dress):
    report = FAMILIES[family](Random(seed))
    recognition = through(tmp_path, file_type, report.sheet(dress))
    (document,) = recognition.documents
    assert lines_of(document) == report.lines()
    assert document.group_schema == report.family
    assert [check.rule for check in document.checks] == EXPECTED.get(family, [])
    assert recognition.needs_check == (family in EXPECTED)
