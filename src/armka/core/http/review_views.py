"""What the API shows of a review, as models: the OpenAPI document is made of them."""

from datetime import date, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from armka.core.database.pool import Record
from armka.core.http.asked import Words
from armka.core.review.corrections import MOST_AT_ONCE, Origin, etag_of
from armka.core.review.documents import Opened
from armka.core.review.values import text_of

Reason = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^\x00]*\S[^\x00]*$")]
Typed = Annotated[str, Field(max_length=2000)]
Box = list[float]


class CheckView(BaseModel):
    """A failed check; `ordinal` names it in filters. Amounts are in the document's unit."""

    ordinal: int
    rule: str
    severity: str
    lines: list[int]
    column: str | None
    expected: str | None
    actual: str | None
    message: str


class ConfirmationView(BaseModel):
    """Who confirmed a file or reopened it, and what failed or was unknown then."""

    action: str
    failed_checks: int
    unknown_count: int
    reason: str | None
    made_by: str
    made_at: datetime


class ReviewedView(BaseModel):
    """A recognised document; `revision` grows with every change, `etag` goes into `If-Match`.

    `confirmations`: of the attempt that counts, latest first.
    """

    file_id: UUID
    job_id: UUID
    file_status: str
    ordinal: int
    revision: int
    etag: str
    kind: str
    group_schema: str
    title: str
    organisation_name: str | None
    organisation_inn: str | None
    period_from: date | None
    period_to: date | None
    period_text: str | None
    currency: str | None
    unit: int
    account: str | None
    source: dict[str, Any]
    line_count: int
    unknown_count: int
    error_count: int
    warning_count: int
    correction_count: int
    checks: list[CheckView]
    confirmations: list[ConfirmationView]


class UnknownView(BaseModel):
    """A value that could not be read: what stood there, and what it may be."""

    column: str
    raw: str
    suggested: str | None = None
    rule: str | None = None


class CorrectedView(BaseModel):
    """A value that was corrected: what was read first, and who changed it last."""

    field: str
    first_value: str | None
    first_raw: str | None
    origin: str
    made_by: str
    made_at: datetime
    reason: str | None
    times: int


class LineView(BaseModel):
    """A line: six values (decimal strings, null: an empty cell or an unknown one) and where they
    stood, in `cells` of a sheet or in `boxes` of a page (shares of its width and height).
    """

    n: int
    parent: int | None
    level: int
    kind: str
    account: str | None
    name: str
    indicator: str | None
    currency: str | None
    off_balance: bool
    values: list[str | None]
    unknown: list[UnknownView]
    row: int | None
    cells: list[str | None] | None
    raw: list[str | None] | None
    page: int | None
    boxes: list[Box | None] | None
    confidence: list[float | None] | None
    corrected: list[CorrectedView]


class LinesView(BaseModel):
    """Lines of a document at a revision; `next` goes into `after` to read on."""

    revision: int
    items: list[LineView]
    next: int | None


class SourceCell(BaseModel):
    """What stood in a cell, and which field of which line was read there."""

    text: str
    line: int
    field: str


class SourceColumn(BaseModel):
    """A column of the sheet, and the value that stands in it."""

    letter: str
    field: str | None


class SourceRow(BaseModel):
    """A row of the sheet; null: nothing was read in that cell."""

    row: int
    cells: list[SourceCell | None]


class GridView(BaseModel):
    """A part of the sheet as it was read, before any correction."""

    sheet: str | None
    columns: list[SourceColumn]
    rows: list[SourceRow]
    next: int | None


class PageWord(BaseModel):
    """A word of a page; `box` is left, top, right, bottom in shares of the page."""

    text: str
    box: Box
    confidence: float | None


class PageView(BaseModel):
    """A page as it was recognised; `has_picture`: `…/pages/{page}/picture` shows it."""

    page: int
    width: int
    height: int
    words: list[PageWord]
    has_picture: bool


class Edit(BaseModel):
    """A field (`account`, `name`, or one of the six amounts) and its value as people write it:
    "1 234,56"; null or empty: an empty cell.
    """

    line: int
    field: str
    value: Typed | None = None
    origin: Origin = "typed"
    carried_from: int | None = None


class Edits(BaseModel):
    """Changes that are made together or not at all; `by`: for whom, where the caller has no name of
    its own.
    """

    corrections: Annotated[list[Edit], Field(min_length=1, max_length=MOST_AT_ONCE)]
    reason: Reason | None = None
    by: Words | None = None


class Place(BaseModel):
    """A value of a line."""

    line: int
    field: str


class Acceptance(BaseModel):
    """Whose proposals are taken; null: all of the document."""

    values: Annotated[list[Place], Field(min_length=1, max_length=MOST_AT_ONCE)] | None = None
    reason: Reason | None = None
    by: Words | None = None


class EditedView(BaseModel):
    """The document after a change, with the lines that it touched."""

    document: ReviewedView
    lines: list[LineView]


class CorrectionView(BaseModel):
    """A value that somebody changed; `old_unknown`: what was known of it where it was unknown."""

    id: int
    revision: int
    line: int
    field: str
    old_value: str | None
    new_value: str | None
    was_unknown: bool
    old_unknown: dict[str, Any] | None
    origin: str
    made_by: str
    made_at: datetime
    reason: str | None
    carried_from: int | None


class CorrectionPage(BaseModel):
    """Corrections, latest first; `next` goes into `after` to read on."""

    items: list[CorrectionView]
    next: int | None


class Verdict(BaseModel):
    """An analyst's word about a file.

    `job_id` and `revisions` (of its documents, in their order): what was looked at; where it has
    changed since, the word is refused. `reason`: needed where a check fails or a value is unknown.
    """

    job_id: UUID | None = None
    revisions: list[int] | None = None
    reason: Reason | None = None
    by: Words | None = None


def reviewed_view(opened: Opened, revision: int | None = None) -> ReviewedView:
    """Show a document, as of this revision where it is given."""
    row = opened.row
    shown = row["revision"] if revision is None else revision
    own = ReviewedView.model_fields.keys() & set(row.keys()) - {"revision"}
    return ReviewedView(
        file_id=row["stored_file_id"],
        job_id=row["current_recognition_job_id"],
        file_status=row["status"],
        revision=shown,
        etag=etag_of(row["id"], shown),
        correction_count=opened.corrections,
        checks=[check_view(check) for check in opened.checks],
        confirmations=[
            ConfirmationView.model_validate(dict(word), extra="ignore")
            for word in opened.confirmations
        ],
        **{name: row[name] for name in own},
    )


def check_view(row: Record) -> CheckView:
    """Show a failed check."""
    return CheckView(
        column=row["value_column"],
        expected=text_of(row["expected"]),
        actual=text_of(row["actual"]),
        **{name: row[name] for name in ("ordinal", "rule", "severity", "lines", "message")},
    )
