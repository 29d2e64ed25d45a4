"""From a result file to the rows of the trial-balance tables, pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import msgspec

from armka.contract.result import Document, Line, ResultFile
from armka.contract.vocabulary import Severity
from armka.core.jobs.states import FileStatus, JobStatus

DOCUMENT_COLUMNS = (
    "id",
    "stored_file_id",
    "recognition_job_id",
    "ordinal",
    "kind",
    "group_schema",
    "title",
    "organisation_name",
    "organisation_inn",
    "period_from",
    "period_to",
    "period_text",
    "currency",
    "unit",
    "account",
    "source",
    "value_columns",
    "line_count",
    "unknown_count",
    "error_count",
    "warning_count",
    "formats",
)

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
    "cells",
    "raw",
    "formats",
)

CHECK_COLUMNS = (
    "osv_document_id",
    "ordinal",
    "rule",
    "severity",
    "lines",
    "value_column",
    "expected",
    "actual",
    "message",
)


@dataclass(frozen=True)
class Mapped:
    """One result as the rows to be written, in the orders of the columns above."""

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
        lines=[
            (document_id, *_line(line))
            for document_id, document in documents
            for line in document.lines
        ],
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
            text(document.title),
            text(organisation.name) if organisation else None,
            organisation.inn if organisation else None,
            period.from_ if period else None,
            period.to if period else None,
            text(period.text) if period else None,
            text(document.currency),
            document.unit,
            text(document.account),
            as_json(document.source),
            document.columns,
            len(document.lines),
            sum(len(line.unknown) for line in document.lines),
            sum(check.severity is Severity.ERROR for check in document.checks),
            sum(check.severity is Severity.WARNING for check in document.checks),
            texts(document.formats),
        )


def _line(line: Line) -> tuple[Any, ...]:
    return (
        line.n,
        line.parent,
        line.level,
        line.kind.value,
        text(line.account),
        text(line.name),
        text(line.indicator),
        text(line.currency),
        line.off_balance,
        *[None if value is None else Decimal(value) for value in line.values],
        as_json(line.unknown) if line.unknown else None,
        line.row,
        line.page,
        as_json(line.boxes) if line.boxes is not None else None,
        as_json(line.confidence) if line.confidence is not None else None,
        line.cells,
        texts(line.raw),
        texts(line.formats),
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
                text(check.message),
            )


def text(value: str | None) -> str | None:
    """A text that PostgreSQL can hold: all but NUL."""
    return value.replace("\x00", "\ufffd") if value is not None and "\x00" in value else value


def texts(values: list[str | None] | None) -> list[str | None] | None:
    """Texts that PostgreSQL can hold."""
    return None if values is None else [text(value) for value in values]


def as_json(value: object) -> str:
    """JSON that PostgreSQL can hold: NUL is no character of its texts there either."""
    encoded = msgspec.json.encode(value).decode()
    if "\\u0000" not in encoded:
        return encoded
    return msgspec.json.encode(_without_nul(json.loads(encoded))).decode()


def _without_nul(value: Any) -> Any:
    match value:
        case str():
            return text(value)
        case list():
            return [_without_nul(item) for item in value]
        case dict():
            return {key: _without_nul(item) for key, item in value.items()}
        case _:
            return value
