"""One file: what happened to it, what to do about its error, its attempts."""

from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from armka.core.console.documents import mark, may_of
from armka.core.console.pages import Pages
from armka.core.history.store import Histories


class FileHistory:
    """The page of a file."""

    def __init__(self, pages: Pages, histories: Histories) -> None:
        self._pages = pages
        self._histories = histories

    async def page(self, request: Request, file_id: UUID) -> Response:
        """Everything about a file; raises FileNotFound."""
        history = await self._histories.of(file_id)
        return self._pages.page(
            request,
            "file.html",
            file=history.file,
            history=history,
            mark=mark(history.file),
            may=may_of(request.state.principal),
        )


def router(shown: FileHistory) -> APIRouter:
    """The routes."""
    api = APIRouter()

    @api.get("/files/{file_id}")
    async def page(request: Request, file_id: UUID) -> Response:
        return await shown.page(request, file_id)

    return api
