"""Where a table stands on a sheet: its amounts, its accounts and what else its rows say (R12).

The amounts are found by what stands over them, wherever that is: opening balance, turnover, closing
balance, debit, credit, each with any decorative columns between; once, or once for each period,
currency, quantity.
"""

from enum import Enum
from itertools import pairwise

import msgspec

from armka.osv import accounts
from armka.osv.grid import Grid, Row
from armka.osv.labels import MAIN, Amount, Band, Measure, Stub, amount, stub
from armka.osv.labels_above import HeaderRows, rows_of, shown_code
from armka.osv.reports import NotTrialBalance
from armka.osv.wording import Heading, Side, plain, side, text_of

Span = tuple[int, int]


class Shape(Enum):
    """How a table tells its balances."""

    PAIRS = "pairs"  # six amounts a row
    ONE_SIDED = "one_sided"  # opening, two turnovers, closing; the side is the account's own
    ANALYSIS = "analysis"  # debit and credit; opening, turnover and closing are rows


class Header(msgspec.Struct, frozen=True):
    """Where things stand; columns count from 0, rows as the sheet numbers them, spans are
    inclusive. `spans`: every column under an amount's label -> 6 times its band's index and which
    of the six it is.
    """

    shape: Shape
    first_row: int
    last_row: int
    label: Span  # the account, or the subconto where there are no accounts
    has_accounts: bool
    name: Span | None  # None: one column holds the code and the name
    stubs: dict[int, Stub]  # every column of the others beside the amounts
    bands: list[Band]  # the first is the main one
    columns: list[int | None]  # of each amount, band by band
    spans: dict[int, int]
    correspondents: dict[int, int]  # columns of correspondent accounts -> 0 debit, 1 credit
    legend: list[str]  # what the levels of the rows are, where the header says it
    texts: list[list[str]]  # of its rows, the lowest first: by them it is known again further down
    begins: frozenset[str]  # how its rows begin, and so may that one
    upp: bool

    @property
    def amounts(self) -> list[int | None]:
        """The columns of the six main amounts."""
        return self.columns[:6]


def next_row(grid: Grid, start: int) -> int | None:
    """The index of the first row at or below `start` that looks like a header."""
    rows = grid.rows
    return next(
        (index for index in range(start, len(rows)) if shape_of(rows, index) is not None), None
    )


def shape_of(rows: list[Row], index: int) -> Shape | None:
    """What a table is like whose header has this row; None: there is none."""
    row = rows[index]
    texts = [text for text in map(text_of, row.cells) if text]
    if len(texts) < 3:
        return None
    if is_header_row(row):
        return Shape.PAIRS
    stubs = {stub(text) for text in texts}
    amounts = [found for found in (amount([text]) for text in texts) if found is not None]
    sides = {found.side for found in amounts}
    if Stub.CORRESPONDENT in stubs and Stub.ACCOUNT in stubs and {Side.DEBIT, Side.CREDIT} <= sides:
        return Shape.ANALYSIS
    groups = {(found.group, found.side) for found in amounts}
    one_sided = {(Heading.OPENING, None), (Heading.CLOSING, None)} <= groups
    if one_sided and (_turnovers(groups) or _sides_below(rows, index)):
        return Shape.ONE_SIDED
    return None


def _turnovers(groups: set[tuple[Heading | None, Side | None]]) -> bool:
    return {(Heading.TURNOVER, Side.DEBIT), (Heading.TURNOVER, Side.CREDIT)} <= groups


def _sides_below(rows: list[Row], index: int) -> bool:
    """Whether the next row names debit and credit once each: those of the turnovers alone."""
    if index + 1 >= len(rows):
        return False
    sides = [side(text) for text in map(text_of, rows[index + 1].cells) if text]
    return sides.count(Side.DEBIT) == 1 and sides.count(Side.CREDIT) == 1


def is_header_row(row: Row) -> bool:
    """Whether the row names debit and credit three times each, at least."""
    cells = row.cells
    if len(cells) < 6 or type(cells[-1][1]) is float or type(cells[-2][1]) is float:
        return False
    sides = [side(text) for text in map(text_of, row.cells) if text]
    return sides.count(Side.DEBIT) >= 3 and sides.count(Side.CREDIT) >= 3


