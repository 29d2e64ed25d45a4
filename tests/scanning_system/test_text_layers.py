"""PDFs with a text layer: every amount, every code, and where they stand."""

import io
from itertools import pairwise
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from armka.sdk import Refused
from armka.services.scanning_system.reading.calls import Limits, ReadCall
from armka.services.scanning_system.reading.page import read_page
from tests.pages import samples
from tests.pages.degrading import encode, rasterise
from tests.pages.scoring import score

LIMITS = Limits(max_pages=500, max_pixels=70_000_000, tessdata=None)


@pytest.mark.parametrize("name", samples.NAMES)
def test_every_cell_is_read_as_printed(name, tmp_path: Path):
    sample = samples.load(name)
    path = tmp_path / "document.pdf"
    path.write_bytes(sample.pdf)

    for number, rows in enumerate(sample.pages, 1):
        read = read_page(ReadCall(str(path), "PDF", number, LIMITS))
        result = score(read.page, rows)

        assert (read.page.source, result.misses) == ("text", [])
        assert result.codes_right == result.codes
        assert {word.confidence for word in read.page.words} == {None}


def test_a_page_that_lies_on_its_side_is_turned(tmp_path: Path):
    path = tmp_path / "document.pdf"
    path.write_bytes(samples.load("one_column_turned").pdf)

    page = read_page(ReadCall(str(path), "PDF", 1, LIMITS)).page

    assert page.rotation == 270  # what is shown is turned by 90, and turned back
    assert page.width > page.height
    boxes = [word.box for word in page.words]
    assert all(0 <= left < right <= page.width for left, _, right, _ in boxes)
    assert all(0 <= top < bottom <= page.height for _, top, _, bottom in boxes)


def test_header_cells_span_what_they_head(tmp_path: Path):
    path = tmp_path / "document.pdf"
    for name in ("bordered", "light", "borderless"):
        path.write_bytes(samples.load(name).pdf)
        cells = read_page(ReadCall(str(path), "PDF", 1, LIMITS)).page.tables[0].cells
        spans = {cell.text: (cell.row_span, cell.column_span) for cell in cells}

        assert spans["Счет"] == (2, 1)
        assert spans["Обороты за период"] == (1, 2)


def test_a_picture_without_the_engine_is_refused_and_says_what_is_missing(tmp_path: Path):
    path = tmp_path / "page.png"

    picture = rasterise(samples.load("bordered").pdf, 50, [0])[0]
    path.write_bytes(encode(picture, ".png"))

    with pytest.raises(Refused, match="tesserocr") as refusal:
        read_page(ReadCall(str(path), "PNG", 1, LIMITS))
    assert refusal.value.code == "NOT_IMPLEMENTED"


EDGES = (50, 120, 220, 320)


def written(path: Path, *texts: tuple[float, str]) -> list[str]:
    """The cells of a row of three, as they are read, where commands write such texts from such
    places on.
    """
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for top in (700, 680):
        for left, right in pairwise(EDGES):
            canvas.rect(left, top, right - left, 20)
    canvas.setFont("Helvetica", 10)
    for x, text in texts:
        canvas.drawString(x, 706, text)
    canvas.drawString(52, 686, "51")
    canvas.save()
    path.write_bytes(buffer.getvalue())
    cells = read_page(ReadCall(str(path), "PDF", 1, LIMITS)).page.tables[0].cells
    return [cell.text for cell in cells if cell.row == 0]


@pytest.mark.parametrize(
    ("texts", "cells"),
    [
        (
            [(52, "Kassa ruble 17/23"), (180, "1 234,56")],
            ["Kassa ruble 17/23", "1 234,56", ""],
        ),
        ([(52, "Kassa rublevaya")], ["Kassa rublevaya", "", ""]),
        ([(90, "Kassa"), (121, "1 234,56")], ["Kassa", "1 234,56", ""]),
        ([(70, "Kassa 51    1 234,56    7 890,12")], ["Kassa 51", "1 234,56 7 890,12", ""]),
        ([(64, "Kassa (rub.) 1 234,56")], ["Kassa (rub.)", "1 234,56", ""]),
        ([(178, "1 234,56")], ["", "1 234,56", ""]),
    ],
    ids=[
        "a label that runs into the next cell",
        "a word that crosses the border",
        "two texts beside each other",
        "a row written at once, with gaps",
        "a row written at once",
        "an amount that begins in its cell",
    ],
)
def test_a_text_belongs_to_the_cell_it_begins_in(texts, cells, tmp_path: Path):
    """But for an amount, which is where it stands."""
    assert written(tmp_path / "document.pdf", *texts) == cells
