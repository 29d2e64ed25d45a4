from pathlib import Path

import pytest
from service import SERVICE

from armka.contract.vocabulary import ErrorCode
from armka.sdk import Refused
from armka.sdk.testing import recognised

FOLDER = Path(__file__).parent


def test_a_trial_balance_is_read():
    """The result file is what the core would get: checked against its schema."""
    result = recognised(SERVICE, FOLDER / "оборотка.xls")
    assert [line.account for line in result.documents[0].lines] == ["51", "60", "80"]


def test_what_is_no_text_is_refused(tmp_path):
    """A person is told what to do."""
    path = tmp_path / "noise.xls"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(Refused) as refused:
        recognised(SERVICE, path)
    assert refused.value.code is ErrorCode.UNREADABLE
