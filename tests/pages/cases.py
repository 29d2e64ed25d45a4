"""Scanned pages made by number: the same number, the same page.

There are two sets. The reader is tuned on one while its misses are looked at, and measured on the
other, at which nobody looks: no font, no size of type, no strength of a degradation is in both.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from tests.books.ledger import make
from tests.pages.degrading import Degradation, Picture, degrade, rasterise
from tests.pages.fonts import MEASURED, TUNED, find
from tests.pages.printing import Print, Printed, print_ledger

Kind = Literal["clean", "scan", "seal", "photo", "turned"]
KINDS: tuple[Kind, ...] = ("clean", "scan", "seal", "photo", "turned")
RESOLUTIONS = (150, 200, 300)
_BANDS = 8


@dataclass(frozen=True)
class Drawn:
    """The lots of one page of one set."""

    random: Random
    is_measured: bool

    def between(self, low: float, high: float) -> float:
        """A strength: the range has bands, every second one belongs to the measured set."""
        band = 2 * self.random.randrange(_BANDS // 2) + self.is_measured
        return low + (high - low) * (band + self.random.random()) / _BANDS

    def font(self) -> tuple[str, str]:
        """Regular and bold."""
        return self.random.choice(MEASURED if self.is_measured else TUNED)


@dataclass(frozen=True)
class Case:
    """A page as a scanner or a camera would deliver it, and its printed body rows."""

    picture: Picture
    rows: list[list[str]]
    style: Print


def case(number: int, kind: Kind, dpi: int, *, is_measured: bool) -> Case:
    """Make a page; its ledger, its looks and how much it suffers are drawn by the number."""
    drawn = Drawn(Random(f"{number} {kind} {dpi} {is_measured}"), is_measured)
    printed, style = document(drawn)
    page = drawn.random.randrange(len(printed.pages))
    picture = rasterise(printed.pdf, dpi, [page])[0]
    return Case(degrade(picture, suffering(drawn, kind), number), printed.pages[page], style)


def document(drawn: Drawn) -> tuple[Printed, Print]:
    """Print a trial balance in one of many ways."""
    random, style = drawn.random, looks(drawn)
    ledger = make(random, share=random.uniform(0.5, 1), largest=10 ** random.randint(8, 11))
    return print_ledger(ledger, style), style


def looks(drawn: Drawn) -> Print:
    """How a document is printed."""
    random = drawn.random
    regular, bold = drawn.font()
    is_landscape = random.random() < 0.6
    return Print(
        find(regular),
        find(bold),
        size=drawn.between(7.5, 9.0) if is_landscape else drawn.between(6.5, 7.2),
        rules=random.choices(("all", "light", "none"), (6, 2, 2))[0],
        rule_width=drawn.between(0.3, 0.8),
        is_landscape=is_landscape,
        combined=random.random() < 0.3,
        leading=drawn.between(1.15, 1.3),
    )


def suffering(drawn: Drawn, kind: Kind) -> Degradation:
    """What becomes of a page of a kind."""
    scanned = Degradation(
        skew=drawn.between(-1.2, 1.2),
        blur=drawn.between(0.3, 0.7),
        noise=drawn.between(2, 7),
        shadow=drawn.between(0, 0.2),
        faint=drawn.between(0, 0.3),
        jpeg=round(drawn.between(60, 90)),
    )
    match kind:
        case "clean":
            return Degradation()
        case "scan":
            return scanned
        case "seal":
            return replace(scanned, stamp=True)
        case "photo":
            return Degradation(
                photo=drawn.between(0.01, 0.03),
                blur=drawn.between(0.3, 0.7),
                noise=drawn.between(2, 6),
                jpeg=round(drawn.between(75, 92)),
            )
        case "turned":
            return replace(scanned, turned=drawn.random.choice((1, 2, 3)))
