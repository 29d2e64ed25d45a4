"""How fine a recognised page is, in dots per inch; what nobody knows counts as nothing."""

import re
from statistics import median

from armka.osv.pages import Page

_LONG_SIDE_INCHES = 11.69  # of A4
# A figure of the type that 1С prints with, 8 pt: as high as 0.72 of it.
_FIGURE_INCHES = 8 * 0.72 / 72
_FIGURES_LEAST = 10
_FIGURES = re.compile(r"[\d \xa0]*\d[\d \xa0]*([.,]\d+)*")
_ABOVE_A_COMMA = 0.84  # it hangs below the figures
_SURE = 0.7


def of_page(page: Page) -> float:
    """What the picture says of itself, and no more than an A4 sheet of its pixels has. Of a crop
    that is too little, and so it errs towards the analyst.

    A picture that says nothing is measured by its figures: how many dots per inch show usual type
    that large. A page with too few of them is 0.
    """
    of_a_sheet = max(page.width, page.height) / _LONG_SIDE_INCHES
    return min(of_a_sheet, _by_figures(page) if page.dpi is None else page.dpi)


def _by_figures(page: Page) -> float:
    heights = [
        (word.box[3] - word.box[1]) * (_ABOVE_A_COMMA if "," in word.text else 1)
        for word in page.words
        if _FIGURES.fullmatch(word.text) and (word.confidence is None or word.confidence >= _SURE)
    ]
    return median(heights) / _FIGURE_INCHES if len(heights) >= _FIGURES_LEAST else 0.0
