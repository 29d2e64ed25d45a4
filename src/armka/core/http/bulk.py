"""Bulk operations: new attempts for all files that match a filter."""

from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from armka.contract.vocabulary import FileType
from armka.core.files.bulk import BulkAttempts
from armka.core.files.listing import FileFilter
from armka.core.http.asked import Caller, IdempotencyKey, Limit, Moment, Words, idempotent
from armka.core.http.problems import answers
from armka.core.http.views import BulkPreview, OperationItem, OperationItems, OperationView
from armka.core.jobs.states import FileStatus

_LAST_ORDINAL = 2**31 - 1

Outcome = Literal["begun", "under_way", "superseded", "withdrawn", "gone"]


class BulkFilter(BaseModel):
    """Which files; all that is given must hold. The status is compulsory."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["ERROR", "NEEDS_CHECK", "DONE"]
    client_ref: Words | None = None
    name: Words | None = None
    organisation: Words | None = None
    file_type: FileType | None = None
    error_code: Words | None = None
    created_from: Moment | None = None
    created_to: Moment | None = None
    period_from: date | None = None
    period_to: date | None = None

    def asked(self) -> FileFilter:
        """The filter of the list of files that says the same."""
        given = self.model_dump(exclude={"status"})
        return FileFilter(status=FileStatus(self.status), **given)


class BulkRequest(BaseModel):
    """What is to be done, and why; with `dry_run` nothing is done, only counted."""

    model_config = ConfigDict(extra="forbid")

    filter: BulkFilter
    reason: Words
    by: Annotated[Words | None, Field(description="For whom, where the caller has no name.")] = None
    dry_run: bool = False


def router(bulk: BulkAttempts) -> APIRouter:
    """The routes of bulk operations."""
    api = APIRouter(tags=["bulk operations"])
    preview: dict[int | str, dict[str, Any]] = {
        200: {"model": BulkPreview, "description": "With `dry_run`: what it would take."}
    }

    @api.post(
        "/attempts/bulk",
        status_code=202,
        response_model=OperationView,
        responses=preview | answers(422),
    )
    async def begin(
        caller: Caller, asked: BulkRequest, response: Response, key: IdempotencyKey = None
    ) -> OperationView | Response:
        """Recognise all files again that match now.

        The list is frozen; the core works it off, whatever becomes of the caller. A file that has
        another attempt by then is left alone: see the outcomes of the operation.
        """
        wanted = asked.filter.asked()
        if asked.dry_run:
            total, sample = await bulk.preview(wanted)
            shown = BulkPreview(total=total, sample=sample).model_dump_json()
            return Response(shown, media_type="application/json")
        request = idempotent("bulk", key)
        operation_id = await bulk.begin(wanted, asked.reason, caller, asked.by, request)
        response.headers["Location"] = f"/api/v1/operations/{operation_id}"
        return await _operation(bulk, operation_id)

    @api.get("/operations/{operation_id}", responses=answers(404))
    async def operation(operation_id: UUID) -> OperationView:
        """Show how far an operation is."""
        return await _operation(bulk, operation_id)

    @api.get("/operations/{operation_id}/items", responses=answers(404))
    async def items(
        operation_id: UUID,
        outcome: Outcome | None = None,
        after: Annotated[int, Query(ge=0, le=_LAST_ORDINAL)] = 0,
        limit: Limit = 100,
    ) -> OperationItems:
        """List what became of each file."""
        await bulk.get(operation_id)
        rows = await bulk.items(operation_id, outcome, after, limit)
        following = rows[-1]["ordinal"] if len(rows) == limit else None
        shown = [OperationItem.model_validate(dict(row)) for row in rows]
        return OperationItems(items=shown, next=following)

    return api


async def _operation(bulk: BulkAttempts, operation_id: UUID) -> OperationView:
    operation = await bulk.get(operation_id)
    facts = dict(operation.row)
    return OperationView(**facts, outcomes=operation.outcomes, pending=operation.pending)
