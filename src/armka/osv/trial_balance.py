"""One sheet to its trial balances (ОСВ): find the tables, read them, plant the tree, check."""

from collections.abc import Iterator

import msgspec

from armka.contract.result import Document, DocumentSource, Line, Unknown
from armka.contract.vocabulary import LineKind
from armka.osv import amounts, body, checks, header, particulars, tree
from armka.osv.amounts import to_text
from armka.osv.body import Body, Entry
from armka.osv.grid import Grid, column_letter
from armka.osv.header import Header
from armka.osv.particulars import Particulars
from armka.osv.reports import (
    ACCOUNTS,
    ACCOUNTS_SUBACCOUNTS,
    LayoutNotRead,
    NotTrialBalance,
    SheetNotRead,
    title_of,
)
from armka.osv.wording import text_of

_ROWS_WITH_TITLE = (
    60  # how far above a table, or down a sheet without one, its lines are looked for
)
_NO_TABLE = "на листе нет таблицы с дебетом и кредитом сальдо на начало, оборотов и сальдо на конец"


class Reading(msgspec.Struct):
    """What a sheet gave: its documents, and what a person should know about how they were read."""

    documents: list[Document]
    warnings: list[str]


def read(grid: Grid) -> Reading:
    """Read every trial balance of a sheet, in order.

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
        raise NotTrialBalance(None, _NO_TABLE)
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
    if title is not None and title.family is not None:
        raise LayoutNotRead(title.family, f"заголовок «{title.title}»")
    if title is not None and title.looks_like is not None:
        raise NotTrialBalance(title.looks_like, f"заголовок «{title.title}»")
    return None if index is None else header.read(grid, index, start)


def _read_table(grid: Grid, start: int, found: Header, following: int, reading: Reading) -> int:
    """Read one table into `reading`; returns the index of the first row after it."""
    lines = [row for row in grid.rows[start:following] if row.number <= found.last_row]
    above = particulars.read(lines[-_ROWS_WITH_TITLE:])
    unit = particulars.unit_of(above)
    table = body.read(grid, found, following, amounts.reader(grid.styles, unit))
    if any(entry.kind is LineKind.ACCOUNT for entry in table.entries):
        tree.plant(table.entries)
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
    return Document(
        kind="OSV",
        group_schema=_family(table.entries),
        title=above.announced.title if above.announced else "",
        organisation=above.organisation,
        period=above.period,
        currency=above.currency,
        unit=unit,  # type: ignore[arg-type]  # unit_of gives one of the three
        source=DocumentSource(sheet=grid.sheet),
        columns=[column_letter(column) for column in found.amounts],
        lines=[_line(entry) for entry in table.entries],
        checks=checks.run(table, unit),
    )


def _family(entries: list[Entry]) -> str:
    kinds = {entry.n: entry.kind for entry in entries}
    nested = any(e.parent is not None and kinds[e.parent] is LineKind.ACCOUNT for e in entries)
    return ACCOUNTS_SUBACCOUNTS if nested else ACCOUNTS


def _line(entry: Entry) -> Line:
    return Line(
        n=entry.n,
        parent=entry.parent,
        level=entry.level,
        kind=entry.kind,
        account=entry.account,
        name=entry.name,
        off_balance=entry.off_balance,
        values=[None if amount is None else to_text(amount) for amount in entry.amounts],
        unknown=_unknown(entry) if entry.unreadable else [],
        row=entry.row,
    )


def _unknown(entry: Entry) -> list[Unknown]:
    """What could not be read, with what the row's own equation says it should be."""
    derived = checks.derived(entry)
    unknown = []
    for which, cell in sorted(entry.unreadable.items()):
        by_rule = derived is not None and derived[0] == which
        suggested = derived[1] if by_rule and derived else cell.suggested
        unknown.append(
            Unknown(
                column=checks.COLUMNS[which],
                raw=cell.raw,
                suggested=None if suggested is None else to_text(suggested),
                rule="R1" if by_rule else None,
            )
        )
    return unknown
