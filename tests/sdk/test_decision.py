"""What to do with a request, for any request: against the schema itself and the words of C4."""

import json
from typing import Any
from uuid import UUID

import jsonschema_rs
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from armka.contract import schema_files
from armka.contract.vocabulary import Pipeline
from armka.sdk.decision import AckAgain, Drop, Mismatch, Process, decide
from armka.sdk.service import MissingAttempt
from tests.contract.generated import cases, leaves

SCHEMA = schema_files.load(schema_files.REQUEST)
VALIDATOR = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)
IDS = jsonschema_rs.validator_for({"type": "string", "format": "uuid"}, validate_formats=True)

KNOWN = [UUID(int=n) for n in range(1, 5)]
MSG_IDS = [None, "", "x", f"{KNOWN[0]}:7", f"{KNOWN[0]}:0", "result:x:1"]


@st.composite
def requests(draw: st.DrawFn) -> Any:
    """Valid and broken ones, half of them for a job that is known."""
    value = draw(cases(SCHEMA))
    if isinstance(value, dict) and IDS.is_valid(value.get("job_id")) and draw(st.booleans()):
        value["job_id"] = str(draw(st.sampled_from(KNOWN)))
    return value


@given(
    request=requests(),
    msg_id=st.sampled_from(MSG_IDS),
    missing=st.sampled_from(MissingAttempt),
    pipeline=st.sampled_from(Pipeline),
)
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_request_is_met_as_c4_says(request, msg_id, missing, pipeline):
    if any(
        isinstance(it, str) and (it.startswith("0000-") or ":60" in it) for it in leaves(request)
    ):
        return  # the known differences between Python's instants and RFC 3339's
    headers = {} if msg_id is None else {"Nats-Msg-Id": msg_id}

    decision = decide(json.dumps(request).encode(), headers, set(KNOWN), pipeline, missing)

    event(type(decision).__name__)
    assert type(decision) is expected(request, msg_id, missing, pipeline)
    if isinstance(decision, Mismatch):
        assert decision.job_id == UUID(request["job_id"])
        assert decision.file_id == UUID(request["file_id"])
        assert decision.attempt == attempt_of(request, msg_id, missing)
    if isinstance(decision, Process | AckAgain):
        assert decision.request.job == UUID(request["job_id"])
        assert decision.request.attempt == request["attempt"]


def expected(request: Any, msg_id: str | None, missing: MissingAttempt, pipeline: Pipeline) -> Any:
    is_valid = VALIDATOR.is_valid(request) and request["pipeline"] == pipeline
    if is_valid:
        return AckAgain if UUID(request["job_id"]) in KNOWN else Process  # C4.4, C4.1
    if not isinstance(request, dict):
        return Drop  # C4.3
    if not (IDS.is_valid(request.get("job_id")) and IDS.is_valid(request.get("file_id"))):
        return Drop  # C4.3
    if UUID(request["job_id"]) in KNOWN:
        return Drop  # C4.5
    return Drop if attempt_of(request, msg_id, missing) is None else Mismatch  # OQ-71, C4.2


def attempt_of(request: Any, msg_id: str | None, missing: MissingAttempt) -> int | None:
    written = request.get("attempt")
    if type(written) is int and written >= 1:
        return written
    if missing is MissingAttempt.ONE:
        return 1
    return 7 if msg_id == f"{KNOWN[0]}:7" else None


@given(st.binary(max_size=60), st.sampled_from(MissingAttempt))
def test_bytes_of_any_kind_are_dropped(body, missing):
    decision = decide(body, {}, set(), Pipeline.TABULAR, missing)

    assert isinstance(decision, Drop)
