"""The two procedures of the child processes: look at a document, read a page of it."""

import msgspec
import numpy as np
import pypdfium2
from numpy.typing import NDArray

from armka.contract.vocabulary import ErrorCode
from armka.sdk import Refused
from armka.services.scanning_system import answer
from armka.services.scanning_system.reading import pdf, pictures, text_layer
from armka.services.scanning_system.reading.calls import InspectCall, Inspected, ReadCall
from armka.services.scanning_system.reading.layout import quarter_turn, sheets_of, word
from armka.services.scanning_system.reading.rules import grids

TEXT_DPI = 200
SCAN_DPI = 300
SCAN_DPI_LEAST = 100
_NEAR_POINTS = 1.5


def inspect(argument: bytes) -> bytes:
    """Say how many pages there are; raises Refused."""
    call = msgspec.json.decode(argument, type=InspectCall)
    if call.kind == "PDF":
        with pdf.opened(call.path, call.limits) as document:
            return msgspec.json.encode(Inspected(len(document)))
    pictures.load(call.path, call.kind, call.limits)
    return msgspec.json.encode(Inspected(1))


def read(argument: bytes) -> bytes:
    """Read a page: a `PageAnswer`; raises Refused."""
    return msgspec.json.encode(read_page(msgspec.json.decode(argument, type=ReadCall)))


def read_page(call: ReadCall) -> answer.PageAnswer:
    """Read a page by its text layer where that is usable, else by its picture; raises Refused."""
    if call.kind == "PDF":
        with (
            pdf.opened(call.path, call.limits) as document,
            pdf.page_of(document, call.number) as page,
        ):
            return _of_pdf(page, call)
    picture, dpi = pictures.load(call.path, call.kind, call.limits)
    return _recognised(picture, dpi, call)


def _of_pdf(page: pypdfium2.PdfPage, call: ReadCall) -> answer.PageAnswer:
    text = page.get_textpage()
    try:
        turn = (text_layer.turn_of(text) - page.get_rotation()) % 360
        dpi = pdf.dpi_within(page, TEXT_DPI, call.limits.max_pixels)
        frame = text_layer.frame(page, dpi, turn)
        glyphs = text_layer.glyphs(text, frame)
        if text_layer.is_usable(glyphs, page) or not (glyphs or text_layer.has_ink(page)):
            return _of_text(page, text, frame, glyphs, call.number)
    finally:
        text.close()
    # A scan is drawn as it is: more pixels would only pretend to show more.
    wanted = max(text_layer.scan_dpi(page) or SCAN_DPI, SCAN_DPI_LEAST)
    dpi = pdf.dpi_within(page, min(wanted, SCAN_DPI), call.limits.max_pixels)
    return _recognised(pdf.draw(page, dpi), dpi, call)


def _of_text(
    page: pypdfium2.PdfPage,
    text: pypdfium2.PdfTextPage,
    frame: text_layer.Frame,
    glyphs: list[text_layer.Glyph],
    number: int,
) -> answer.PageAnswer:
    across, down = text_layer.rules(page, frame)
    found = grids(across, down, _NEAR_POINTS * frame.dpi / 72)
    marks = text_layer.words(glyphs, found, text)
    sheets = sheets_of(found, marks)
    return answer.PageAnswer(
        answer.Page(
            number=number,
            width=frame.width,
            height=frame.height,
            dpi=frame.dpi,
            rotation=frame.rotation,
            skew=0.0,
            source="text",
            words=[word(mark) for mark in marks],
            tables=[sheet.done() for sheet in sheets],
            transform=quarter_turn(frame.rotation, frame.width, frame.height),
        )
    )


def _recognised(picture: NDArray[np.uint8], dpi: int | None, call: ReadCall) -> answer.PageAnswer:
    if call.limits.tessdata is None:
        raise Refused(
            ErrorCode.NOT_IMPLEMENTED,
            f"Страница {call.number} - изображение без текстового слоя, а распознавание "
            "изображений на этом сервере не установлено (нужны tesserocr и данные rus). "
            "Загрузите документ PDF, сохраненный из программы.",
        )
    from armka.services.scanning_system.reading import scan  # noqa: PLC0415 - may not be installed

    return scan.read(picture, dpi, call.number, call.limits.tessdata)
