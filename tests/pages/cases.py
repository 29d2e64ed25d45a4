"""Scanned pages made by number: the same number, the same page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from tests.books.ledger import make
from tests.pages.degrading import Degradation, Picture, degrade, rasterise
from tests.pages.fonts import MEASURED, find
from tests.pages.printing import Print, Printed, print_ledger

Kind = Literal["clean", "scan", "seal", "photo", "turned"]
KINDS: tuple[Kind, ...] = ("clean", "scan", "seal", "photo", "turned")
RESOLUTIONS = (150, 200, 300)


@dataclass(frozen=True)
class Case:
    """A page as a scanner or a camera would deliver it, and its printed body rows."""

    picture: Picture
    rows: list[list[str]]
    style: Print


def case(number: int, kind: Kind, dpi: int, fonts: Sequence[tuple[str, str]] = MEASURED) -> Case:
    """Make a page; layouts, fonts and how much it suffers are drawn by the number."""
    random = Random(f"{number} {kind} {dpi}")
    printed, style = document(random, fonts)
    page = random.randrange(len(printed.pages))
    picture = rasterise(printed.pdf, dpi, [page])[0]
    return Case(degrade(picture, suffering(random, kind), number), printed.pages[page], style)


def document(random: Random, fonts: Sequence[tuple[str, str]]) -> tuple[Printed, Print]:
    """Print a trial balance in one of many ways."""
    regular, bold = random.choice(fonts)
    is_landscape = random.random() < 0.6
    style = Print(
        find(regular),
        find(bold),
        size=random.uniform(7.5, 9.0) if is_landscape else random.uniform(6.5, 7.2),
        rules=random.choices(("all", "light", "none"), (6, 2, 2))[0],
        rule_width=random.choice((0.3, 0.5, 0.8)),
        is_landscape=is_landscape,
        combined=random.random() < 0.3,
        leading=random.uniform(1.15, 1.3),
    )
    ledger = make(random, share=random.uniform(0.5, 1), largest=10 ** random.randint(8, 11))
    return print_ledger(ledger, style), style


def suffering(random: Random, kind: Kind) -> Degradation:
    """What becomes of a page of a kind."""
    scanned = Degradation(
        skew=random.uniform(-1.2, 1.2),
        blur=random.uniform(0.3, 0.7),
        noise=random.uniform(2, 7),
        shadow=random.uniform(0, 0.2),
        faint=random.uniform(0, 0.3),
        jpeg=random.randint(60, 90),
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
                photo=random.uniform(0.01, 0.03),
                blur=random.uniform(0.3, 0.7),
                noise=random.uniform(2, 6),
                jpeg=random.randint(75, 92),
            )
        case "turned":
            return replace(scanned, turned=random.choice((1, 2, 3)))
