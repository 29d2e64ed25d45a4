"""The handler of scan-gateway: the answer of ИС Сканирование becomes trial balances (ОСВ), or a
refusal that a person understands.
"""

from time import perf_counter

from armka.contract.vocabulary import ErrorCode
from armka.osv import scanned
from armka.osv.paper import Gate
from armka.osv.reports import NotTrialBalance, SheetNotRead
from armka.sdk.handler import Recognition, Refused, Source
from armka.services.scan_gateway import answer, wording
from armka.services.scan_gateway.answer import ScanningAnswer
from armka.services.scan_gateway.settings import ReadingSettings


def recognise(source: Source) -> Recognition:
    """Read the trial balances of a file out of what ИС Сканирование answered; raises Refused.

    It may take memory and time without bound on a hostile answer, so it belongs into a child
    process with limits on both.
    """
    started = perf_counter()
    assert source.answer is not None
    settings = ReadingSettings()
    found = answer.read(source.answer.path, source.answer.reference, settings)
    if not any(page.words or page.tables for page in found.pages):
        raise Refused(ErrorCode.UNREADABLE, wording.BLANK)
    try:
        reading = scanned.read(found.pages, Gate(settings.min_confidence, settings.min_dpi))
    except SheetNotRead as error:
        raise _refusal(error) from None
    metrics: dict[str, object] = {
        "pages": len(found.pages),
        "recognised_pages": sum(page.source == "ocr" for page in found.pages),
        "documents": len(reading.documents),
        "lines": sum(len(document.lines) for document in reading.documents),
        "parse_seconds": round(perf_counter() - started, 3),
        "engine": _engine(found),
    }
    return Recognition(reading.documents, [*reading.warnings, *found.warnings], metrics)


def _refusal(error: SheetNotRead) -> Refused:
    none = isinstance(error, NotTrialBalance)
    code = ErrorCode.INVALID_DOCUMENT if none else ErrorCode.NOT_IMPLEMENTED
    return Refused(code, wording.not_read(error.explanation))


def _engine(found: ScanningAnswer) -> str:
    return f"{found.engine.name} {found.engine.version}"[:100]
