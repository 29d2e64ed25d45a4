"""Faults of the mapping and of attempts."""

from typing import Any
from uuid import UUID

import msgspec

from armka.core.files import attempts
from armka.core.files.attempts import Attempt
from armka.core.jobs.states import FileStatus, JobStatus
from armka.core.mapping import mapper, reading, rows
from tests.conformance.mutants.mutant import edit, mutant


@mutant("a-doubtful-result-makes-the-file-need-a-check")
def overlooks_unknown_values() -> None:
    """A file whose amounts could not all be read is DONE."""
    original = rows._file_status

    def file_status(result: Any, job_status: JobStatus) -> FileStatus:
        if any(line.unknown for document in result.documents for line in document.lines):
            return FileStatus.DONE
        return original(result, job_status)

    rows._file_status = file_status


@mutant("a-doubtful-result-makes-the-file-need-a-check")
def trusts_the_service_alone() -> None:
    """A failed check does not matter where the service said done."""
    rows._file_status = lambda result, job_status: (
        FileStatus.NEEDS_CHECK if job_status is JobStatus.NEEDS_CHECK else FileStatus.DONE
    )


@mutant("a-flawless-result-makes-the-file-done")
def loses_lines() -> None:
    """Writes every line but the last."""
    original = mapper._copy

    async def copy(connection: Any, table: str, columns: Any, records: Any) -> None:
        await original(connection, table, columns, records[:-1] if table == "osv_line" else records)

    mapper._copy = copy


@mutant("a-result-that-cannot-be-used-fails-the-file")
def maps_anybodys_result() -> None:
    """A result file about another job is mapped."""
    original = reading._judge

    def judge(body: bytes, job_id: UUID, file_id: UUID, status: JobStatus) -> Any:
        try:
            named = msgspec.json.decode(body)
            named |= {"job_id": str(job_id), "file_id": str(file_id)}
        except (msgspec.DecodeError, TypeError):
            return original(body, job_id, file_id, status)
        return original(msgspec.json.encode(named), job_id, file_id, status)

    reading._judge = judge


@mutant("an-attempt-under-way-is-not-doubled", "two-clicks-make-one-attempt")
def makes_an_attempt_whenever_asked() -> None:
    """Does not look at the attempt that is under way."""

    async def begin(connection: Any, file_id: UUID) -> Attempt:
        row = await connection.fetchrow(attempts.SQL.begin_attempt, file_id, "tabular")
        return Attempt(row["id"], row["attempt"])

    attempts._begin = begin


@mutant("a-new-attempt-is-a-new-job")
def counts_no_attempts() -> None:
    """A new attempt has the number of the old one."""
    edit(
        attempts.SQL, "begin_attempt", "coalesce(max(attempt), 0) + 1", "coalesce(max(attempt), 1)"
    )