def read(grid: Grid, index: int, start: int) -> tuple[Header, int]:
    """Read the header whose lowest row of labels has this index; also the index of the row after
    it.

    Rows above `start` belong to something else. Raises NotTrialBalance where the table is none.
    """
    shape = shape_of(grid.rows, index) or Shape.PAIRS
    found = rows_of(grid, index, start)
    header = _assembled(grid, shape, found)
    following = index + 1
    while following < len(grid.rows) and grid.rows[following].number <= header.last_row:
        following += 1
    return header, following


def _assembled(grid: Grid, shape: Shape, found: HeaderRows) -> Header:
    paths = {column: [text for _, text in path] for column, path in found.paths.items()}
    labelled = {column: amount(path) for column, path in paths.items()}
    kinds = {column: _stub_of(path) for column, path in paths.items() if labelled[column] is None}
    amounts = {column: one for column, one in labelled.items() if one is not None}
    placed = _placed(amounts, shape)
    first = min(placed)
    bands, columns = _bands(placed, shape)
    stubs = {column: kind for column, kind in kinds.items() if column < first and kind is not None}
    below = [stub(text) for text in found.legend]
    label, name, others = _stub_spans(stubs, paths, found.merged, first)
    return Header(
        shape=shape,
        first_row=found.first_row,
        last_row=found.last_row,
        label=label,
        has_accounts=not {Stub.ACCOUNT, Stub.BUDGET}.isdisjoint([*stubs.values(), *below]),
        name=name,
        stubs=others,
        bands=bands,
        columns=columns,
        spans=_spans(columns, found.merged, set(paths)),
        correspondents=_correspondents(grid, found, columns),
        legend=found.legend,
        texts=found.texts,
        begins=frozenset(str(row.cells[0][1]) for row in found.rows if row.cells),
        upp=_is_upp(paths),
    )


def _stub_of(path: list[str]) -> Stub | None:
    return next((kind for kind in map(stub, reversed(path)) if kind is not None), None)


def _is_upp(paths: dict[int, list[str]]) -> bool:
    """1С:УПП says «Оборот за период» and «Субконто»."""
    texts = {plain(text) for path in paths.values() for text in path}
    return "субконто" in texts or (
        "оборот за период" in texts and "сальдо на начало периода" in texts
    )


def _placed(amounts: dict[int, Amount], shape: Shape) -> dict[int, tuple[int, Band]]:
    """Column -> (which of the six, band); a balance without начало or конец is told by its place
    beside the turnovers.
    """
    if shape is Shape.ANALYSIS:
        return {
            column: (Heading.TURNOVER.value * 2 + one.side.value, one.band)
            for column, one in amounts.items()
            if one.side is not None
        }
    turnovers = [c for c, one in amounts.items() if one.group is Heading.TURNOVER]
    placed = {}
    for column, one in amounts.items():
        group, own_side = one.group, one.side
        if group is None or (own_side is None and shape is Shape.PAIRS):
            continue
        if group is Heading.BALANCE and turnovers:
            group = Heading.OPENING if column < min(turnovers) else Heading.CLOSING
        if group is Heading.BALANCE:
            raise NotTrialBalance(None, "в шапке таблицы нет колонок с оборотами")
        if own_side is None and group is Heading.TURNOVER:
            continue
        placed[column] = (group.value * 2 + (own_side or Side.DEBIT).value, one.band)
    if not placed:
        raise NotTrialBalance(None, "над дебетом и кредитом нет заголовков сальдо и оборотов")
    return placed


