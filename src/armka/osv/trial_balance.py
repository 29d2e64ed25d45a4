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
    Announced,
    LayoutNotRead,
    NotTrialBalance,
    title_of,
)
from armka.osv.wording import text_of

_ROWS_WITH_TITLE = 60  # how far down a sheet without a table a title is looked for


class Reading(msgspec.Struct):
    """What a sheet gave: its documents, and what a person should know about how they were read."""

    documents: list[Document]
    warnings: list[str]


def read(grid: Grid) -> Reading:
    """Read every trial balance of a sheet, in order.

    Raises NotTrialBalance where there is none, LayoutNotRead where there is one of a layout that is not read,
    UnitNotRead where its unit cannot be carried.
    """
    reading = Reading([], [])
    start = 0
    while True:
        _refuse_announced(grid, start, reading)
        found = header.find(grid, start)
        if found is None:
            break
        start = _read_table(grid, start, *found, reading)
    if not reading.documents:
        raise NotTrialBalance(
            None,
            "на листе нет таблицы с дебетом и кредитом сальдо на начало, оборотов и сальдо на конец",
        )
    return reading


def _refuse_announced(grid: Grid, start: int, reading: Reading) -> None:
    """Stop at a title that announces something else; after a table was read, its tail is no title."""
    if reading.documents:
        return
    title = title_of(_lines_above(grid, start))
    if title is None or title.trial_balance and title.family is None:
        return
    _refuse(title)


def _refuse(title: Announced) -> None:
    reason = f"заголовок «{title.title}»"
    if title.family is not None:
        raise LayoutNotRead(title.family, reason)
    raise NotTrialBalance(title.looks_like, reason)


def _lines_above(grid: Grid, start: int) -> Iterator[str]:
    for row in grid.rows[start : start + _ROWS_WITH_TITLE]:
        if header.is_header_row(row):
            return
        yield from filter(None, map(text_of, row.cells))


def _read_table(grid: Grid, start: int, found: Header, following: int, reading: Reading) -> int:
    """Read one table into `reading`; returns the index of the first row after it."""
    above = particulars.read(
        [row for row in grid.rows[start:following] if row.number <= found.last_row]
    )
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
