"""R6: documents of a client in their order, and what does not go on where it ended."""

from datetime import date
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel

from armka.core.continuity.series import Overlap, Row
from armka.core.continuity.store import Continuity, Link, Order
from armka.core.http.asked import Ordinal, Words
from armka.core.http.problems import answers


class PlaceView(BaseModel):
    """Which document: its file and its number in it."""

    file_id: UUID
    ordinal: int


class OrderedDocument(PlaceView):
    """A document of a series; `warning_count`: accounts that do not go on, on either side."""

    original_name: str
    status: str
    title: str
    period_from: date
    period_to: date
    period_text: str | None
    unit: int
    error_count: int
    unknown_count: int
    warning_count: int


class DifferenceView(BaseModel):
    """An account that does not go on as it ended: net amounts (debit minus credit) in currency
    units, whatever the documents' units are. `is_reformation`: the close of the year explains it.
    """

    account: str
    name: str
    closing: Decimal
    opening: Decimal
    difference: Decimal
    earlier_line: int | None
    later_line: int | None
    is_reformation: bool


class LinkView(BaseModel):
    """One document that goes on where another ended. `compared`, `unread`: accounts that were, and
    that could not be compared; null while they are not compared yet.
    """

    earlier: PlaceView
    later: PlaceView
    compared: int | None
    unread: int | None
    difference_count: int | None
    differences: list[DifferenceView]


class GapView(BaseModel):
    """Days that no document covers, first to last."""

    first: date
    last: date


class OverlapView(BaseModel):
    """Two documents with days in common: the same period, one within the other, or in part."""

    first: PlaceView
    second: PlaceView
    kind: Overlap


class SeriesView(BaseModel):
    """Documents of one organisation, account and currency by their periods."""

    organisation_name: str | None
    organisation_inn: str | None
    account: str | None
    currency: str
    documents: list[OrderedDocument]
    links: list[LinkView]
    gaps: list[GapView]
    overlaps: list[OverlapView]


class ClientView(BaseModel):
    """All series of a client."""

    client_ref: str
    series: list[SeriesView]


class DocumentContinuity(BaseModel):
    """The links of one document to those before and after it; empty where it has no neighbours."""

    file_id: UUID
    ordinal: int
    links: list[LinkView]


def router(continuity: Continuity) -> APIRouter:
    """The routes."""
    api = APIRouter(tags=["continuity"])

    @api.get("/continuity")
    async def client(client_ref: Annotated[Words, Query()]) -> ClientView:
        """Show the documents of a client in their order, and what does not go on (R6).

        Documents without a period or an organisation, withdrawn ones and those of earlier attempts
        take no part.
        """
        orders = await continuity.of_client(client_ref)
        return ClientView(client_ref=client_ref, series=[_series(order) for order in orders])

    @api.get("/files/{file_id}/documents/{ordinal}/continuity", responses=answers(404))
    async def document(file_id: UUID, ordinal: Ordinal) -> DocumentContinuity:
        """Show how a document goes on where others of its client ended, and they where it did."""
        found = await continuity.of_document(file_id, ordinal)
        links = found[0].links_of(found[1]["id"]) if found else []
        return DocumentContinuity(file_id=file_id, ordinal=ordinal, links=[_link(x) for x in links])

    return api


def _series(order: Order) -> SeriesView:
    series, first = order.series, order.series.documents[0]
    return SeriesView(
        organisation_name=first["organisation_name"],
        organisation_inn=first["organisation_inn"],
        account=first["account"],
        currency=series.key.currency,
        documents=[_document(order, row) for row in series.documents],
        links=[_link(link) for link in order.links],
        gaps=[GapView(first=one, last=other) for one, other in series.gaps],
        overlaps=[
            OverlapView(first=_place(one), second=_place(other), kind=kind)
            for one, other, kind in series.overlaps
        ],
    )


def _document(order: Order, row: Row) -> OrderedDocument:
    own = OrderedDocument.model_fields.keys() - {"warning_count"}
    return OrderedDocument(
        warning_count=order.warnings(row["id"]), **{name: row[name] for name in own}
    )


def _place(row: Row) -> PlaceView:
    return PlaceView(file_id=row["file_id"], ordinal=row["ordinal"])


def _link(link: Link) -> LinkView:
    return LinkView(
        earlier=_place(link.earlier),
        later=_place(link.later),
        compared=link.compared,
        unread=link.unread,
        difference_count=link.difference_count,
        differences=[DifferenceView.model_validate(dict(one)) for one in link.differences],
    )
