"""The review of a document: what was read and where, corrections, confirmations."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response

from armka.core.files.store import Files
from armka.core.http.asked import (
    REPEATED,
    Caller,
    IdempotencyKey,
    Limit,
    Ordinal,
    Seen,
    Words,
    idempotent,
)
from armka.core.http.problems import answers
from armka.core.http.review_views import (
    Acceptance,
    CorrectionPage,
    CorrectionView,
    EditedView,
    Edits,
    GridView,
    LinesView,
    LineView,
    PageView,
    ReviewedView,
    Verdict,
    reviewed_view,
)
from armka.core.http.views import FileView, file_view
from armka.core.review.confirmations import Confirmations, Word
from armka.core.review.corrections import Applied, Change, Corrections, Deed
from armka.core.review.documents import LineFilter, ReviewedDocuments
from armka.core.review.grids import grid_of
from armka.core.review.pages import PageSources

PageNumber = Annotated[int, Path(ge=1, le=10**6)]
Number = Annotated[int, Query(ge=0, le=2**31 - 1)]
_PICTURE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, max-age=3600",
}
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture.", "content": {"image/jpeg": {}, "image/png": {}}}
}


def line_filter(
    problems: Annotated[
        bool, Query(description="Only with unknown values, or that failed checks are about.")
    ] = False,
    check: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="Only those that this check names.")
    ] = None,
    account: Annotated[
        Words | None, Query(description="An account with its subaccounts and what is under them.")
    ] = None,
    text: Annotated[Words | None, Query(description="Part of account or name, any case.")] = None,
) -> LineFilter:
    """The filters of a document's lines."""
    return LineFilter(problems, check, account, text)


Wanted = Annotated[LineFilter, Depends(line_filter)]


def router(
    files: Files,
    documents: ReviewedDocuments,
    pages: PageSources,
    corrections: Corrections,
    confirmations: Confirmations,
) -> APIRouter:
    """The routes under `/files/{file_id}` that a review takes."""
    api = APIRouter(prefix="/files/{file_id}", tags=["review"])
    _add_reading(api, documents)
    _add_sources(api, documents, pages)
    _add_changes(api, documents, corrections)

    @api.post("/confirm", responses=answers(404, 409, 412))
    async def confirm(caller: Caller, file_id: UUID, verdict: Verdict) -> FileView:
        """Say that what was read is right: the file becomes `DONE`.

        Where an error-level check fails or a value is unknown it takes a reason.
        """
        await confirmations.confirm(file_id, _word(caller, verdict))
        return file_view(await files.get(file_id))

    @api.post("/reopen", responses=answers(404, 409, 412))
    async def reopen(caller: Caller, file_id: UUID, verdict: Verdict) -> FileView:
        """Take a confirmation back: the file needs a check again, and can be corrected."""
        await confirmations.reopen(file_id, _word(caller, verdict))
        return file_view(await files.get(file_id))

    return api


def _word(caller: Caller, verdict: Verdict) -> Word:
    return Word(caller, verdict.reason, verdict.job_id, verdict.revisions, verdict.by)


def _add_reading(api: APIRouter, documents: ReviewedDocuments) -> None:
    @api.get("/documents/{ordinal}", responses=answers(404))
    async def one(file_id: UUID, ordinal: Ordinal, response: Response) -> ReviewedView:
        """Show a document of the current attempt: what it is, what fails, who confirmed it."""
        opened = await documents.one(file_id, ordinal)
        response.headers["ETag"] = opened.etag
        return reviewed_view(opened)

    @api.get("/documents/{ordinal}/lines", responses=answers(404))
    async def lines(
        file_id: UUID,
        ordinal: Ordinal,
        response: Response,
        wanted: Wanted,
        after: Number = 0,
        limit: Limit = 100,
    ) -> LinesView:
        """Show lines after line `after`, each with where its values stood."""
        opened = await documents.one(file_id, ordinal)
        window = await documents.lines(opened.row, wanted, after, limit)
        response.headers["ETag"] = opened.etag
        return LinesView(
            revision=opened.row["revision"],
            items=[LineView.model_validate(line, extra="ignore") for line in window.lines],
            next=window.after,
        )

    @api.get("/documents/{ordinal}/corrections", responses=answers(404))
    async def log(
        file_id: UUID,
        ordinal: Ordinal,
        line: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
        after: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
        limit: Limit = 100,
    ) -> CorrectionPage:
        """Show who changed what, latest first."""
        rows, following = await documents.corrections(file_id, ordinal, after, limit, line)
        items = [CorrectionView.model_validate(dict(row)) for row in rows]
        return CorrectionPage(items=items, next=following)


