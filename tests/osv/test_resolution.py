"""How fine a page is that says nothing of it, or says too much."""

import pytest

from armka.osv import resolution
from armka.osv.pages import Page, Word

A4_AT_300 = (2480, 3508)


def page(size: tuple[int, int], dpi: float | None, *words: tuple[str, float]) -> Page:
    """A page with words so high."""
    return Page(
        number=1, width=size[0], height=size[1], dpi=dpi, source="ocr",
        words=[Word(text, (0, 0, 10, height), 0.9) for text, height in words],
    )  # fmt: skip


# As high as the figures and the comma that hangs below them.
AMOUNTS = [(f"{number} 234,56", 24.0 / 0.84) for number in range(51, 70)]
FIGURES = [(f"{number}", 24.0) for number in range(51, 70)]


def test_what_the_picture_says_counts_as_far_as_a_sheet_has_pixels_for_it():
    assert resolution.of_page(page(A4_AT_300, 200)) == 200
    assert resolution.of_page(page((1240, 1754), 300)) == pytest.approx(150, abs=1)


def test_a_silent_picture_is_measured_by_its_figures():
    """Of a photograph the sheet is a part only: its pixels are no measure of the page."""
    far = [(text, 12.0) for text, _ in FIGURES]
    letters = [("Итого", 40.0)] * 50
    assert resolution.of_page(page(A4_AT_300, None, *FIGURES, *letters)) == pytest.approx(
        300, abs=1
    )
    assert resolution.of_page(page(A4_AT_300, None, *AMOUNTS)) == pytest.approx(300, abs=1)
    assert resolution.of_page(page((4000, 6000), None, *far)) == pytest.approx(150, abs=1)


@pytest.mark.parametrize("words", [(), FIGURES[:9], [("Сальдо", 24.0)] * 100])
def test_what_cannot_be_measured_is_nothing(words):
    assert resolution.of_page(page(A4_AT_300, None, *words)) == 0
