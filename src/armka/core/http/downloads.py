"""Downloads: the source document, and its lines as CSV, XLSX or JSON. Never shown, always saved."""

import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from armka.core.files.csv_sheet import CsvSheet
from armka.core.files.export import Exports, Sheets, path_in, scratch
from armka.core.files.json_sheet import JsonSheet
from armka.core.files.source import Sources
from armka.core.files.xlsx_sheet import XlsxSheets
from armka.core.http.asked import Caller
from armka.core.http.problems import answers
from armka.core.identity.audit import Audit

_BYTES = "application/octet-stream"
_CSV = "text/csv; charset=utf-8"
_JSON = "application/json"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

# What a browser may do with somebody's document: save it.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


def router(sources: Sources, exports: Exports, audit: Audit) -> APIRouter:
    """The downloads under `/files`."""
    api = APIRouter(prefix="/files", tags=["downloads"])

    @api.get("/{file_id}/source", response_class=FileResponse, responses=_answers(_BYTES, 404))
    async def source(caller: Caller, file_id: UUID) -> FileResponse:
        """Download the document as it was uploaded; its digest is checked before it is sent."""
        folder = scratch()
        try:
            path, name = await sources.fetch(file_id, Path(folder.name))
            await audit.record(caller, "file.source", file_id)
        except BaseException:
            folder.cleanup()
            raise
        return _saved(path, name, _BYTES, folder.cleanup)

    @api.get(
        "/{file_id}/lines.csv", response_class=FileResponse, responses=_answers(_CSV, 404, 409)
    )
    async def as_csv(caller: Caller, file_id: UUID) -> FileResponse:
        """Download the lines as CSV for a Russian Excel: UTF-8 with BOM, `;`, decimal comma."""
        await audit.record(caller, "file.exported", file_id, kind="csv")
        return await _exported(exports, file_id, "csv", CsvSheet, _CSV)

    @api.get(
        "/{file_id}/lines.xlsx", response_class=FileResponse, responses=_answers(_XLSX, 404, 409)
    )
    async def as_xlsx(caller: Caller, file_id: UUID) -> FileResponse:
        """Download the lines as a workbook, a sheet for each document."""
        await audit.record(caller, "file.exported", file_id, kind="xlsx")
        return await _exported(exports, file_id, "xlsx", XlsxSheets, _XLSX)

    @api.get(
        "/{file_id}/lines.json", response_class=FileResponse, responses=_answers(_JSON, 404, 409)
    )
    async def as_json(caller: Caller, file_id: UUID) -> FileResponse:
        """Download all lines as JSON, with what was corrected of them."""
        await audit.record(caller, "file.exported", file_id, kind="json")
        return await _exported(exports, file_id, "json", JsonSheet, _JSON)

    return api


async def _exported(
    exports: Exports, file_id: UUID, ending: str, make: Callable[[Path], Sheets], kind: str
) -> FileResponse:
    exported = await exports.begin(file_id)
    folder = scratch()
    path = path_in(folder.name, ending)
    try:
        await exports.write(exported, make(path))
    except BaseException:
        folder.cleanup()
        raise
    name = f"{PurePath(exported.original_name).stem} ОСВ.{ending}"
    return _saved(path, name, kind, folder.cleanup)


def _saved(path: Path, name: str, kind: str, afterwards: Callable[[], None]) -> FileResponse:
    headers = _HEADERS | {"Content-Disposition": attachment(name)}
    return FileResponse(
        path, media_type=kind, headers=headers, background=BackgroundTask(afterwards)
    )


def attachment(name: str) -> str:
    """A `Content-Disposition` (RFC 6266): the name as UTF-8, and in ASCII for old clients."""
    plain = re.sub(r'[^ -~]|["\\%;]', "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _answers(kind: str, *problems: int) -> dict[int | str, dict[str, Any]]:
    content = {kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}}
    return {200: {"description": "The document.", "content": content}} | answers(*problems)
