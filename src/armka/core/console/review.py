"""One document: its source beside its lines, what fails first, values corrected in their places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

import structlog
from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from armka.core.console.documents import Word, mark, may_of
from armka.core.console.pages import Pages
from armka.core.database.pool import Record
from armka.core.errors import DocumentNotFound, PageNotKept
from armka.core.files.store import FileRow, Files
from armka.core.jobs.states import FileStatus
from armka.core.review.documents import LineFilter, Opened, ReviewedDocuments, Window
from armka.core.review.grids import grid_of
from armka.core.review.pages import PageSources
from armka.core.review.values import AMOUNT_FIELDS, TEXT_FIELDS
from armka.objects.store import StoreUnavailable

log = structlog.get_logger(__name__)

PAGE = 100
_PROBLEMS_TOLD = 2000
_PAGES_SHOWN = 6
_LAST_LINE = 2**31 - 1

Number = Annotated[int, Query(ge=0, le=_LAST_LINE)]


@dataclass(frozen=True)
class Asked:
    """What the address asks for, as it was written."""

    file_id: UUID
    ordinal: int
    after: int = 0
    problems: bool = False
    check: int = 0
    account: str = ""
    text: str = ""

    @property
    def path(self) -> str:
        """The document's own address."""
        return f"/console/documents/{self.file_id}/{self.ordinal}"

    def address(self, **other: object) -> str:
        """The same document, some of what is asked for changed."""
        asked: dict[str, object] = {
            "problems": "true" if self.problems else "",
            "check": self.check,
            "account": self.account,
            "text": self.text,
            "after": self.after,
        } | other
        query = urlencode({name: value for name, value in asked.items() if value})
        return f"{self.path}?{query}" if query else self.path

    @property
    def filter(self) -> LineFilter:
        """The filter of lines that says the same."""
        return LineFilter(
            self.problems, self.check or None, self.account or None, self.text or None
        )


@dataclass(frozen=True)
class Cell:
    """One of a line's six values as it is shown. `at` names it on the page; `unread`: what stands
    there and could not be read, `meant`: what it may mean; `failed`: error, warning or nothing.
    """

    field: str
    at: str
    value: str | None
    unread: str | None
    meant: str | None
    corrected: Mapping[str, Any] | None
    failed: str
    place: str | None
    confidence: float | None


@dataclass(frozen=True)
class Row:
    """A line as it is shown: `part`: it is one of those that the chosen check names."""

    line: Mapping[str, Any]
    cells: list[Cell]
    failed: str
    is_part: bool
    texts: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Source:
    """What is shown beside the lines: a grid, or pages with the boxes of the lines on them."""

    grid: Mapping[str, Any] | None = None
    pages: list[Mapping[str, Any]] = field(default_factory=list)
    is_lost: bool = False


class Review:
    """The page of a document."""

    def __init__(
        self, pages: Pages, files: Files, documents: ReviewedDocuments, sources: PageSources
    ) -> None:
        self._pages = pages
        self._files = files
        self._documents = documents
        self._sources = sources

    async def page(self, request: Request, asked: Asked) -> Response:
        """The page; where nothing has been read, the file's own tells why. Raises FileNotFound."""
        # The file first: a correction in between is a conflict of the confirmation, no surprise.
        files = await self._files.some([asked.file_id])
        try:
            opened = await self._documents.one(asked.file_id, asked.ordinal)
        except DocumentNotFound:
            return RedirectResponse(f"/console/files/{asked.file_id}", status_code=303)
        return await self._reviewed(request, asked, files[0], opened)

    async def _reviewed(
        self,
        request: Request,
        asked: Asked,
        file: FileRow,
        opened: Opened,
    ) -> Response:
        may = may_of(request.state.principal)
        window = await self._documents.lines(opened.row, asked.filter, asked.after, PAGE)
        problems = await self._documents.problems(opened.row)
        is_open = file.file["status"] == FileStatus.NEEDS_CHECK and not file.file["withdrawn_at"]
        return self._pages.page(
            request,
            "review.html",
            asked=asked,
            row=file,
            file=file.file,
            mark=mark(dict(file.file)),
            may=may,
            document=opened.row,
            opened=opened,
            window=window,
            rows=rows_of(opened, window, asked.check),
            source=await self._source(opened, window),
            problems=problems[:_PROBLEMS_TOLD],
            problem_count=len(problems),
            is_editable=is_open and may["correct"],
            is_first=asked.after == 0,
            failing=sum(summary["error_count"] for summary in file.documents),
            unread=sum(summary["unknown_count"] for summary in file.documents),
            revisions=[summary["revision"] for summary in file.documents],
        )

    async def _source(self, opened: Opened, window: Window) -> Source:
        grid = grid_of(opened.row, window.lines)
        numbers = sorted({line["page"] for line in window.lines if line["page"] is not None})
        if grid is not None or not numbers:
            return Source(grid)
        pages: list[Mapping[str, Any]] = []
        for number in numbers[:_PAGES_SHOWN]:
            lines = [line for line in window.lines if line["page"] == number]
            try:
                page = await self._sources.page(opened.row, number, lines)
            except PageNotKept:
                continue
            except StoreUnavailable as error:
                log.warning("a page cannot be drawn now", why=str(error)[:200])
                return Source(None, pages, is_lost=True)
            pages.append(page | {"boxes": list(_boxes(lines))})
        return Source(None, pages)


