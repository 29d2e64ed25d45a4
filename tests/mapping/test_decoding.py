"""Decoding line by line accepts, refuses and yields what decoding the whole does."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.contract import codec
from armka.contract.codec import InvalidMessage
from armka.contract.result import Line, ResultFile
from armka.core.mapping import decoding
from tests.mapping.results import check, document, line, result

CONTRACTS = Path(__file__).parents[2] / "docs" / "contracts"
EXAMPLES = sorted((CONTRACTS / "examples").glob("**/*result-file*.json"))


def _whole(body: bytes) -> ResultFile | None:
    try:
        return codec.decode_result(body)
    except InvalidMessage:
        return None


def _pieces(body: bytes) -> ResultFile | None:
    try:
        return decoding.decode(body)
    except InvalidMessage:
        return None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_of_the_contract_are_judged_alike(path: Path) -> None:
    """Valid ones and invalid ones."""
    body = path.read_bytes()
    assert _pieces(body) == _whole(body)


def test_there_are_examples_of_both_kinds() -> None:
    """Else the test above proves nothing."""
    assert {_whole(path.read_bytes()) is None for path in EXAMPLES} == {True, False}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.floats(-2, 2) | st.sampled_from(
        ["", "1", "-0.5", "account", "opening_debit", "error", "R1", "2023-01-01", "\0", "1.0"]
    ),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)  # fmt: skip
_LINE_FIELDS = st.sampled_from([field.name for field in msgspec.structs.fields(Line)])
_PLACES = st.sampled_from(
    [(), ("documents",), ("documents", 0), ("documents", 0, "lines"), ("documents", 0, "lines", 0)]
)


@given(place=_PLACES, name=_LINE_FIELDS | st.sampled_from(["title", "unit", "checks", "source"]),
       value=_JSON, drop=st.booleans())  # fmt: skip
def test_a_file_spoiled_anywhere_is_judged_alike(
    place: tuple[str | int, ...], name: str, value: Any, *, drop: bool
) -> None:
    """A field dropped, or with another value, on every level."""
    unknown = [{"column": "closing_credit", "raw": "?"}]
    lines = [line(1), line(2, parent=1, unknown=unknown, values=[None] * 6)]
    made: Any = result(
        uuid4(), uuid4(), {"documents": [document(lines=lines, checks=[check("error")])]}
    )
    inner = made
    for step in place:
        inner = inner[step]
    if isinstance(inner, list):
        inner.append(value)
    elif drop:
        inner.pop(name, None)
    else:
        inner[name] = value
    body = json.dumps(made).encode()
    assert _pieces(body) == _whole(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"\xff", id="no text"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"documents": [{"lines": [' + b"[" * 100_000, id="deep lines"),
    ],
)
def test_what_is_no_json_object_is_invalid(body: bytes) -> None:
    """Also what is nested without end."""
    assert _pieces(body) is None


def test_the_reason_says_which_line() -> None:
    """For whoever wrote the service."""
    bad = [line(1), line(2, level="high")]
    made = result(uuid4(), uuid4(), {"documents": [document(), document(lines=bad)]})
    with pytest.raises(InvalidMessage, match=r"level.*documents\[1\]\.lines\[1\]"):
        decoding.decode(json.dumps(made).encode())
