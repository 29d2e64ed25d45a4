"""The scans in `samples/`: a printed trial balance, a scan of one and a photo of one.

`PYTHONPATH=src python -m tests.pages.scans` writes them anew, near enough the same each time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import cv2
from PIL import Image

from tests.books.ledger import Ledger, make
from tests.books.samples import FOLDER
from tests.pages.degrading import Degradation, degrade, rasterise
from tests.pages.fonts import TUNED, find
from tests.pages.printing import Print, print_ledger


@dataclass(frozen=True)
class Scan:
    """A file and how it ends, where pictures can be read."""

    name: str
    write: Callable[[Path], None]
    ends: str


def _printed(seed: int, organisation: str, share: float, **style: object) -> bytes:
    ledger: Ledger = make(Random(seed), share=share, largest=10**10)
    ledger.organisation = organisation
    sans, bold = map(find, TUNED[0])
    return print_ledger(ledger, Print(sans, bold, **style)).pdf  # type: ignore[arg-type]


def _pdf(path: Path) -> None:
    path.write_bytes(_printed(3, 'ООО "Ручей"', 1.0, size=8.0, is_landscape=True))


def _png(path: Path) -> None:
    """As a scanner does it, which names its resolution: type so small is not fine enough to be
    believed on the measure of its figures.
    """
    pdf = _printed(0, 'ООО "Тополь"', 0.5, size=7.0)
    scan = degrade(rasterise(pdf, 200, [0])[0], Degradation(skew=0.5, blur=0.6), 1)
    grey = cv2.cvtColor(scan, cv2.COLOR_RGB2GRAY)
    Image.fromarray(grey).save(path, dpi=(200, 200), optimize=True)


def _jpg(path: Path) -> None:
    pdf = _printed(2, 'АО "Верба"', 0.25, size=8.0, is_landscape=True)
    how = Degradation(shadow=0.3, stamp=True, noise=4)
    photo = cv2.cvtColor(degrade(rasterise(pdf, 200, [0])[0], how, 2), cv2.COLOR_RGB2GRAY)
    done, data = cv2.imencode(path.suffix, photo, (cv2.IMWRITE_JPEG_QUALITY, 60))
    assert done
    path.write_bytes(data.tobytes())


SCANS = [
    Scan("Ручей - ОСВ за 2023 год, печать.pdf", _pdf, "done"),
    Scan("Тополь - скан ОСВ.png", _png, "done"),
    Scan("Верба - ОСВ с печатью.jpg", _jpg, "needs_check"),
]


if __name__ == "__main__":
    for scan in SCANS:
        scan.write(FOLDER / scan.name)
