"""From rows to a timeline, without a database."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from armka.core.history.timeline import Facts, Kind, timeline

START = datetime(2026, 12, 1, 10, 30, tzinfo=UTC)


def _at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def _job(**columns: Any) -> dict[str, Any]:
    usual = {
        "id": uuid4(),
        "attempt": 1,
        "status": "done",
        "created_at": _at(0),
        "publish_count": 1,
        "last_published_at": _at(1),
        "request_subject": "files.tabular_uploaded",
        "finished_at": None,
        "mapped_at": None,
        "service_name": "tabular-parser",
        "service_version": "1.2",
        "error_code": None,
        "error_message": None,
        "obstacle": None,
        "obstacle_since": None,
        "asked_by": None,
        "asked_reason": None,
    }
    return usual | columns


def _moves(job: dict[str, Any], *statuses: str) -> list[dict[str, Any]]:
    """The events of a job, a minute apart from its creation on."""
    before, events = "queued", []
    for minute, status in enumerate(statuses, start=1):
        at = job["created_at"] + timedelta(minutes=minute)
        events.append({"recognition_job_id": job["id"], "from_status": before, "to_status": status,
                       "cause": "why", "at": at})  # fmt: skip
        before = status
    return events


def _facts(jobs: list[dict[str, Any]], **more: Any) -> Facts:
    file = {"uploaded_by": "ivanova", "original_name": "ОСВ.xlsx", "file_type": "XLSX",
            "created_at": _at(0), "error_message": None,
            "current_recognition_job_id": jobs[-1]["id"]}  # fmt: skip
    usual: dict[str, Any] = dict.fromkeys(
        ("events", "documents", "checks", "unmapped", "rejected", "audit", "words"), ()
    )
    return Facts(file=file, attempts=jobs, **(usual | more))


def _told(facts: Facts) -> list[str]:
    return [entry.english for entry in timeline(facts)]


def test_a_document_with_a_failed_check_is_told_step_by_step() -> None:
    """Who took it and when, what was read, which check failed and where."""
    job, document = _job(mapped_at=_at(4)), uuid4()
    facts = _facts(
        [job],
        events=_moves(job, "published", "processing", "done"),
        documents=[{"id": document, "recognition_job_id": job["id"], "ordinal": 1, "title": "ОСВ",
                    "line_count": 40, "unknown_count": 0, "created_at": _at(4)}],
        checks=[{"osv_document_id": document, "rule": "R4", "severity": "error",
                 "message": "Итого не сходится"}],
    )  # fmt: skip
    assert _told(facts) == [
        "Uploaded by ivanova",
        "Sent to recognition",
        "Taken by tabular-parser 1.2",
        "Recognised by tabular-parser 1.2",
        "Read: lines 40, values not read 0",
        "Balance check R4 failed: Итого не сходится",
    ]
    taken = timeline(facts)[2]
    assert (taken.at, taken.attempt) == (_at(2), 1)
    assert taken.fields == {"service": "tabular-parser", "version": "1.2"}


def test_many_findings_of_one_rule_are_one_entry() -> None:
    """With their number, and the first of them."""
    job, document = _job(mapped_at=_at(4)), uuid4()
    found = [{"osv_document_id": document, "rule": "R1", "severity": "error", "message": f"№ {n}"}
             for n in range(3)]  # fmt: skip
    documents = [{"id": document, "recognition_job_id": job["id"], "ordinal": 1, "title": "ОСВ",
                  "line_count": 1, "unknown_count": 0, "created_at": _at(4)}]  # fmt: skip
    facts = _facts([job], documents=documents, checks=found)
    [entry] = [one for one in timeline(facts) if one.kind is Kind.CHECK_FAILED]
    assert entry.english == "Balance check R1 failed, times: 3. The first: № 0"
    assert entry.fields["count"] == 3


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [("timeout", "TIMEOUT", "The recognition took too long."),
     ("dlq", "NO_ACK", "No recognition service took it."),
     ("error", "INVALID_FORMAT", "The file is damaged or protected with a password."),
     ("error", "X_NEW", "The recognition failed for an unknown reason.")],
)  # fmt: skip
def test_a_failure_is_told_by_its_meaning(status: str, code: str, said: str) -> None:
    """The code and the sender's words go along as particulars."""
    job = _job(status=status, error_code=code, error_message="as it was sent")
    entry = timeline(_facts([job], events=_moves(job, "published", status)))[-1]
    assert (entry.kind, entry.english) == (Kind.FAILED, said)
    assert entry.fields == {"code": code, "message": "as it was sent"}


def test_silence_late_answers_and_a_new_attempt_are_told() -> None:
    """The publication that was repeated, the answer that was not applied, who asked again."""
    first = _job(status="dlq", error_code="NO_ACK", publish_count=4, last_published_at=_at(1.5))
    second = _job(attempt=2, created_at=_at(10), status="queued", obstacle="forbidden",
                  obstacle_since=_at(0), publish_count=0)  # fmt: skip
    facts = _facts(
        [first, second],
        events=_moves(first, "published", "dlq"),
        rejected=[{"recognition_job_id": first["id"], "reason": "late", "detail": "the job is dlq",
                   "received_at": _at(5)}],
        audit=[{"at": _at(10), "actor": "petrov", "action": "file.attempt", "reason": None,
                "details": {"job_id": str(second["id"])}}],
    )  # fmt: skip
    assert _told(facts)[2:] == [
        "No service took it: sent again, times: 3",
        "No recognition service took it.",
        "An answer came too late and was not applied",
        "Attempt 2 asked for by petrov",
        "Waiting to be sent: forbidden",
    ]


def test_a_result_that_cannot_be_mapped_and_a_withdrawal_are_told() -> None:
    """With the reason of each."""
    job = _job(mapped_at=_at(4))
    facts = _facts(
        [job],
        events=_moves(job, "published", "done"),
        unmapped=[{"recognition_job_id": job["id"], "error_code": "INVALID_RESULT",
                   "occurred_at": _at(4)}],
        audit=[{"at": _at(6), "actor": "api", "action": "file.withdrawn", "reason": "не тот",
                "details": {"told": "sidorov"}},
               {"at": _at(7), "actor": "ivanova", "action": "file.restored", "reason": None,
                "details": None}],
    )  # fmt: skip
    assert _told(facts)[-3:] == [
        "The service's result cannot be used.",
        "Withdrawn by sidorov: не тот",
        "Brought back by ivanova",
    ]


def test_an_imported_job_that_had_ended_is_told_too() -> None:
    """It has no transitions, only its columns."""
    job = _job(status="error", error_code="UNREADABLE", finished_at=_at(9))
    entry = timeline(_facts([job]))[-1]
    assert (entry.at, entry.kind) == (_at(9), Kind.FAILED)


def test_what_analysts_did_with_it_is_told() -> None:
    """Corrections with their number, confirmations with their reason."""
    job = _job(mapped_at=_at(4))
    corrected = {"at": _at(5), "actor": "ivanova", "action": "document.corrected", "reason": None,
                 "details": {"document": 1, "revision": 2, "values": 3}}  # fmt: skip
    word = {"made_by": "petrov", "reason": "сверено", "attempt": 1}
    facts = _facts(
        [job],
        audit=[corrected],
        words=[word | {"action": "confirmed", "made_at": _at(6)},
               word | {"action": "reopened", "made_at": _at(7)}],
    )  # fmt: skip
    assert _told(facts)[-3:] == [
        "Corrected by ivanova, values: 3",
        "Confirmed by petrov",
        "Reopened by petrov",
    ]
    assert timeline(facts)[-1].fields["message"] == "сверено"
