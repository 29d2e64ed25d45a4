"""A read document told as its truth is, to be held against it."""

from armka.contract.result import Document
from armka.contract.result import Line as ReadLine
from tests.books.trees import Line, Six


def lines_of(document: Document) -> list[Line]:
    """Every line but the totals and what stands under them."""
    totals = {line.n for line in document.lines if line.kind == "total"}
    return [
        Line(
            line.kind.value,
            line.account,
            line.name,
            line.indicator,
            line.currency,
            line.level,
            _six(line),
        )
        for line in document.lines
        if line.n not in totals and line.parent not in totals
    ]


def _six(line: ReadLine) -> Six:
    od, oc, td, tc, cd, cc = (0 if value is None else _hundredths(value) for value in line.values)
    return od, oc, td, tc, cd, cc


def _hundredths(value: str) -> int:
    whole, _, fraction = value.partition(".")
    assert len(fraction) == 2
    return int(f"{whole}{fraction}")
