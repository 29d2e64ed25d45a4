from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.contract.fields import format_instant, parse_instant


@given(st.datetimes(timezones=st.timezones()))
def test_an_instant_is_written_in_utc_and_read_again(moment):
    try:
        expected = moment.astimezone(UTC)
    except OverflowError:
        return

    assert format_instant(moment).endswith("Z")
    assert parse_instant(format_instant(moment)) == expected


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30T10:00:00+03:00", datetime(2026, 11, 30, 7, tzinfo=UTC)),
        ("2026-11-30t10:00:00.5z", datetime(2026, 11, 30, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("0001-01-01T00:00:00+03:00", datetime.min.replace(tzinfo=UTC)),
        ("9999-12-31T23:59:59-03:00", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_every_instant_of_the_schema_is_read(text, moment):
    assert parse_instant(text) == moment
