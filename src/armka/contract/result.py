"""The result file (§2b): the trial-balance documents (ОСВ) that a service read out of one file."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from armka.contract.fields import (
    Id,
    Instant,
    NonEmpty,
    PositiveInt,
    ServiceInfo,
    Version,
    parse_instant,
)
from armka.contract.vocabulary import Column, FileType, LineKind, Severity

Family = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
Amount = Annotated[str, Meta(pattern=r"^-?[0-9]{1,18}(\.[0-9]{1,6})?\Z")]
Six = Annotated[list[Amount | None], Meta(min_length=6, max_length=6)]
Share = Annotated[float, Meta(ge=0, le=1)]
Box = Annotated[list[float], Meta(min_length=4, max_length=4)]
ColumnLetter = Annotated[str, Meta(pattern=r"^[A-Z]{1,3}\Z")]
Cell = Annotated[str, Meta(pattern=r"^[A-Z]{1,3}[1-9][0-9]{0,6}\Z")]
SixTexts = Annotated[list[str | None], Meta(min_length=6, max_length=6)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    pass


class Unknown(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """A cell that could not be read. Its value is null, and it is never 0."""

    column: Column
    raw: str
    suggested: Amount | None = None
    rule: str | None = None


class Line(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """One line; `values` are exact decimals in the document's unit, None = empty cell.

    `cells`, where the document's columns and the line's row do not give them; `raw`, what stood in
    the cells that held no plain number; `formats`, where they are not the document's.
    """

    n: PositiveInt
    parent: PositiveInt | None = None
    level: Annotated[int, Meta(ge=0, le=255)]
    kind: LineKind
    account: str | None = None
    name: str
    indicator: str | None = None
    currency: str | None = None
    off_balance: bool = False
    values: Six
    unknown: list[Unknown] = []
    row: PositiveInt | None = None
    cells: Annotated[list[Cell | None], Meta(min_length=6, max_length=6)] | None = None
    raw: SixTexts | None = None
    formats: SixTexts | None = None
    page: PositiveInt | None = None
    boxes: Annotated[list[Box | None], Meta(min_length=6, max_length=6)] | None = None
    confidence: Annotated[list[Share | None], Meta(min_length=6, max_length=6)] | None = None


class Check(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """A check that failed: which rule, on which lines (their `n`), what was expected and what
    stands there.
    """

    rule: Annotated[str, Meta(pattern=r"^R([1-9]|1[0-3])\Z")]
    severity: Severity
    lines: list[PositiveInt]
    cells: list[Cell] = []
    column: Column | None = None
    expected: Amount | None = None
    actual: Amount | None = None
    message: str


class Organisation(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """Whose trial balance it is, as printed."""

    name: str
    inn: Annotated[str, Meta(pattern=r"^([0-9]{10}|[0-9]{12})\Z")] | None = None


class Period(_Part, frozen=True, kw_only=True, omit_defaults=True, rename={"from_": "from"}):
    """The period as printed and, where it could be read, as dates (both inclusive)."""

    from_: date | None = None
    to: date | None = None
    text: str


class HeaderSource(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """How the table was found: by which kind of header, in which rows; under which columns the
    names of the lines stand, and of what the header says they are.
    """

    shape: NonEmpty
    rows: Annotated[list[PositiveInt], Meta(min_length=2, max_length=2)] | None = None
    label: ColumnLetter | None = None
    name: ColumnLetter | None = None
    levels: list[str] = []


class DocumentSource(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """Where in the file the document stands: a sheet, or pages (counted from 1)."""

    sheet: str | None = None
    pages: list[PositiveInt] | None = None
    header: HeaderSource | None = None

    def __post_init__(self) -> None:
        if self.sheet is None and self.pages is None:
            msg = "a document's source names a sheet or pages"
            raise ValueError(msg)


class Document(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """One trial balance (ОСВ)."""

    kind: Literal["OSV"]
    group_schema: Family
    title: str
    organisation: Organisation | None = None
    period: Period | None = None
    currency: str | None = None
    unit: Literal[1, 1000, 1000000]
    account: str | None = None
    source: DocumentSource
    columns: Annotated[list[ColumnLetter | None], Meta(min_length=6, max_length=6)] | None = None
    formats: SixTexts | None = None
    lines: list[Line]
    checks: list[Check]


class SourceFile(_Part, frozen=True, kw_only=True):
    """The file that was read."""

    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
    size_bytes: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    file_type: FileType


class ResultFile(_Part, frozen=True, kw_only=True, omit_defaults=True):
    """`results/{file_id}/{job_id}/result.json`."""

    schema_version: Version
    job_id: Id
    file_id: Id
    service: ServiceInfo
    created_at: Instant
    source: SourceFile
    group_schema: Family
    documents: Annotated[list[Document], Meta(min_length=1)]
    warnings: list[str] = []

    def __post_init__(self) -> None:
        parse_instant(self.created_at)

    def problems(self) -> Iterator[str]:
        """What the schema cannot say: line numbers that repeat, parents and checks that point
        nowhere.
        """
        for index, document in enumerate(self.documents):
            for problem in _document_problems(document):
                yield f"documents[{index}]: {problem}"


def _document_problems(document: Document) -> Iterator[str]:
    seen: set[int] = set()
    for line in document.lines:
        if line.n in seen:
            yield f"line {line.n} stands twice"
        if line.parent is not None and line.parent not in seen:
            yield f"line {line.n}: its parent {line.parent} is no earlier line"
        for unknown in line.unknown:
            if line.values[list(Column).index(unknown.column)] is not None:
                yield f"line {line.n}: {unknown.column} is unknown and has a value"
        seen.add(line.n)
    for check in document.checks:
        for n in check.lines:
            if n not in seen:
                yield f"check {check.rule} names line {n}, which does not exist"


__all__ = [
    "Check",
    "Document",
    "DocumentSource",
    "HeaderSource",
    "Line",
    "NonEmpty",
    "Organisation",
    "Period",
    "ResultFile",
    "SourceFile",
    "Unknown",
]
