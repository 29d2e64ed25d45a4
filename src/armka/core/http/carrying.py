"""A new attempt against an old one: what was read otherwise, corrections carried over."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from armka.core.carrying.lines import Carried, Kind, Verdict
from armka.core.carrying.store import AttemptChanges, Carrying, DocumentChanges
from armka.core.http.asked import Caller, Ordinal, Seen, Words
from armka.core.http.problems import answers
from armka.core.review.corrections import MOST_AT_ONCE, Deed

_LINES_SHOWN = 1_000
_LAST = 2**31 - 1

Against = Annotated[
    int | None,
    Query(ge=1, le=_LAST, description="The earlier attempt; else the last with corrections."),
]
CorrectionId = Annotated[int, Field(ge=1, le=2**63 - 1)]


class _Shown(BaseModel):
    """Made of the object that it shows."""

    model_config = ConfigDict(from_attributes=True)


class ValueView(_Shown):
    """A value; null and not unknown is an empty cell."""

    value: str | None = Field(validation_alias="text")
    is_unknown: bool


class ValueChangeView(_Shown):
    """A value that was read otherwise; `corrected`: what analysts made of the old reading."""

    field: str
    old: ValueView
    new: ValueView
    corrected: ValueView | None


class LineChangeView(_Shown):
    """A line that was added, removed or read otherwise, with its numbers in both attempts."""

    kind: Kind
    account: str | None
    name: str
    old_line: int | None
    new_line: int | None
    values: list[ValueChangeView]


class CarriedView(BaseModel):
    """A correction of the old attempt: `reading` is what was read there, `corrected` what became of
    it, `now` what the new attempt has. `applies`: the same was read again; `already`: it is so now;
    `conflict`: something else was read; `gone`: there is no such line.
    """

    id: int
    verdict: Verdict
    account: str | None
    name: str
    field: str
    old_line: int
    new_line: int | None
    reading: ValueView
    corrected: ValueView
    now: ValueView


class DocumentChangesView(BaseModel):
    """One document of both attempts; of many changed lines the first are shown, `change_count`
    counts all. `etag` goes into `If-Match`; null: the new attempt has no such document.
    """

    ordinal: int
    title: str
    etag: str | None
    change_count: int
    lines: list[LineChangeView]
    corrections: list[CarriedView]


class ChangesView(BaseModel):
    """The current attempt against an earlier one; `others`: all earlier ones that read something.

    `against` is null where there is none.
    """

    file_id: UUID
    attempt: int
    against: int | None
    others: list[int]
    documents: list[DocumentChangesView]


class CarryOver(BaseModel):
    """Which corrections of attempt `against` are repeated; null: all that apply. A conflict is
    repeated where it is named.
    """

    against: Annotated[int, Field(ge=1, le=_LAST)] | None = None
    corrections: (
        Annotated[list[CorrectionId], Field(min_length=1, max_length=MOST_AT_ONCE)] | None
    ) = None
    reason: Words | None = None
    by: Words | None = None


class CarriedOver(BaseModel):
    """The document after it: its revision and tag, and the lines that were touched."""

    revision: int
    etag: str
    lines: list[int]


def router(carrying: Carrying) -> APIRouter:
    """The routes."""
    api = APIRouter(prefix="/files/{file_id}", tags=["history"])

    @api.get("/changes", responses=answers(404))
    async def changes(file_id: UUID, against: Against = None) -> ChangesView:
        """Show what the current attempt read otherwise, and what became of the old corrections."""
        return _view(await carrying.compared(file_id, against))

    @api.post("/documents/{ordinal}/carry-over", responses=answers(404, 409, 412, 422, 428))
    async def carry_over(
        caller: Caller,
        file_id: UUID,
        ordinal: Ordinal,
        wanted: CarryOver,
        response: Response,
        seen: Seen = None,
    ) -> CarriedOver:
        """Repeat corrections of an earlier attempt in the current one; each is logged as carried
        over, with the correction that it repeats. What is so already is no change.
        """
        deed = Deed(caller, seen, wanted.reason, wanted.by)
        applied = await carrying.carry_over(
            file_id, ordinal, wanted.against, wanted.corrections, deed
        )
        response.headers["ETag"] = applied.etag
        return CarriedOver(revision=applied.revision, etag=applied.etag, lines=applied.lines)

    return api


def _view(found: AttemptChanges) -> ChangesView:
    return ChangesView(
        file_id=found.file_id,
        attempt=found.attempt,
        against=found.against,
        others=found.others,
        documents=[_document(one) for one in found.documents],
    )


def _document(one: DocumentChanges) -> DocumentChangesView:
    return DocumentChangesView(
        ordinal=one.ordinal,
        title=one.title,
        etag=one.etag,
        change_count=len(one.changes),
        lines=[LineChangeView.model_validate(it) for it in one.changes[:_LINES_SHOWN]],
        corrections=[_carried(carried) for carried in one.carried],
    )


def _carried(carried: Carried) -> CarriedView:
    one = carried.correction
    return CarriedView(
        id=one.id,
        verdict=carried.verdict,
        account=carried.account,
        name=carried.name,
        field=one.field,
        old_line=one.line,
        new_line=carried.line,
        reading=ValueView.model_validate(one.reading),
        corrected=ValueView.model_validate(one.corrected),
        now=ValueView.model_validate(carried.now),
    )
