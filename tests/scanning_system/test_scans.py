"""Pages that are pictures, as scanners and cameras deliver them."""

import io
from random import Random

import numpy as np
import pytest
from PIL import Image
from pypdfium2 import PdfDocument, PdfImage, PdfMatrix

from armka.services.scanning_system.reading.calls import Limits, ReadCall
from armka.services.scanning_system.reading.page import read_page
from armka.services.scanning_system.reading.preview import MOST_BYTES
from armka.services.scanning_system.reading.scan import read
from tests.books.ledger import make
from tests.books.recognised import texts, truth
from tests.pages import samples
from tests.pages.degrading import Degradation, degrade, encode, rasterise
from tests.pages.scoring import score
from tests.scan_gateway.reading import read as recognised
from tests.scanning_system.answers import answered, not_as_printed

SCANNED = Degradation(skew=-0.8, blur=0.5, noise=4, shadow=0.15, jpeg=75)


@pytest.mark.parametrize(
    ("name", "dpi", "suffering", "least"),
    [
        ("bordered", 200, Degradation(stamp=True, skew=0.7, blur=0.4, noise=4, jpeg=75), 0.995),
        ("borderless", 300, Degradation(turned=2, skew=-0.5, noise=4, jpeg=75), 0.98),
        ("bordered", 200, Degradation(photo=0.03, blur=0.4, noise=4, jpeg=80, turned=3), 0.95),
    ],
    ids=["sealed", "upside-down", "photographed"],
)
def test_amounts_are_read_and_misses_are_marked(tessdata, name, dpi, suffering, least):
    sample = samples.load(name)
    last = len(sample.pages) - 1
    picture = degrade(rasterise(sample.pdf, dpi, [last])[0], suffering, seed=3)

    page = read(picture, dpi, 1, tessdata).page
    result = score(page, sample.pages[last])

    assert result.right >= result.cells * least, result.misses
    assert result.silent == []
    assert page.source == "ocr"
    assert page.rotation == suffering.turned * 90 * 3 % 360


def test_boxes_lead_back_to_the_page_as_it_came(tessdata):
    sample = samples.load("bordered")
    last = len(sample.pages) - 1
    picture = degrade(rasterise(sample.pdf, 150, [last])[0], Degradation(skew=2.0, turned=1), 3)

    page = read(picture, 150, 1, tessdata).page
    back = np.linalg.inv(np.array(page.transform).reshape(3, 3))

    dark = 0
    for word in page.words:
        left, top, right, bottom = word.box
        x, y, z = back @ [(left + right) / 2, (top + bottom) / 2, 1]
        around = picture[
            max(round(y / z) - 8, 0) : round(y / z) + 8, max(round(x / z) - 8, 0) : round(x / z) + 8
        ]
        dark += around.size > 0 and around.min() < 128
    assert dark >= len(page.words) * 0.95
    _assert_shows(page)


def _assert_shows(page):
    """The small picture is the upright page: there is ink where its words are."""
    assert len(page.preview.data) <= MOST_BYTES
    small = np.asarray(Image.open(io.BytesIO(page.preview.data)).convert("L"))
    across, down = small.shape[1] / page.width, small.shape[0] / page.height
    assert across == pytest.approx(down, rel=0.01)
    inked = 0
    for word in page.words:
        left, top, right, bottom = word.box
        around = small[
            round(top * down) : round(bottom * down) + 1,
            round(left * across) : round(right * across) + 1,
        ]
        inked += around.size > 0 and around.min() < 160
    assert inked >= len(page.words) * 0.95


def test_a_file_may_mix_scans_and_printed_pages(tessdata, tmp_path):
    """As where a signed page is scanned and put in the place of the printed one: one document."""
    path = tmp_path / "mixed.pdf"
    count = _mix(samples.load("bordered").pdf, path)
    limits = Limits(max_pages=9, max_pixels=70_000_000, tessdata=tessdata)
    pages = [read_page(ReadCall(str(path), "PDF", n + 1, limits)).page for n in range(count)]

    (document,) = recognised(tmp_path, answered(pages)).documents

    assert [page.source for page in pages] == ["text"] * (count - 1) + ["ocr"]
    assert document.source.pages == list(range(1, count + 1))
    ledger = make(Random(700), share=0.8, largest=10**10)
    printed = [(code, values) for code, *_, values in truth(ledger)] + [(None, texts(ledger.total))]
    assert [line.account for line in document.lines] == [code for code, _ in printed]
    for line, (_, told) in zip(document.lines, printed, strict=True):
        assert not_as_printed(line, told) == []


def _mix(pdf, path):
    """The last page as a picture of it."""
    given, mixed = PdfDocument(pdf), PdfDocument.new()
    count = len(given)
    mixed.import_pages(given, list(range(count - 1)))
    jpeg = encode(degrade(rasterise(pdf, 200, [count - 1])[0], SCANNED, 3), ".jpg")
    width, height = given[count - 1].get_size()
    image = PdfImage.new(mixed)
    image.load_jpeg(io.BytesIO(jpeg), inline=True)
    image.set_matrix(PdfMatrix().scale(width, height))
    page = mixed.new_page(width, height)
    page.insert_obj(image)
    page.gen_content()
    mixed.save(str(path))
    return count


def test_a_blank_page_is_an_answer(tessdata):
    page = read(np.full((1200, 900, 3), 255, np.uint8), 100, 1, tessdata)

    assert (page.page.words, page.page.tables) == ([], [])
    assert page.warnings