def _add_sources(api: APIRouter, documents: ReviewedDocuments, pages: PageSources) -> None:
    @api.get("/documents/{ordinal}/source", responses=answers(404))
    async def grid(
        file_id: UUID, ordinal: Ordinal, wanted: Wanted, after: Number = 0, limit: Limit = 100
    ) -> GridView:
        """Show the part of the sheet that these lines were read from; of pages it is empty."""
        opened = await documents.one(file_id, ordinal)
        window = await documents.lines(opened.row, wanted, after, limit)
        made = grid_of(opened.row, window.lines) or {
            "sheet": None,
            "columns": [],
            "rows": [],
        }
        return GridView.model_validate(made | {"next": window.after})

    @api.get("/documents/{ordinal}/pages/{page}", responses=answers(404))
    async def page(file_id: UUID, ordinal: Ordinal, page: PageNumber) -> PageView:
        """Show the words of a scanned page, and where they stand."""
        opened = await documents.one(file_id, ordinal)
        lines = await documents.on_page(opened.row, page)
        return PageView.model_validate(await pages.page(opened.row, page, lines))

    @api.get(
        "/documents/{ordinal}/pages/{page}/picture",
        response_class=Response,
        responses=_PICTURE | answers(404),
    )
    async def picture(file_id: UUID, ordinal: Ordinal, page: PageNumber) -> Response:
        """Show the picture of a scanned page, where the scanning system sent one."""
        opened = await documents.one(file_id, ordinal)
        kind, data = await pages.picture(opened.row, page)
        return Response(data, media_type=kind, headers=_PICTURE_HEADERS)


def _add_changes(api: APIRouter, documents: ReviewedDocuments, corrections: Corrections) -> None:
    @api.post("/documents/{ordinal}/corrections", responses=answers(404, 409, 412, 422, 428))
    async def correct(
        caller: Caller,
        file_id: UUID,
        ordinal: Ordinal,
        edits: Edits,
        response: Response,
        seen: Seen = None,
        key: IdempotencyKey = None,
    ) -> EditedView:
        """Change values, all of these or none; the checks are recomputed at once.

        What was there before, who changed it and when are kept. `412` tells what others have
        changed since the document was seen.
        """
        changes = [
            Change(it.line, it.field, it.value, it.origin, it.carried_from)
            for it in edits.corrections
        ]
        deed = Deed(caller, seen, edits.reason, edits.by)
        request = idempotent("corrections", key)
        applied = await corrections.apply(file_id, ordinal, changes, deed, request)
        return await _edited(documents, file_id, ordinal, applied, response)

    @api.post("/documents/{ordinal}/proposals/accept", responses=answers(404, 409, 412, 422, 428))
    async def accept(
        caller: Caller,
        file_id: UUID,
        ordinal: Ordinal,
        acceptance: Acceptance,
        response: Response,
        seen: Seen = None,
        key: IdempotencyKey = None,
    ) -> EditedView:
        """Take the proposals for unknown values: for these, or for all that have one."""
        named = acceptance.values
        wanted = None if named is None else [(it.line, it.field) for it in named]
        deed = Deed(caller, seen, acceptance.reason, acceptance.by)
        request = idempotent("proposals", key)
        applied = await corrections.accept(file_id, ordinal, wanted, deed, request)
        return await _edited(documents, file_id, ordinal, applied, response)


async def _edited(
    documents: ReviewedDocuments,
    file_id: UUID,
    ordinal: int,
    applied: Applied,
    response: Response,
) -> EditedView:
    """The document after a change; what came between is told to the next change by its tag."""
    opened = await documents.one(file_id, ordinal)
    lines: Sequence[dict[str, object]] = await documents.named(opened.row, applied.lines)
    response.headers["ETag"] = applied.etag
    if applied.is_repeated:
        response.headers[REPEATED] = "true"
    return EditedView(
        document=reviewed_view(opened, applied.revision),
        lines=[LineView.model_validate(line, extra="ignore") for line in lines],
    )
