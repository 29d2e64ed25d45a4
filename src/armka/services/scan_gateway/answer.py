"""The answer of ИС Сканирование as data. It comes from outside, and is read in a child process."""

from pathlib import Path

import msgspec

from armka.contract.fields import Version
from armka.contract.vocabulary import ErrorCode
from armka.osv import pages
from armka.osv.pages import Page
from armka.sdk.handler import Refused
from armka.services.scan_gateway import wording
from armka.services.scan_gateway.settings import ReadingSettings


class Engine(msgspec.Struct, frozen=True):
    """What recognised the pages."""

    name: str
    version: str


class ScanningAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`GET /v1/documents/{id}/result`. What it has beside these fields is nobody's business."""

    schema_version: Version
    document_id: str
    engine: Engine
    pages: list[Page]
    warnings: list[str] = []


_decoder = msgspec.json.Decoder(ScanningAnswer)


def read(path: Path, document: str, limits: ReadingSettings) -> ScanningAnswer:
    """Read the answer about a document.

    Raises Refused: SCHEMA_MISMATCH where it is none, or is about another document; FILE_READ_ERROR
    where the file has more pages, or larger ones, than are read.
    """
    try:
        answer: ScanningAnswer = _decoder.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _not_as_agreed(str(error)) from None
    if answer.document_id != document:
        raise _not_as_agreed(f"the result of {answer.document_id[:128]!r}, not of {document!r}")
    if len(answer.pages) > limits.max_pages:
        reason = wording.too_many_pages(len(answer.pages), limits.max_pages)
        raise Refused(ErrorCode.FILE_READ_ERROR, reason)
    for page in answer.pages:
        if page.width * page.height > limits.max_page_pixels:
            reason = wording.page_too_large(page.number, page.width, page.height)
            raise Refused(ErrorCode.FILE_READ_ERROR, reason)
    problem = pages.problem(answer.pages)
    if problem is not None:
        raise _not_as_agreed(problem)
    return answer


def _not_as_agreed(reason: str) -> Refused:
    return Refused(ErrorCode.SCHEMA_MISMATCH, wording.not_as_agreed(reason))
