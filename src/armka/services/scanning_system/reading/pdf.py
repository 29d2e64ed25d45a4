"""PDF files: opened by PDFium, which runs no script and follows no link."""

import contextlib
from collections.abc import Iterator

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from armka.contract.vocabulary import ErrorCode
from armka.sdk import Refused
from armka.services.scanning_system.reading.calls import Limits

_POINTS = 72.0
_SAVE_ANEW = "Откройте документ, сохраните его заново без защиты и загрузите еще раз."


@contextlib.contextmanager
def opened(path: str, limits: Limits) -> Iterator[pypdfium2.PdfDocument]:
    """A document that may be read; raises Refused."""
    document = _open(path)
    try:
        pages = len(document)
        if pages == 0:
            raise Refused(ErrorCode.UNREADABLE, f"В документе PDF нет страниц. {_SAVE_ANEW}")
        if pages > limits.max_pages:
            raise Refused(
                ErrorCode.FILE_READ_ERROR,
                f"В документе {pages} страниц, читается не больше {limits.max_pages}. "
                "Разделите документ на части.",
            )
        yield document
    finally:
        document.close()


def _open(path: str) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise Refused(
                ErrorCode.INVALID_FORMAT, f"Документ PDF защищен паролем. {_SAVE_ANEW}"
            ) from None
        raise Refused(
            ErrorCode.UNREADABLE,
            "Документ PDF поврежден: он обрывается или записан с ошибками. "
            "Сохраните его заново и загрузите еще раз.",
        ) from None


@contextlib.contextmanager
def page_of(document: pypdfium2.PdfDocument, number: int) -> Iterator[pypdfium2.PdfPage]:
    """A page, numbered from 1; raises Refused."""
    try:
        page = document[number - 1]
    except (pypdfium2.PdfiumError, IndexError):
        raise Refused(
            ErrorCode.UNREADABLE,
            f"Страница {number} документа PDF повреждена. Сохраните документ заново.",
        ) from None
    try:
        yield page
    finally:
        page.close()


def dpi_within(page: pypdfium2.PdfPage, wanted: int, max_pixels: int) -> int:
    """The wanted resolution, or less where the page would have too many pixels."""
    area = page.get_width() * page.get_height() / _POINTS**2
    most = int((max_pixels / max(area, 1e-6)) ** 0.5)
    return max(min(wanted, most), 1)


def draw(page: pypdfium2.PdfPage, dpi: int) -> NDArray[np.uint8]:
    """The page as it is shown, RGB."""
    bitmap = page.render(scale=dpi / _POINTS, rev_byteorder=True, may_draw_forms=True)
    try:
        return np.array(bitmap.to_numpy()[..., :3], dtype=np.uint8, order="C")
    finally:
        bitmap.close()
