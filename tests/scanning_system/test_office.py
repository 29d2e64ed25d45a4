"""Every family of reports, printed by an office program, comes through as its lines."""

from pathlib import Path

import msgspec
import pytest

from armka.contract.result import Document
from armka.services.scanning_system import answer
from armka.services.scanning_system.reading import pdf, scan
from armka.services.scanning_system.reading.calls import Limits, ReadCall
from armka.services.scanning_system.reading.page import read_page
from tests.books.recognised import texts
from tests.books.reports import FAMILIES
from tests.osv.read_lines import lines_of
from tests.pages import office
from tests.pages.degrading import Degradation, degrade, rasterise
from tests.scan_gateway.reading import read
from tests.scanning_system.answers import COLUMNS, answered, not_as_printed

SCANNED = Degradation(skew=0.4, blur=0.4, noise=3, jpeg=80)
LIMITS = Limits(max_pages=500, max_pixels=70_000_000, tessdata=None)
# What a report must be told for, whatever is in it.
EXPECTED = {"four digits": ["R8"]}


def pages_of(path: Path) -> list[answer.Page]:
    """The pages of a PDF."""
    with pdf.opened(str(path), LIMITS) as document:
        count = len(document)
    return [
        read_page(ReadCall(str(path), "PDF", number, LIMITS)).page for number in range(1, count + 1)
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_read_off_its_print(family: str, tmp_path: Path) -> None:
    report, path = office.report(family), tmp_path / "document.pdf"
    path.write_bytes(office.load(family))

    (document,) = read(tmp_path, answered(pages_of(path))).documents

    assert lines_of(with_proposals(document)) == report.lines()
    assert document.group_schema == report.family
    assert document.account == report.account
    assert [check.rule for check in document.checks] == EXPECTED.get(family, [])
    doubted = [unknown.raw for line in document.lines for unknown in line.unknown]
    # Three decimals on paper may be a thousand and something: that one amount is only proposed.
    assert doubted == (["7,130"] if family == "обороты счета, УПП" else [])


def test_a_scan_with_indicators_is_read_or_doubted(tessdata: str, tmp_path: Path) -> None:
    """Every line is there, and an amount that is not as printed is unknown."""
    family = "БУ, НУ, ПР, ВР"
    picture = degrade(rasterise(office.load(family), 300, [0])[0], SCANNED, seed=2)

    (document,) = read(tmp_path, answered([scan.read(picture, 300, 1, tessdata).page])).documents

    assert document.group_schema == "indicators"
    printed = office.report(family).lines()
    for line, found, truth in zip(document.lines, lines_of(document), printed, strict=False):
        assert (found.kind, found.account, found.indicator, found.level) == (
            truth.kind, truth.account, truth.indicator, truth.level,
        )  # fmt: skip
        assert not_as_printed(line, texts(truth.values)) == []
    assert len(lines_of(document)) == len(printed)


def with_proposals(document: Document) -> Document:
    """The document as it is once an analyst has accepted what is proposed."""
    lines = []
    for line in document.lines:
        values = list(line.values)
        for unknown in line.unknown:
            values[COLUMNS.index(unknown.column)] = unknown.suggested
        lines.append(msgspec.structs.replace(line, values=values))
    return msgspec.structs.replace(document, lines=lines)
