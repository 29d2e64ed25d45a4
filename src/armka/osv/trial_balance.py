"""One grid to its trial balances (ОСВ): find the tables, read them, plant the tree, check."""

from collections.abc import Iterator

import msgspec

from armka.contract.result import Document, DocumentSource, Line, Unknown
from armka.contract.vocabulary import LineKind
from armka.osv import (
    amounts,
    analysis,
    body,
    families,
    header,
    lookalikes,
    one_sided,
    particulars,
    provenance,
    tree,
)
from armka.osv.amounts import to_text, to_texts
from armka.osv.checks.arithmetic import derived
from armka.osv.checks.finding import COLUMNS
from armka.osv.checks.run import run
from armka.osv.entries import Body, Entry
from armka.osv.grid import Grid, column_letter
from armka.osv.header import Header, Shape
from armka.osv.particulars import Particulars
from armka.osv.reports import NotTrialBalance, SheetNotRead, title_of
from armka.osv.wording import text_of

_ROWS_WITH_TITLE = (
    60  # how far above a table, or down a sheet without one, its lines are looked for
)
_NO_TABLE = "на листе нет таблицы с дебетом и кредитом сальдо на начало, оборотов и сальдо на конец"


class Reading(msgspec.Struct):
    """What a grid gave: its documents, and what a person should know about how they were read."""

    documents: list[Document]
    warnings: list[str]


def read(grid: Grid) -> Reading:
    """Read every trial balance of a grid, in order.

    Raises SheetNotRead where there is none; a table further down that cannot be read is a warning.
    """
    reading = Reading([], [])
    start = 0
    try:
        while (found := _next_header(grid, start)) is not None:
            start = _read_table(grid, start, *found, reading)
    except SheetNotRead as error:
        if not reading.documents:
            raise
        reading.warnings.append(
            f"Лист «{grid.sheet}»: еще одна таблица не прочитана: {error.explanation}"
        )
    if not reading.documents:
        raise NotTrialBalance(lookalikes.looks_like(grid), _NO_TABLE)
    return reading


def _next_header(grid: Grid, start: int) -> tuple[Header, int] | None:
    """The next table's header; stops at a title that announces something else than a trial balance
    to read.
    """
    index = header.next_row(grid, start)
    if index is None and start:
        return None  # what stands under the last table is no title
    end = min(start + _ROWS_WITH_TITLE, len(grid.rows)) if index is None else index
    above = grid.rows[max(start, end - _ROWS_WITH_TITLE) : end]
    title = title_of(text for row in above for text in map(text_of, row.cells) if text)
    if title is not None and title.looks_like is not None:
        raise NotTrialBalance(title.looks_like, f"заголовок «{title.title}»")
    return None if index is None else header.read(grid, index, start)


def _read_table(grid: Grid, start: int, found: Header, following: int, reading: Reading) -> int:
    """Read one table into `reading`; returns the index of the first row after it."""
    lines = [row for row in grid.rows[start:following] if row.number <= found.last_row]
    above = particulars.read(lines[-_ROWS_WITH_TITLE:])
    unit = particulars.unit_of(above)
    roots = above.announced.accounts if above.announced else ()
    read_amount = amounts.AmountReader(grid.styles, unit)
    read_rows = analysis.read if found.shape is Shape.ANALYSIS else body.read
    table = read_rows(grid, found, following, read_amount, roots)
    if any(entry.kind in (LineKind.ACCOUNT, LineKind.DIMENSION) for entry in table.entries):
        if table.one_sided:
            one_sided.orient(table)
        tree.plant(table)
        reading.documents.append(_document(grid, found, above, unit, table))
        reading.warnings.extend(_warnings(grid, above, table))
    elif not reading.documents:
        raise NotTrialBalance(None, "под шапкой ОСВ нет ни одной строки со счетом")
    return table.end


def _warnings(grid: Grid, above: Particulars, table: Body) -> Iterator[str]:
    missing = [
        name
        for name, value in (
            ("название отчета", above.announced),
            ("организация", above.organisation),
            ("период", above.period and above.period.from_),
        )
        if not value
    ]
    if missing:
        yield f"Лист «{grid.sheet}»: над таблицей не найдено: {', '.join(missing)}"
    if table.hidden:
        yield f"Лист «{grid.sheet}»: скрытые строки ({table.hidden}) прочитаны наравне с остальными"


def _document(grid: Grid, found: Header, above: Particulars, unit: int, table: Body) -> Document:
    formats = provenance.formats_of(grid, table)
    tell = provenance.teller(grid, found, formats)
    pages = sorted(set(grid.scan.pages.values())) if grid.scan else None
    columns = [None if column is None else column_letter(column) for column in found.amounts]
    return Document(
        kind="OSV",
        group_schema=families.family_of(table, found, above.announced),
        title=above.announced.title if above.announced else "",
        organisation=above.organisation,
        period=above.period,
        currency=above.currency,
        unit=unit,  # type: ignore[arg-type]  # unit_of gives one of the three
        account=table.roots[0] if len(table.roots) == 1 else None,
        source=DocumentSource(
            sheet=None if pages else grid.sheet,
            pages=pages,
            header=provenance.header_source(grid, found),
        ),
        columns=None if pages else columns,
        formats=formats,
        lines=[_line(entry, tell(entry), addressed=grid.scan is None) for entry in table.entries],
        checks=run(table, above, unit, addressed=grid.scan is None),
    )


def _line(entry: Entry, said: provenance.Said, *, addressed: bool) -> Line:
    line = Line(
        n=entry.n,
        parent=entry.parent,
        level=entry.level,
        kind=entry.kind,
        account=entry.account,
        name=entry.name,
        indicator=entry.indicator,
        currency=entry.currency,
        off_balance=entry.off_balance,
        values=entry.texts or to_texts(entry.amounts),
        unknown=_unknown(entry) if entry.unreadable else [],
        row=entry.row if addressed else None,
    )
    return msgspec.structs.replace(line, **said) if said else line


def _unknown(entry: Entry) -> list[Unknown]:
    """What could not be read, with what the row's own equation says it should be."""
    by_equation = derived(entry)
    unknown = []
    for which, cell in sorted(entry.unreadable.items()):
        by_rule = by_equation is not None and by_equation[0] == which
        suggested = by_equation[1] if by_rule and by_equation else cell.suggested
        unknown.append(
            Unknown(
                column=COLUMNS[which],
                raw=cell.raw,
                suggested=None if suggested is None else to_text(suggested),
                rule="R1" if by_rule else None,
            )
        )
    return unknown
