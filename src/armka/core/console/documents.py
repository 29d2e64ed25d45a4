"""Documents: the list that is searched, kept live and uploaded into."""

import base64
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import Response, StreamingResponse

from armka.core.console.pages import HEADERS, Pages
from armka.core.database.paging import Keyset
from armka.core.files.changes import FileChanges, Look
from armka.core.files.listing import FileFilter
from armka.core.files.store import FileRow, Files
from armka.core.identity.access import rule_of
from armka.core.identity.principal import Principal
from armka.core.identity.sessions import Sessions
from armka.core.jobs.states import FileStatus

PATH = "/console/documents"
PAGE = 50
LOOKED_AT_MOST = 300
_HEARTBEAT_SECONDS = 15.0
_UUID_BYTES = 16
_MICROSECOND = 1_000_000

Word = Annotated[str, Query(max_length=255, pattern=r"^[^\x00]*$")]


@dataclass(frozen=True)
class Wanted:
    """What the address asks for, as it was written: it is shown again in the form."""

    name: str
    organisation: str
    client: str
    status: str
    period_from: str
    period_to: str

    @property
    def given(self) -> dict[str, str]:
        """What is not empty."""
        return {name: value for name, value in vars(self).items() if value}

    def address(self, **more: str) -> str:
        """The same list as an address."""
        query = urlencode(self.given | more)
        return f"{PATH}?{query}" if query else PATH

    def filter(self) -> FileFilter:
        """The filter of the list of files that says the same; raises ValueError."""
        return FileFilter(
            status=FileStatus(self.status) if self.status else None,
            client_ref=self.client or None,
            name=self.name or None,
            organisation=self.organisation or None,
            period_from=date.fromisoformat(self.period_from) if self.period_from else None,
            period_to=date.fromisoformat(self.period_to) if self.period_to else None,
        )


@dataclass(frozen=True)
class Shown:
    """One page of the list. `looked_to`: how far back it looked where it found less than a page."""

    rows: list[FileRow]
    following: str | None
    looked_to: datetime | None


class Documents:
    """The pages of the list."""

    def __init__(
        self,
        pages: Pages,
        files: Files,
        changes: FileChanges,
        sessions: Sessions,
        upload_limit: int,
    ) -> None:
        self._pages = pages
        self._files = files
        self._changes = changes
        self._sessions = sessions
        self._upload_limit = upload_limit

    async def page(self, request: Request, wanted: Wanted, after: str | None) -> Response:
        """The whole page, or the rows alone where a page that is there asks for more."""
        try:
            asked, keyset = wanted.filter(), _keyset(after)
        except ValueError:
            return self._pages.page(request, "unclear.html", status=400)
        rows, following = await self._files.page(asked, keyset, PAGE)
        shown = Shown(
            rows,
            _cursor(following) if following else None,
            following[0] if following and len(rows) < PAGE else None,
        )
        is_piece = request.headers.get("hx-request") is not None and after is not None
        name = "rows.html" if is_piece else "documents.html"
        return self._pages.page(
            request,
            name,
            wanted=wanted,
            shown=shown,
            is_first=after is None,
            statuses=list(FileStatus),
            newest=_micros(await self._changes.newest()) if not is_piece else 0,
            mark=mark,
            may=may_of(request.state.principal),
            upload_limit=self._upload_limit,
        )

    def live(self, request: Request, marks: str, newest: int) -> Response:
        """What changes of the files that a page shows, as rows of it, until it is closed."""
        try:
            versions = dict(_unmark(word) for word in marks.split(",") if word)
        except ValueError:
            raise HTTPException(400, "these are no marks of files") from None
        if len(versions) > LOOKED_AT_MOST:
            raise HTTPException(400, f"a page looks at {LOOKED_AT_MOST} files at most")
        moment = datetime.fromtimestamp(newest / _MICROSECOND, UTC) if newest else None
        return StreamingResponse(
            self._events(request, versions, moment),
            media_type="text/event-stream",
            headers=HEADERS | {"X-Accel-Buffering": "no"},
        )

    async def _events(
        self, request: Request, versions: dict[UUID, int], newest: datetime | None
    ) -> AsyncIterator[str]:
        yield "retry: 1500\n\n"
        async with self._changes.looking(versions, newest) as look:
            while not look.is_over:
                changed, newer = await look.news(_HEARTBEAT_SECONDS)
                if not changed and not newer:
                    yield ": still here\n\n"
                if not await self._may_stay(request):
                    yield "event: over\ndata:\n\n"
                    return
                if newer:
                    yield "event: newer\ndata:\n\n"
                for row in await self._files.some(changed) if changed else []:
                    yield self._event(request, row, look)

    def _event(self, request: Request, row: FileRow, look: Look) -> str:
        # The row may be newer than the version that was told of.
        look.versions[row.file["id"]] = row.file["version"]
        may = may_of(request.state.principal)
        html = self._pages.piece(request, "live_row.html", row=row, mark=mark, may=may)
        lines = "\n".join(f"data: {line}" for line in html.splitlines() if line.strip())
        return f"event: row\n{lines}\n\n"

    async def _may_stay(self, request: Request) -> bool:
        """Whether the session, if it is one, still lasts."""
        cookie: str | None = request.state.cookie
        return cookie is None or await self._sessions.user(cookie) is not None


