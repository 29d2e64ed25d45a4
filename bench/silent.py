"""Documents printed, spoilt, read, and taken through the gateway's own conversion to lines; how
many of those that end as `done` hold a wrong value.

    make soak-pages ARGS="--documents 500"             the first 500 of the measured set
    make soak-pages ARGS="--first 500 --documents 500"  the next; or go on where a run ended

Each document is drawn by its number and told in one line of the file `--to`; numbers that are there
are not read again. Pages of less than 200 dpi are left out: they never end as `done`.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Literal

import cv2
import msgspec

from armka.contract.vocabulary import FileType, LineKind
from armka.sdk.handler import Answer, Recognition, Refused, Source
from armka.services.scan_gateway.recognise import recognise
from armka.services.scanning_system import answer
from armka.services.scanning_system.reading import page, scan
from armka.services.scanning_system.reading.calls import Limits, ReadCall
from armka.services.scanning_system.tessdata import find_ocr
from bench.bounds import upper_bound
from tests.books.ledger import Ledger, make
from tests.books.recognised import texts
from tests.pages.cases import KINDS, Drawn, Kind, looks, suffering
from tests.pages.degrading import degrade, rasterise
from tests.pages.printing import Printed, print_ledger

_RESOLUTIONS = (200, 300)
_TEXT = Limits(max_pages=500, max_pixels=70_000_000, tessdata=None)
_ENGINE = answer.Engine("bench", "1")

Outcome = Literal["done", "needs_check", "refused"]
Row = tuple[str | None, list[str | None]]


class Told(msgspec.Struct, frozen=True):
    """What came of a document; `wrong` lists the lines of a `done` one that are not as printed."""

    number: int
    kind: Kind | Literal["text"]
    dpi: int
    pages: int
    amounts: int
    outcome: Outcome
    reasons: list[str]
    wrong: list[str]
    seconds: float


def main() -> int:
    """Read and count; 1 where a document that is `done` holds a wrong value."""
    options = _options()
    ocr = find_ocr(options.tessdata)
    if ocr.folder is None:
        print(f"scans are not measured: {ocr.missing}")
        return 2
    options.to.touch()
    known = {told.number for told in _told(options.to)}
    for number in range(options.first, options.first + options.documents):
        if number not in known:
            told = _run(number, str(ocr.folder), is_measured=options.set == "measured")
            with options.to.open("ab") as file:
                file.write(msgspec.json.encode(told) + b"\n")
            print(f"{number}: {told.kind} {told.dpi} {told.outcome} {told.wrong or ''}", flush=True)
    return _summed_up(list(_told(options.to)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make soak-pages",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the number of the first document")
    parser.add_argument("--set", choices=("measured", "tuning"), default="measured")
    parser.add_argument("--to", type=Path, default=Path("silent.jsonl"), help="(%(default)s)")
    parser.add_argument("--tessdata", type=Path, default=None)
    return parser.parse_args()


def _told(file: Path) -> Iterator[Told]:
    for line in file.read_bytes().splitlines():
        yield msgspec.json.decode(line, type=Told)


def _run(number: int, tessdata: str, *, is_measured: bool) -> Told:
    drawn = Drawn(Random(f"silent {number} {is_measured}"), is_measured)
    random = drawn.random
    kind: Kind | Literal["text"] = random.choice(("text", *KINDS))
    dpi = random.choice(_RESOLUTIONS)
    ledger = make(random, share=random.uniform(0.05, 0.4), largest=10 ** random.randint(8, 11))
    printed = print_ledger(ledger, looks(drawn))
    started = time.process_time()
    pages = [
        _page(printed, index, kind, dpi, drawn, tessdata) for index in range(len(printed.pages))
    ]
    outcome, reasons, wrong = _outcome(pages, ledger)
    return Told(
        number=number,
        kind=kind,
        dpi=dpi,
        pages=len(pages),
        amounts=sum(value != 0 for it in ledger.accounts for value in it.values),
        outcome=outcome,
        reasons=reasons,
        wrong=wrong,
        seconds=round(time.process_time() - started, 2),
    )


def _page(
    printed: Printed,
    index: int,
    kind: Kind | Literal["text"],
    dpi: int,
    drawn: Drawn,
    tessdata: str,
) -> answer.Page:
    if kind == "text":
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            Path(file.name).write_bytes(printed.pdf)
            return page.read_page(ReadCall(file.name, "PDF", index + 1, _TEXT)).page
    picture = rasterise(printed.pdf, dpi, [index])[0]
    spoilt = degrade(picture, suffering(drawn, kind), drawn.random.randrange(2**31))
    return scan.read(spoilt, dpi, index + 1, tessdata).page


def _outcome(pages: list[answer.Page], ledger: Ledger) -> tuple[Outcome, list[str], list[str]]:
    """How the document ends, by which rules, and what is wrong in it although it is `done`."""
    try:
        recognition = _recognised(pages)
    except Refused as refused:
        return "refused", [refused.code], []
    if recognition.needs_check:
        rules = {check.rule for it in recognition.documents for check in it.checks}
        unknown = any(line.unknown for it in recognition.documents for line in it.lines)
        return "needs_check", sorted(rules | ({"unknown"} if unknown else set())), []
    found = [
        (line.account, line.values)
        for it in recognition.documents
        for line in it.lines
        if line.kind in (LineKind.ACCOUNT, LineKind.TOTAL)
    ]
    return "done", [], _wrong(found, _truth(ledger))


def _truth(ledger: Ledger) -> list[Row]:
    rows: list[Row] = [(account.code, texts(account.values)) for account in ledger.accounts]
    return [*rows, (None, texts(ledger.total))]


def _wrong(found: list[Row], truth: list[Row]) -> list[str]:
    wrong = [f"{a} for {b}" for a, b in zip(found, truth, strict=False) if a != b]
    if len(found) != len(truth):
        wrong.append(f"{len(found)} lines for {len(truth)}")
    return wrong


def _recognised(pages: list[answer.Page]) -> Recognition:
    document = answer.Answer(answer.SCHEMA_VERSION, "bench", _ENGINE, pages, [])
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.json"
        raw.write_bytes(msgspec.json.encode(document))
        source = Source(
            path=raw,
            file_type=FileType.PDF,
            original_name="scan.pdf",
            sha256="0" * 64,
            size_bytes=1,
            deadline=datetime.now(UTC) + timedelta(minutes=5),
            answer=Answer(raw, "bench"),
        )
        return recognise(source)


def _summed_up(all_told: list[Told]) -> int:
    for name, told in (
        ("text layers", [it for it in all_told if it.kind == "text"]),
        ("scans", [it for it in all_told if it.kind != "text"]),
    ):
        if told:
            _print(name, told)
    return int(any(it.wrong for it in all_told))


def _print(name: str, told: list[Told]) -> None:
    outcomes = Counter(it.outcome for it in told)
    done = [it for it in told if it.outcome == "done"]
    silent = sum(bool(it.wrong) for it in done)
    pages, done_pages = sum(it.pages for it in told), sum(it.pages for it in done)
    print(
        f"{name}: {len(told)} documents, {pages} pages, {sum(it.amounts for it in told)} amounts; "
        f"done {outcomes['done'] / len(told):.1%}, needs_check {outcomes['needs_check']}, "
        f"refused {outcomes['refused']}\n"
        f"  done with a wrong value: {silent} of {len(done)} documents, {done_pages} pages; upper "
        f"95 % bound {upper_bound(silent, len(told)):.2%} of documents, "
        f"{upper_bound(silent, pages):.2%} of pages, "
        f"{upper_bound(silent, max(len(done), 1)):.2%} of those that are done"
    )
    why = Counter(reason for it in told for reason in it.reasons)
    print("  sent to an analyst by: " + ", ".join(f"{it} {n}" for it, n in why.most_common()))


if __name__ == "__main__":
    cv2.setNumThreads(1)
    sys.exit(main())
