"""Trial balances (ОСВ) read off pages: each value with its page, its box and its confidence, and
what was not read surely never taken for read.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from armka.contract.result import Check, Document, Line
from armka.contract.vocabulary import LineKind, Severity
from armka.osv import accounts, paper, resolution, trial_balance
from armka.osv.pages import Page, TableCell, Word
from armka.osv.paper import Gate, Paper, Place
from armka.osv.trial_balance import Reading

_ROW = re.compile(r"(?<![\w«])([Сс]трок[аеиу]) (\d+)")
_SPLIT_CODE = re.compile(r"\d\s*,\s*\d|\d\s+\d")
_MOST_NAMED = 20
_NEARLY = 0.98


def read(pages: list[Page], gate: Gate) -> Reading:
    """Read every trial balance of a file's pages, in order; raises SheetNotRead."""
    laid = paper.lay_out(pages, gate)
    reading = trial_balance.read(laid.grid)
    rows = _rows(laid)
    documents = []
    for index, document in enumerate(reading.documents):
        places = {line.n: laid.places[row] for line in document.lines if (row := rows(line))}
        doubts = [*_of_lines(document, places, gate), *(() if index else _of_pages(laid, gate))]
        documents.append(_told(document, doubts, laid))
    return Reading(documents, [_said(text, laid) for text in reading.warnings])


def _rows(laid: Paper) -> Callable[[Line], int | None]:
    """Make the function that finds a line's row in the grid, by a box of it."""
    scan = laid.grid.scan
    assert scan is not None
    rows = {(scan.pages.get(row), *box): row for (row, _), box in scan.boxes.items()}

    def row_of(line: Line) -> int | None:
        box = next((box for box in line.boxes or [] if box is not None), None)
        row = rows.get((line.page, *box)) if box else None
        return row if row in laid.places else None

    return row_of


def _told(document: Document, doubts: list[Check], laid: Paper) -> Document:
    """The document with its own pages alone, and every check about pages."""
    found = sorted({line.page for line in document.lines if line.page is not None})
    checks = [
        msgspec.structs.replace(check, message=_said(check.message, laid))
        for check in document.checks
    ]
    source = msgspec.structs.replace(document.source, pages=found)
    return msgspec.structs.replace(document, source=source, checks=[*checks, *doubts])


def _said(text: str, laid: Paper) -> str:
    """A message about the grid as one about pages."""

    def where(match: re.Match[str]) -> str:
        place = laid.places.get(int(match.group(2)))
        if place is None:
            return match.group()
        return f"{match.group(1)} {place.row} страницы {place.page.number}"

    name = laid.grid.sheet
    shown = f"{name[:1].upper()}{name[1:]}"
    return _ROW.sub(where, text.replace(f"Лист «{name}»", shown))


def _of_lines(document: Document, places: dict[int, Place], gate: Gate) -> Iterator[Check]:
    """What is unsure about a document's lines, beside the amounts that are unknown."""
    unsure = [line for line in document.lines if _has_unsure_code(line, places.get(line.n), gate)]
    if unsure:
        named = ", ".join(line.account or "" for line in unsure[:_MOST_NAMED])
        text = f"Коды счетов прочитаны неуверенно, сверьте их с изображением: {named}"
        yield _error("R8", text, [line.n for line in unsure])
    nobody_knows = [line.n for line in document.lines if _nobody_knows(places.get(line.n))]
    if nobody_knows:
        text = "Уверенность распознавания сумм неизвестна: сверьте их с изображением"
        yield _error("R11", text, nobody_knows[:_MOST_NAMED])


def _has_unsure_code(line: Line, place: Place | None, gate: Gate) -> bool:
    """Whether the line's account was read with little confidence, or with a comma for its point.
    What stands below an account takes its code from there.
    """
    if line.kind is not LineKind.ACCOUNT or place is None:
        return False
    cells = [cell for _, cell in sorted(place.cells.items())]
    cell = next((cell for cell in cells if accounts.parse(cell.text)), None)
    if cell is None:
        return False
    confidence = _confidence_of_code(place, cell)
    low = confidence is not None and confidence < gate.min_confidence
    parsed = accounts.parse(cell.text)
    named = parsed is not None and parsed.name[:1].isdecimal()
    return low or (named and _SPLIT_CODE.search(cell.text) is not None)


def _confidence_of_code(place: Place, cell: TableCell) -> float | None:
    """Where one cell holds code and name, the first word is the code, and its own is known."""
    parsed = accounts.parse(cell.text)
    if parsed is None or not parsed.name:
        return cell.confidence
    words = place.words.within(cell.box)
    starts = [word for word in words if cell.text.strip().startswith(word.text)]
    return starts[0].confidence if len(starts) == 1 else cell.confidence


def _nobody_knows(place: Place | None) -> bool:
    """Whether an amount was recognised and nobody says how surely."""
    return (
        place is not None
        and place.page.source == "ocr"
        and any(
            cell.confidence is None and column > 0 and cell.text.strip()[-1:].isdecimal()
            for column, cell in place.cells.items()
        )
    )


def _of_pages(laid: Paper, gate: Gate) -> Iterator[Check]:
    """What may be wrong with the pages themselves, told once for the file."""
    for doubt in laid.doubts:
        yield _error("R11", f"Страница {doubt.page}, {doubt.reason}")
    found = [(page.number, resolution.of_page(page)) for page in laid.recognised]
    coarse = [(number, dpi) for number, dpi in found if dpi < _NEARLY * gate.min_dpi]
    if coarse:
        named = ", ".join(f"{number} ({_dots(dpi)})" for number, dpi in coarse[:_MOST_NAMED])
        text = (
            f"Разрешение ниже {gate.min_dpi:g} точек на дюйм или неизвестно, арифметика ловит не "
            f"все ошибки распознавания: сверьте суммы. Страницы: {named}"
        )
        yield _error("R11", text)
    if any(_has_unsure_figure(line.words, gate) for line in laid.headlines):
        text = "Числа над таблицей (период, ИНН) прочитаны неуверенно: сверьте их с изображением"
        yield _error("R13", text)


def _dots(dpi: float) -> str:
    return f"{dpi:.0f}" if dpi else "неизвестно"


def _has_unsure_figure(words: list[Word], gate: Gate) -> bool:
    return any(
        word.confidence is not None
        and word.confidence < gate.min_confidence
        and any(char.isdecimal() for char in word.text)
        for word in words
    )


def _error(rule: str, message: str, lines: Iterable[int] = ()) -> Check:
    return Check(rule=rule, severity=Severity.ERROR, lines=list(lines), message=message)
