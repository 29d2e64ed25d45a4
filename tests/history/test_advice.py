"""Every error that a document can end in has its advice."""

import re
from pathlib import Path

from armka.contract.vocabulary import ErrorCode
from armka.core.history.advice import ADVICE, Retry, advice_for

CORE = Path(__file__).parents[2] / "src/armka/core"
# What the core itself writes into `error_code`, as a literal of a statement.
WRITTEN = re.compile(r"error_code = '([A-Z_]+)'|'ERROR',\s*'([A-Z_]+)'")


def test_no_code_is_without_advice_and_none_is_advised_in_vain() -> None:
    """The contract's codes, and those that the core's statements write."""
    told = {code.value for code in ErrorCode}
    for path in CORE.rglob("queries.sql"):
        told |= {one or two for one, two in WRITTEN.findall(path.read_text())}
    assert {"NO_ACK", "POISON_MESSAGE", "INVALID_RESULT"} < told
    assert set(ADVICE) == told


def test_an_advice_says_what_happened_and_what_to_do() -> None:
    """In sentences; and it says "again" exactly where that makes sense now or later."""
    for code, advice in ADVICE.items():
        assert advice.what.endswith("."), code
        assert advice.next.endswith("."), code
        is_useful = (
            "ecognise it again" in advice.next or "ecognise the document again" in advice.next
        )
        assert is_useful == (advice.retry is Retry.NOW or code == "NO_ACK"), code
    assert advice_for("WHAT_NOBODY_KNOWS") is ADVICE["UNKNOWN_ERROR"]


def test_the_page_of_failures_says_the_same() -> None:
    """The table for people who have no console before them."""
    page = (CORE.parents[2] / "docs/concepts/failures.md").read_text()
    for code, advice in ADVICE.items():
        assert f"| `{code}` | {advice.what} | {advice.next} | {advice.retry} |" in page