def _bands(
    placed: dict[int, tuple[int, Band]], shape: Shape
) -> tuple[list[Band], list[int | None]]:
    """The bands, the main one first, and the columns of their amounts."""
    placed = _told_apart(placed)
    bands = [MAIN, *dict.fromkeys(band for _, band in placed.values() if band != MAIN)]
    columns: list[int | None] = [None] * (6 * len(bands))
    for column, (which, band) in placed.items():
        place = 6 * bands.index(band) + which
        if columns[place] is not None:
            raise NotTrialBalance(
                None, "в шапке больше шести колонок сумм, и не сказано, чем они различаются"
            )
        columns[place] = column
    needed = {Shape.PAIRS: range(6), Shape.ONE_SIDED: (0, 2, 3, 4), Shape.ANALYSIS: (2, 3)}[shape]
    of_periods = [
        columns[6 * index + which]
        for index, band in enumerate(bands)
        for which in range(6)
        if band.measure is Measure.PERIOD
    ]
    if any(columns[which] is None for which in needed) and not any(of_periods):
        raise NotTrialBalance(
            None,
            "в шапке таблицы нет всех шести колонок: "
            "дебет и кредит сальдо на начало, оборотов и сальдо на конец",
        )
    main = [column for column in columns[:6] if column is not None]
    if any(left >= right for left, right in pairwise(main)):
        raise NotTrialBalance(None, "колонки сумм стоят не по порядку: начало, обороты, конец")
    return bands, columns


def _told_apart(placed: dict[int, tuple[int, Band]]) -> dict[int, tuple[int, Band]]:
    """A period or «руб.» that is said of everything alike says nothing: those columns are the main
    ones.
    """
    for measure in (Measure.NATIONAL, Measure.PERIOD, Measure.CURRENCY):
        plain_ones = {which for which, band in placed.values() if band == MAIN}
        others = [which for which, band in placed.values() if band.measure is measure]
        if len(others) == len(set(others)) and not plain_ones & set(others):
            placed = {
                column: (which, MAIN if band.measure is measure else band)
                for column, (which, band) in placed.items()
            }
    return placed


def _stub_spans(
    stubs: dict[int, Stub], paths: dict[int, list[str]], merged: dict[int, int], limit: int
) -> tuple[Span, Span | None, dict[int, Stub]]:
    """The spans of the account's and the name's columns, and what the other columns are."""
    left = sorted(column for column in paths if column < limit)
    spans = {column: _span(column, left, merged, limit) for column in stubs}
    firsts = [_first(stubs, kind) for kind in (Stub.ACCOUNT, Stub.DIMENSION, Stub.BUDGET)]
    label = next((column for column in firsts if column is not None), None)
    if label is None:
        seen = ", ".join(f"«{paths[column][-1]}»" for column in left)
        raise NotTrialBalance(
            None, f"в шапке нет колонки «Счет»{': слева от сумм ' + seen if seen else ''}"
        )
    name = _first(stubs, Stub.NAME)
    others = {
        column: kind
        for first, kind in stubs.items()
        if first not in (label, name)
        for column in range(spans[first][0], spans[first][1] + 1)
    }
    return spans[label], None if name is None else spans[name], others


def _first(stubs: dict[int, Stub], kind: Stub) -> int | None:
    return min((column for column, own in stubs.items() if own is kind), default=None)


def _span(column: int, labelled: list[int], merged: dict[int, int], limit: int) -> Span:
    """Up to the next labelled column, since 1С indents codes by columns."""
    following = next((other for other in labelled if other > column), limit)
    return column, max(following - 1, min(merged.get(column, column), limit - 1))


def _spans(columns: list[int | None], merged: dict[int, int], labelled: set[int]) -> dict[int, int]:
    spans = {}
    for place, column in enumerate(columns):
        if column is None:
            continue
        last = merged.get(column, column)
        others = [other for other in labelled if column < other <= last]
        spans.update(dict.fromkeys(range(column, min([last + 1, *others])), place))
    return spans


def _correspondents(grid: Grid, found: HeaderRows, columns: list[int | None]) -> dict[int, int]:
    """Columns between the amounts that are labelled with account codes: right of the debit turnover
    they are its parts, right of the credit turnover that one's.
    """
    debit, credit, last = columns[2], columns[3], columns[4]
    if debit is None or credit is None:
        return {}
    end = max(last, credit) if last is not None else credit
    parts = {}
    for row in found.rows:
        for cell in row.cells:
            column, code = cell[0], shown_code(cell, grid.styles)
            between = debit < column < credit or credit < column < end
            if between and code is not None and accounts.parse(code):
                parts[column] = 0 if column < credit else 1
    return parts
