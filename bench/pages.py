"""Scanned pages read and held against the truth; speed beside bare Tesseract and pdfplumber.

    make pages ARGS="--pages 20"             so many of each kind and resolution
    make pages ARGS="--kinds scan --dpi 200"
    make pages ARGS="--set tuning --misses"  what one may look at

Pages are drawn by number. Figures are those of the measured set; the reader is tuned on the other
one, which has other fonts, sizes of type and strengths of degradation (`tests/pages/cases.py`).
"""

import argparse
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pdfplumber

from armka.services.scanning_system.reading import engine, page, scan
from armka.services.scanning_system.reading.calls import Limits, ReadCall
from armka.services.scanning_system.tessdata import find_ocr
from bench.bounds import upper_bound
from tests.pages.cases import KINDS, RESOLUTIONS, Drawn, Kind, case, document
from tests.pages.scoring import Score, score

_FIRST = 90_000
_BARE_RATIO = 1.5
_LAYER_RATIO = 5.0
_FLOORS = {("clean", 300): 0.995, ("clean", 200): 0.995, ("clean", 150): 0.98}
_PHOTO_FLOOR = 0.95
_TEXT_LIMITS = Limits(max_pages=500, max_pixels=70_000_000, tessdata=None)


@dataclass(frozen=True)
class Plan:
    """What is read: so many pages of each kind and resolution, so many PDFs with a text layer."""

    pages: int = 3
    documents: int = 10
    kinds: Sequence[Kind] = KINDS
    dpi: Sequence[int] = RESOLUTIONS
    set: str = "measured"
    tessdata: Path | None = None
    misses: bool = False


def main() -> int:
    """Print the tables; 1 where a floor or a ratio is missed."""
    return 0 if run(Plan(**vars(_options()))) else 1


def run(options: Plan) -> bool:
    """Print the tables; returns whether all floors and ratios hold."""
    cv2.setNumThreads(1)
    print("text layers", flush=True)
    is_well = _text_layers(options)
    ocr = find_ocr(options.tessdata)
    if ocr.folder is None:
        print(f"scans are not measured: {ocr.missing}")
        return False
    is_well &= _scans(options, str(ocr.folder))
    print("all floors and ratios hold" if is_well else "a floor or a ratio is missed")
    return is_well


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make pages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pages", type=int, default=3, help="of each kind and resolution")
    parser.add_argument("--documents", type=int, default=10, help="PDFs with a text layer")
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--dpi", nargs="+", type=int, default=RESOLUTIONS)
    parser.add_argument("--set", choices=("measured", "tuning"), default="measured")
    parser.add_argument("--tessdata", type=Path, default=None)
    parser.add_argument("--misses", action="store_true", help="show each wrong amount")
    return parser.parse_args()


def _text_layers(options: Plan) -> bool:
    total, pages = Score(), 0
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(_FIRST, _FIRST + options.documents):
        printed, _ = document(Drawn(Random(number), options.set == "measured"))
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            Path(file.name).write_bytes(printed.pdf)
            for index, rows in enumerate(printed.pages):
                started = time.process_time()
                read = page.read_page(ReadCall(file.name, "PDF", index + 1, _TEXT_LIMITS))
                ours.append(time.process_time() - started)
                total.add(score(read.page, rows))
                pages += 1
        theirs.append(_plumbed(printed.pdf) / len(printed.pages))
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(
        f"  {pages} pages: amounts {total.right}/{total.cells}, codes "
        f"{total.codes_right}/{total.codes}; {statistics.median(ours) * 1000:.0f} ms a page, "
        f"pdfplumber {statistics.median(theirs) * 1000:.0f} ms: {ratio:.1f} times faster"
    )
    return total.right == total.cells and ratio >= _LAYER_RATIO


def _plumbed(pdf: bytes) -> float:
    started = time.process_time()
    with pdfplumber.open(io.BytesIO(pdf)) as opened:
        for it in opened.pages:
            it.extract_tables()
    return time.process_time() - started


def _scans(options: Plan, tessdata: str) -> bool:
    print(
        f"scans: {options.pages} pages of each\n"
        f"  {'kind':8}{'dpi':>5}{'amounts':>10}{'right':>9}{'codes':>9}{'silent':>8}"
        f"{'doubted':>9}{'s/page':>8}{'bare':>7}{'ratio':>7}"
    )
    whole, is_well, ratios = Score(), True, []
    for kind in options.kinds:
        for dpi in options.dpi:
            total, ours, bare = _measure(kind, dpi, options, tessdata)
            whole.add(total)
            ratios.append(ours / bare)
            share = total.right / total.cells
            floor = _PHOTO_FLOOR if kind == "photo" else _FLOORS.get((kind, dpi), 0.0)
            is_well &= share >= floor and not total.silent
            print(
                f"  {kind:8}{dpi:5}{total.cells:10}{share:9.2%}"
                f"{total.codes_right / total.codes:9.1%}{len(total.silent):8}{total.doubted:9}"
                f"{ours:8.2f}{bare:7.2f}{ours / bare:7.2f}",
                flush=True,
            )
            for line in _shown(total) if options.misses else ():
                print(line)
    return _summed_up(whole, ratios) and is_well


def _summed_up(whole: Score, ratios: list[float]) -> bool:
    silent = len(whole.silent)
    print(
        f"  all: {whole.right / whole.cells:.3%} of {whole.cells} amounts; wrong and not marked: "
        f"{silent} (upper 95 % bound {upper_bound(silent, whole.cells):.4%} of amounts); "
        f"time beside bare Tesseract, median: {statistics.median(ratios):.2f}"
    )
    return statistics.median(ratios) <= _BARE_RATIO


def _measure(kind: Kind, dpi: int, options: Plan, tessdata: str) -> tuple[Score, float, float]:
    """The score, and seconds of one core per page: ours, and Tesseract's on the same picture."""
    total = Score()
    ours: list[float] = []
    bare: list[float] = []
    for number in range(_FIRST, _FIRST + options.pages):
        made = case(number, kind, dpi, is_measured=options.set == "measured")
        started = time.process_time()
        read = scan.read(made.picture, dpi, 1, tessdata)
        ours.append(time.process_time() - started)
        total.add(score(read.page, made.rows))
        grey = np.asarray(cv2.cvtColor(made.picture, cv2.COLOR_RGB2GRAY), np.uint8)
        started = time.process_time()
        engine.read(grey, tessdata)
        bare.append(time.process_time() - started)
    return total, statistics.median(ours), statistics.median(bare)


def _shown(total: Score) -> Iterator[str]:
    for miss in total.misses:
        mark = "SILENT" if miss.is_silent else ""
        yield f"    {miss.printed!r} {miss.read!r} {miss.confidence} {miss.alternatives} {mark}"


if __name__ == "__main__":
    sys.exit(main())
