"""From a result file to the rows of the trial-balance tables, pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import msgspec

from armka.contract.result import Document, Line, ResultFile
from armka.contract.vocabulary import Severity
from armka.core.jobs.states import FileStatus, JobStatus

LINE_COLUMNS = (
    "osv_document_id",
    "n",
    "parent",
    "level",
    "kind",
    "account",
    "name",
    "indicator",
    "currency",
    "off_balance",
    "opening_debit",
    "opening_credit",
    "turnover_debit",
    "turnover_credit",
    "closing_debit",
    "closing_credit",
    "unknown",
    "sheet_row",
    "page",
    "boxes",
    "confidence",
)


@dataclass(frozen=True)
class Mapped:
    """One result as the rows to be written; the lines in the order of LINE_COLUMNS."""

    job_id: UUID
    file_id: UUID
    file_status: FileStatus
    group_schema: str
    documents: list[tuple[Any, ...]]
    lines: list[tuple[Any, ...]]
    checks: list[tuple[Any, ...]]


def mapped(result: ResultFile, job_id: UUID, file_id: UUID, job_status: JobStatus) -> Mapped:
    """Judge a result and make its rows, the documents with ids of their own (M1)."""
    documents = [(uuid4(), document) for document in result.documents]
    return Mapped(
        job_id=job_id,
        file_id=file_id,
        file_status=_file_status(result, job_status),
        group_schema=result.group_schema,
        documents=list(_document_rows(documents, job_id, file_id)),
        lines=[(document_id, *_line(line)) for document_id, document in documents for line in document.lines],
        checks=list(_check_rows(documents)),
    )


def _file_status(result: ResultFile, job_status: JobStatus) -> FileStatus:
    doubtful = job_status is JobStatus.NEEDS_CHECK or any(
        any(check.severity is Severity.ERROR for check in document.checks)
        or any(line.unknown for line in document.lines)
        for document in result.documents
    )
    return FileStatus.NEEDS_CHECK if doubtful else FileStatus.DONE


def _document_rows(
    documents: list[tuple[UUID, Document]], job_id: UUID, file_id: UUID
) -> Iterator[tuple[Any, ...]]:
    for ordinal, (document_id, document) in enumerate(documents, start=1):
        organisation, period = document.organisation, document.period
        yield (
            document_id,
            file_id,
            job_id,
            ordinal,
            document.kind,
            document.group_schema,
            _text(document.title),
            _text(organisation.name) if organisation else None,
            organisation.inn if organisation else None,
            period.from_ if period else None,
            period.to if period else None,
            _text(period.text) if period else None,
            _text(document.currency),
            document.unit,
            _text(document.account),
            _json(document.source),
            document.columns,
            len(document.lines),
            sum(len(line.unknown) for line in document.lines),
            sum(check.severity is Severity.ERROR for check in document.checks),
            sum(check.severity is Severity.WARNING for check in document.checks),
        )


def _line(line: Line) -> tuple[Any, ...]:
    return (
        line.n,
        line.parent,
        line.level,
        line.kind.value,
        _text(line.account),
        _text(line.name),
        _text(line.indicator),
        _text(line.currency),
        line.off_balance,
        *[None if value is None else Decimal(value) for value in line.values],
        _json(line.unknown) if line.unknown else None,
        line.row,
        line.page,
        _json(line.boxes) if line.boxes is not None else None,
        _json(line.confidence) if line.confidence is not None else None,
    )


def _check_rows(documents: list[tuple[UUID, Document]]) -> Iterator[tuple[Any, ...]]:
    for document_id, document in documents:
        for ordinal, check in enumerate(document.checks, start=1):
            yield (
                document_id,
                ordinal,
                check.rule,
                check.severity.value,
                check.lines,
                check.column.value if check.column else None,
                None if check.expected is None else Decimal(check.expected),
                None if check.actual is None else Decimal(check.actual),
                _text(check.message),
            )


def _text(text: str | None) -> str | None:
    return text.replace("\x00", "\ufffd") if text is not None and "\x00" in text else text


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode().replace("\\u0000", "\ufffd")
