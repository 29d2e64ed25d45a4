"""A new attempt against an old one, on a page: what was read otherwise, what to carry over."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from armka.core.carrying.lines import Verdict
from armka.core.carrying.store import Carrying
from armka.core.console.documents import may_of
from armka.core.console.pages import Pages
from armka.core.errors import AttemptNotFound

_LINES_SHOWN = 200


class AttemptsSideBySide:
    """The page."""

    def __init__(self, pages: Pages, carrying: Carrying) -> None:
        self._pages = pages
        self._carrying = carrying

    async def page(self, request: Request, file_id: UUID, against: int | None) -> Response:
        """The current attempt against an earlier one; raises FileNotFound."""
        try:
            found = await self._carrying.compared(file_id, against)
        except AttemptNotFound:
            return self._pages.page(request, "not_found.html", status=404)
        return self._pages.page(
            request,
            "changes.html",
            found=found,
            verdicts=list(Verdict),
            most=_LINES_SHOWN,
            may=may_of(request.state.principal),
        )


def router(shown: AttemptsSideBySide) -> APIRouter:
    """The routes."""
    api = APIRouter()

    @api.get("/files/{file_id}/changes")
    async def page(
        request: Request,
        file_id: UUID,
        against: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    ) -> Response:
        return await shown.page(request, file_id, against)

    return api
