"""The models say what the schemas say.

Known differences, none of which a sender of ours makes:

- JSON Schema counts 1.0 as an integer, the models do not. (`confidence` and `boxes` are numbers.)
- A leap second is read as the second before it; the schema's validator wants it at 23:59:60 UTC.
- Python knows no year 0000.
"""

import json
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from armka.contract import codec, schema_files
from tests.contract.generated import cases, leaves

PAIRS = [
    (schema_files.REQUEST, codec.decode_request),
    (schema_files.ENVELOPE, codec.decode_envelope),
    (schema_files.RESULT, codec.decode_result),
]
NAMES = ["request", "envelope", "result"]


def validator(name: str) -> Any:
    return jsonschema_rs.validator_for(schema_files.load(name), validate_formats=True)


def accepts(decode: Any, value: Any) -> bool:
    try:
        decode(json.dumps(value).encode())
    except codec.InvalidMessage:
        return False
    return True


def is_a_known_difference(value: Any) -> bool:
    """Integral floats are not generated where an integer stands."""
    texts = [leaf for leaf in leaves(value) if isinstance(leaf, str)]
    return any(text.startswith("0000-") or ":60" in text for text in texts)


@pytest.mark.parametrize(("name", "decode"), PAIRS, ids=NAMES)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_model_accepts_what_its_schema_accepts_and_nothing_else(name, decode, data):
    schema = validator(name)
    value = data.draw(cases(schema_files.load(name)))
    if is_a_known_difference(value):
        return

    valid = schema.is_valid(value)
    event(f"valid: {valid}")

    assert accepts(decode, value) == valid, list(schema.iter_errors(value))


@pytest.mark.parametrize(("name", "decode"), PAIRS, ids=NAMES)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_a_model_writes_passes_its_schema_and_reads_the_same(name, decode, data):
    value = data.draw(cases(schema_files.load(name)))
    if not accepts(decode, value):
        return
    message = decode(json.dumps(value).encode())

    written = codec.encode(message)

    validator(name).validate(msgspec.json.decode(written))
    assert decode(written) == message


@pytest.mark.parametrize(
    ("change", "by_schema", "by_model"),
    [
        ({"attempt": 1.0}, True, False),
        ({"reply_deadline": "2026-12-31T23:59:60Z"}, True, True),
        ({"reply_deadline": "2026-12-31T12:00:60Z"}, False, True),
        ({"reply_deadline": "0000-01-01T00:00:00Z"}, True, False),
    ],
)
def test_the_known_differences_are_these(change, by_schema, by_model):
    """Should one of them go, it leaves the list above."""
    name, decode = PAIRS[0]
    request = json.loads((schema_files.root() / "examples/request-tabular.json").read_text())

    assert validator(name).is_valid(request | change) == by_schema
    assert accepts(decode, request | change) == by_model