def _boxes(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Where the values of these lines stand on their page."""
    return [
        {"at": f"{line['n']}-{name}", "line": line, "field": name, "box": box, "which": which}
        for line in lines
        for which, (name, box) in enumerate(zip(AMOUNT_FIELDS, line["boxes"] or [], strict=False))
        if box is not None
    ]


def rows_of(opened: Opened, window: Window, check: int) -> list[Row]:
    """Lines with what is to be seen of each value: unknown, corrected, failed."""
    failed: dict[tuple[int, str], str] = {}
    of_lines: dict[int, str] = {}
    for one in reversed(opened.checks):
        for n in _about(one):
            if one["value_column"] is not None:
                _worse(failed, (n, one["value_column"]), one["severity"])
            else:
                _worse(of_lines, n, one["severity"])
    parts = next((set(one["lines"]) for one in opened.checks if one["ordinal"] == check), set())
    return [
        Row(
            line,
            [_cell(line, which, failed) for which in range(len(AMOUNT_FIELDS))],
            of_lines.get(line["n"], ""),
            line["n"] in parts,
            {one["field"]: one for one in line["corrected"] if one["field"] in TEXT_FIELDS},
        )
        for line in window.lines
    ]


def _about(check: Record) -> list[int]:
    """The lines that need an eye: of a sum the one that it should have been."""
    lines: list[int] = check["lines"]
    return lines if len(lines) <= 2 else lines[:1]  # noqa: PLR2004 - two that repeat each other


def _worse(known: dict[Any, str], key: Any, severity: str) -> None:
    known[key] = "error" if "error" in (known.get(key), severity) else severity


def _cell(line: Mapping[str, Any], which: int, failed: Mapping[tuple[int, str], str]) -> Cell:
    name = AMOUNT_FIELDS[which]
    unknown: Mapping[str, Any] = next((it for it in line["unknown"] if it["column"] == name), {})
    return Cell(
        field=name,
        at=f"{line['n']}-{name}",
        value=line["values"][which],
        unread=unknown.get("raw"),
        meant=unknown.get("suggested"),
        corrected=next((it for it in line["corrected"] if it["field"] == name), None),
        failed=failed.get((line["n"], name), ""),
        place=(line["cells"] or [None] * 6)[which],
        confidence=(line["confidence"] or [None] * 6)[which],
    )


def router(review: Review) -> APIRouter:
    """The route."""
    api = APIRouter()

    @api.get("/documents/{file_id}/{ordinal}")
    async def page(
        request: Request,
        file_id: UUID,
        ordinal: int,
        after: Number = 0,
        problems: bool = False,
        check: Number = 0,
        account: Word = "",
        text: Word = "",
    ) -> Response:
        number = min(max(ordinal, 1), _LAST_LINE)
        words = (account.strip(), text.strip())
        return await review.page(request, Asked(file_id, number, after, problems, check, *words))

    return api
