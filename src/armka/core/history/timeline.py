"""From rows to what a person reads: the timeline of a file, pure.

Rows tell what happened, entries tell it in order: when, what kind of thing, in which attempt, with
which particulars. The text is English with places for them; the console's catalogs know it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from armka.core.history.advice import advice_for
from armka.core.history.words import say
from armka.core.jobs.states import JobStatus

Row = Mapping[str, Any]

_READ = frozenset({JobStatus.DONE, JobStatus.NEEDS_CHECK})


class Kind(StrEnum):
    """What sort of thing happened."""

    UPLOADED = "uploaded"
    ATTEMPT = "attempt"
    HELD_UP = "held_up"
    SENT = "sent"
    SENT_AGAIN = "sent_again"
    TAKEN = "taken"
    ANSWERED = "answered"
    FAILED = "failed"
    READ = "read"
    CHECK_FAILED = "check_failed"
    NOT_APPLIED = "not_applied"
    CORRECTED = "corrected"
    CONFIRMED = "confirmed"
    REOPENED = "reopened"
    WITHDRAWN = "withdrawn"
    RESTORED = "restored"


@dataclass(frozen=True)
class Entry:
    """One thing that happened. `text` has a `%(name)s` for each of `fields`."""

    at: datetime
    kind: Kind
    text: str
    fields: dict[str, str | int] = field(default_factory=dict)
    attempt: int | None = None

    @property
    def english(self) -> str:
        """The text with its particulars."""
        return self.text % self.fields


@dataclass(frozen=True)
class Facts:
    """The rows that tell of one file; each list in the order in which things happened."""

    file: Row
    attempts: Sequence[Row]
    events: Sequence[Row]
    documents: Sequence[Row]
    checks: Sequence[Row]
    unmapped: Sequence[Row]  # results that could not be mapped
    rejected: Sequence[Row]
    audit: Sequence[Row]
    words: Sequence[Row]  # an analyst's about the file: confirmed, reopened


def timeline(facts: Facts) -> list[Entry]:
    """Everything that happened to the file, in its order."""
    entries = [_uploaded(facts.file), *_handled(facts), *map(_word, facts.words)]
    for job in facts.attempts:
        entries += _attempt(job, facts)
    # Stable: what one transaction did stays in the order in which it is told.
    return sorted(entries, key=lambda entry: entry.at)


def _uploaded(file: Row) -> Entry:
    by = file["uploaded_by"]
    text = say("Uploaded by %(by)s") if by and by != "api" else say("Uploaded")
    fields = {"name": file["original_name"], "type": file["file_type"], "by": by}
    return Entry(file["created_at"], Kind.UPLOADED, text, _known(fields))


def _handled(facts: Facts) -> Iterator[Entry]:
    for event in facts.audit:
        by, why = event["actor"], event["reason"]
        match event["action"]:
            case "file.withdrawn":
                text = say("Withdrawn by %(by)s: %(reason)s")
                by = str((event["details"] or {}).get("told", by))
                yield Entry(event["at"], Kind.WITHDRAWN, text, {"by": by, "reason": why or ""})
            case "document.corrected":
                text = say("Corrected by %(by)s, values: %(values)s")
                fields = _known({"by": by, "reason": why, **event["details"]})
                yield Entry(event["at"], Kind.CORRECTED, text, fields)
            case "file.restored":
                text = say("Brought back by %(by)s")
                yield Entry(event["at"], Kind.RESTORED, text, {"by": by})
            case _:
                continue


def _word(word: Row) -> Entry:
    kind = Kind(word["action"])
    text = say("Confirmed by %(by)s") if kind is Kind.CONFIRMED else say("Reopened by %(by)s")
    fields = _known({"by": word["made_by"], "message": word["reason"]})
    return Entry(word["made_at"], kind, text, fields, word["attempt"])


def _attempt(job: Row, facts: Facts) -> Iterator[Entry]:
    number, job_id = job["attempt"], job["id"]
    if job is not facts.attempts[0]:
        yield _begun(job, facts.audit)
    if job["status"] == JobStatus.QUEUED and job["obstacle"] is not None:
        since = max(job["obstacle_since"], job["created_at"])
        text = say("Waiting to be sent: %(reason)s")
        yield Entry(since, Kind.HELD_UP, text, {"reason": job["obstacle"]}, number)
    events = [event for event in facts.events if event["recognition_job_id"] == job_id]
    for event in events:
        yield from _moved(job, event)
    yield from _repeated(job, events)
    if not any(JobStatus(event["to_status"]).is_final for event in events):
        # An import brings jobs that have ended already.
        yield from _ended(job, job["finished_at"] or job["created_at"])
    yield from _read(job, facts)
    for message in facts.rejected:
        if message["recognition_job_id"] == job_id:
            yield _not_applied(message, number)


def _begun(job: Row, audit: Sequence[Row]) -> Entry:
    """Who asked for an attempt: the audit of a click, or the operation that took many files."""
    asked = (
        event["actor"]
        for event in audit
        if event["action"] == "file.attempt"
        and (event["details"] or {}).get("job_id") == str(job["id"])
    )
    by = next(asked, None) or job["asked_by"]
    text = (
        say("Attempt %(attempt)s asked for by %(by)s") if by else say("Attempt %(attempt)s begun")
    )
    fields = {"attempt": job["attempt"], "by": by, "reason": job["asked_reason"]}
    return Entry(job["created_at"], Kind.ATTEMPT, text, _known(fields), job["attempt"])


def _moved(job: Row, event: Row) -> Iterator[Entry]:
    at, number = event["at"], job["attempt"]
    status = JobStatus(event["to_status"])
    if status.is_final:
        yield from _ended(job, at)
    elif status is JobStatus.PROCESSING:
        text = say("Taken by %(service)s %(version)s")
        yield Entry(at, Kind.TAKEN, text, _service(job), number)
    elif event["from_status"] == JobStatus.PUBLISHED:
        text = say("Sent again: %(reason)s")
        yield Entry(at, Kind.SENT_AGAIN, text, {"reason": event["cause"]}, number)
    else:
        fields = _known({"subject": job["request_subject"]})
        yield Entry(at, Kind.SENT, say("Sent to recognition"), fields, number)


def _repeated(job: Row, events: Sequence[Row]) -> Iterator[Entry]:
    """O3: a publication that was repeated leaves a count and the time of the last one."""
    resent = sum(event["from_status"] == event["to_status"] for event in events)
    times = job["publish_count"] - 1 - resent
    if times > 0:
        at, fields = job["last_published_at"], {"times": times}
        text = say("No service took it: sent again, times: %(times)s")
        yield Entry(at, Kind.SENT_AGAIN, text, fields, job["attempt"])


def _ended(job: Row, at: datetime) -> Iterator[Entry]:
    status, number = JobStatus(job["status"]), job["attempt"]
    if status in _READ:
        text = say("Recognised by %(service)s %(version)s")
        yield Entry(at, Kind.ANSWERED, text, _service(job), number)
    elif status.is_final:
        yield _failed(job["error_code"] or "UNKNOWN_ERROR", job["error_message"], at, number)


def _failed(code: str, message: str | None, at: datetime, number: int) -> Entry:
    fields = _known({"code": code, "message": message})
    return Entry(at, Kind.FAILED, advice_for(code).what, fields, number)


def _read(job: Row, facts: Facts) -> Iterator[Entry]:
    """What the mapping made of a result, or why it could make nothing of it."""
    number = job["attempt"]
    for fact in facts.unmapped:
        if fact["recognition_job_id"] == job["id"]:
            is_current = facts.file["current_recognition_job_id"] == job["id"]
            message = facts.file["error_message"] if is_current else None
            yield _failed(fact["error_code"], message, fact["occurred_at"], number)
    own = [row for row in facts.documents if row["recognition_job_id"] == job["id"]]
    for document in own:
        at = job["mapped_at"] or document["created_at"]
        yield _document(document, at, number, len(own))
        yield from _checks(document["id"], at, number, facts.checks)


def _document(document: Row, at: datetime, number: int, of: int) -> Entry:
    counts = {"lines": document["line_count"], "unknown": document["unknown_count"]}
    fields = counts | {"ordinal": document["ordinal"], "title": document["title"]}
    if of > 1:
        text = say("Read, document %(ordinal)s: lines %(lines)s, values not read %(unknown)s")
    else:
        text = say("Read: lines %(lines)s, values not read %(unknown)s")
    return Entry(at, Kind.READ, text, fields, number)


def _checks(document_id: UUID, at: datetime, number: int, checks: Sequence[Row]) -> Iterator[Entry]:
    """One entry for each rule that failed, with the first thing that it found."""
    own = [check for check in checks if check["osv_document_id"] == document_id]
    counts = Counter((check["severity"], check["rule"]) for check in own)
    firsts = {(check["severity"], check["rule"]): check for check in reversed(own)}
    for key, count in counts.items():
        severity, rule = key
        fields = {"rule": rule, "severity": severity, "count": count}
        fields |= {"message": firsts[key]["message"]}
        text = (
            say("Balance check %(rule)s failed: %(message)s")
            if count == 1
            else say("Balance check %(rule)s failed, times: %(count)s. The first: %(message)s")
        )
        yield Entry(at, Kind.CHECK_FAILED, text, fields, number)


_REJECTIONS = {
    "late": say("An answer came too late and was not applied"),
    "invalid": say("An answer broke the contract and was not applied"),
    "foreign_file": say("An answer named another file and was not applied"),
    "foreign_key": say("An answer pointed to a foreign place and was not applied"),
    "unknown_job": say("An answer named an unknown job and was not applied"),
}


def _not_applied(message: Row, number: int) -> Entry:
    fields = {"reason": message["reason"], "message": message["detail"]}
    text = _REJECTIONS[message["reason"]]
    return Entry(message["received_at"], Kind.NOT_APPLIED, text, _known(fields), number)


def _service(job: Row) -> dict[str, str | int]:
    name, version = job["service_name"], job["service_version"]
    return {"service": name or "?", "version": version or ""}


def _known(fields: Mapping[str, str | int | None]) -> dict[str, str | int]:
    return {name: value for name, value in fields.items() if value is not None}
