"""Every example passes its schema or, among the invalid ones, fails it for one reason."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from armka.contract import codec, message_ids, object_keys, schema_files
from armka.contract.codec import Address, address_of

EXAMPLES = Path(__file__).parents[2] / "docs/contracts/examples"
VALID = sorted(EXAMPLES.glob("*.json"))
INVALID = sorted((EXAMPLES / "invalid").glob("*.json"))
KINDS = {
    "request-": (schema_files.REQUEST, codec.decode_request),
    "result-message-": (schema_files.ENVELOPE, codec.decode_envelope),
    "result-file-": (schema_files.RESULT, codec.decode_result),
}


def kind_of(example: Path) -> Any:
    """The schema and the model that an example's name speaks of."""
    (kind,) = [kind for prefix, kind in KINDS.items() if example.name.startswith(prefix)]
    return kind


def errors(example: Path) -> list[Any]:
    schema = schema_files.load(kind_of(example)[0])
    validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    return list(validator.iter_errors(json.loads(example.read_text())))


def name_of(example: Path) -> str:
    return example.stem


@pytest.mark.parametrize("schema", [name for name, _ in KINDS.values()])
def test_a_schema_is_one(schema):
    loaded = schema_files.load(schema)

    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema_rs.meta.is_valid(loaded)


@pytest.mark.parametrize("example", VALID, ids=name_of)
def test_a_valid_example_passes_its_schema_and_its_model(example):
    assert errors(example) == []
    message = kind_of(example)[1](example.read_bytes())

    assert json.loads(codec.encode(message)) == json.loads(example.read_text())


@pytest.mark.parametrize("example", INVALID, ids=name_of)
def test_an_invalid_example_fails_for_one_reason(example):
    assert len(errors(example)) == 1, errors(example)
    with pytest.raises(codec.InvalidMessage):
        kind_of(example)[1](example.read_bytes())


@pytest.mark.parametrize("prefix", KINDS)
def test_there_are_examples_of_both_sorts(prefix):
    assert any(example.name.startswith(prefix) for example in VALID)
    assert any(example.name.startswith(prefix) for example in INVALID)


def test_the_examples_are_shipped():
    assert (schema_files.root() / "examples" / "request-tabular.json").is_file()


def test_a_past_deadline_passes_the_schema():
    """Whether it has passed is the service's business (spec C1)."""
    request = codec.decode_request((EXAMPLES / "request-image.json").read_bytes())

    assert request.deadline < datetime.now(UTC)


@pytest.mark.parametrize(
    "example", [it for it in VALID if it.name.startswith("result-file")], ids=name_of
)
def test_a_result_file_makes_sense_beyond_its_schema(example):
    assert list(codec.decode_result(example.read_bytes()).problems()) == []


@pytest.mark.parametrize(
    "example", [it for it in VALID if it.name.startswith("result-message")], ids=name_of
)
def test_an_envelope_points_where_the_contract_says(example):
    envelope = codec.decode_envelope(example.read_bytes())

    if envelope.result_s3 is not None:
        assert envelope.result_s3.key == object_keys.result(envelope.file_id, envelope.job_id)
    if envelope.raw_s3_key is not None:
        assert envelope.raw_s3_key == object_keys.raw(envelope.job_id)


ID = "3f2c8a54-6a0e-4d0b-9f0e-2b6f4f1d7c11"


@pytest.mark.parametrize(
    ("attempt", "read"),
    [(1, 1), (10**12, 10**12), (0, None), (-1, None), (True, None), ("1", None), (None, None)],
)
def test_the_address_of_an_invalid_request(attempt, read):
    body = json.dumps({"job_id": ID.upper(), "file_id": ID, "attempt": attempt}).encode()

    address = address_of(body)
    assert address is not None
    assert isinstance(address, Address)
    assert (str(address.job_id), str(address.file_id), address.attempt) == (ID, ID, read)


@pytest.mark.parametrize(
    ("msg_id", "attempt"),
    [
        (f"{ID}:1", 1),
        (f"{ID}:42", 42),
        (f"{ID}:0", None),
        (f"{ID}:01", None),
        (f"{ID}:", None),
        (f"{ID}", None),
        (f"ack:{ID}:1", None),
        ("x:1", None),
        ("", None),
        (None, None),
    ],
)
def test_the_attempt_that_a_message_id_names(msg_id, attempt):
    assert message_ids.attempt_of_request(msg_id) == attempt
