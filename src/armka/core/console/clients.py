"""R6 on pages: the documents of a client in their order, and how one document goes on."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from armka.core.console.documents import Word
from armka.core.console.pages import Pages
from armka.core.continuity.series import Series
from armka.core.continuity.store import Continuity

_SUGGESTED = 20


class Clients:
    """The pages."""

    def __init__(self, pages: Pages, continuity: Continuity) -> None:
        self._pages = pages
        self._continuity = continuity

    async def page(self, request: Request, ref: str) -> Response:
        """A client's documents; of an unknown one, clients whose number begins so."""
        orders = await self._continuity.of_client(ref) if ref else []
        others = [] if orders else await self._continuity.clients(ref, _SUGGESTED)
        return self._pages.page(
            request, "client.html", ref=ref, orders=orders, others=others, bars=bars
        )

    async def piece(self, request: Request, file_id: UUID, ordinal: int) -> Response:
        """How one document goes on, to be shown in its page; raises FileNotFound."""
        found = await self._continuity.of_document(file_id, ordinal)
        links = found[0].links_of(found[1]["id"]) if found else []
        own = found[1]["id"] if found else None
        return self._pages.page(request, "continuity.html", links=links, own=own)


def bars(series: Series) -> list[tuple[float, float]]:
    """Where each document's period begins in the whole of the series and how long it is, in
    percent.
    """
    first = min(row["period_from"] for row in series.documents)
    whole = (max(row["period_to"] for row in series.documents) - first).days + 1
    return [
        (
            round(100 * (row["period_from"] - first).days / whole, 2),
            round(100 * ((row["period_to"] - row["period_from"]).days + 1) / whole, 2),
        )
        for row in series.documents
    ]


def router(shown: Clients) -> APIRouter:
    """The routes."""
    api = APIRouter()

    @api.get("/clients")
    async def page(request: Request, ref: Annotated[Word, Query()] = "") -> Response:
        return await shown.page(request, ref.strip())

    @api.get("/files/{file_id}/documents/{ordinal}/continuity")
    async def piece(
        request: Request, file_id: UUID, ordinal: Annotated[int, Path(ge=1, lt=2**31)]
    ) -> Response:
        return await shown.piece(request, file_id, ordinal)

    return api