def router(documents: Documents) -> APIRouter:
    """The routes."""
    api = APIRouter()

    @api.get("/documents")
    async def page(
        request: Request,
        name: Word = "",
        organisation: Word = "",
        client: Word = "",
        status: Word = "",
        period_from: Word = "",
        period_to: Word = "",
        after: str | None = None,
    ) -> Response:
        words = (name, organisation, client, status, period_from, period_to)
        wanted = Wanted(*(word.strip() for word in words))
        return await documents.page(request, wanted, after)

    @api.get("/documents/live")
    async def live(
        request: Request,
        marks: Annotated[str, Query(max_length=16_000)] = "",
        newest: Annotated[int, Query(ge=0, lt=10**17)] = 0,
    ) -> Response:
        return documents.live(request, marks, newest)

    return api


def mark(file: Mapping[str, Any]) -> str:
    """A file and the version in which it is shown, in few letters."""
    number = base64.urlsafe_b64encode(file["id"].bytes).decode().rstrip("=")
    return f"{number}.{file['version']}"


def _unmark(word: str) -> tuple[UUID, int]:
    number, _, version = word.partition(".")
    raw = base64.urlsafe_b64decode(f"{number}==")
    if len(raw) != _UUID_BYTES:
        raise ValueError(word)
    return UUID(bytes=raw), int(version)


def may_of(user: Principal) -> dict[str, bool]:
    """Which buttons this reader has use for: the same table that lets the request through."""
    wanted = {
        "upload": ("POST", "/api/v1/files"),
        "repeat": ("POST", "/api/v1/files/x/attempts"),
        "withdraw": ("POST", "/api/v1/files/x/withdraw"),
        "correct": ("POST", "/api/v1/files/x/documents/1/corrections"),
        "confirm": ("POST", "/api/v1/files/x/confirm"),
        "carry_over": ("POST", "/api/v1/files/x/documents/1/carry-over"),
    }
    rules = {name: rule_of(*asked) for name, asked in wanted.items()}
    return {name: rule is not None and rule.admits(user) for name, rule in rules.items()}


def _micros(moment: datetime | None) -> int:
    if moment is None:
        return 0
    since = moment - datetime.fromtimestamp(0, UTC)
    return (since.days * 86400 + since.seconds) * _MICROSECOND + since.microseconds


def _cursor(keyset: Keyset) -> str:
    moment, row_id = keyset
    return f"{_micros(moment)}-{row_id}"


def _keyset(cursor: str | None) -> Keyset:
    """Read `after`; raises ValueError."""
    if cursor is None:
        return None, None
    micros, _, row_id = cursor.partition("-")
    try:
        seconds, rest = divmod(int(micros), _MICROSECOND)
        moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)
        return moment, UUID(row_id)
    except (OverflowError, OSError):
        raise ValueError(cursor) from None
