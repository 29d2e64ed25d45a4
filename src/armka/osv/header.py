"""Where a trial balance's table stands on a sheet: its six amounts, the account and the name (R12).

The amounts are found by pair: Дебет and Кредит under a heading each of opening balance, turnover
and closing balance, wherever they stand, with any decorative columns between them.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from armka.osv.grid import Cell, Grid, Merge, Row
from armka.osv.reports import LayoutNotRead, NotTrialBalance
from armka.osv.wording import Heading, Side, heading, plain, side, text_of

_HEADINGS_ABOVE = 3  # how many rows above Дебет and Кредит the headings may stand
_ACCOUNT = re.compile(
    r"^(?:код )?(?:№ ?|номер )?(?:бухгалтерск\w+ )?(?:счет\w*|код)\b(?!.*\bепс\b)"
)
_NAME = re.compile(r"\bнаименован\w+|\bназвание\b")
_FAMILIES = [
    (re.compile(r"^показател"), "indicators"),
    (re.compile(r"^(?:валюта|вал\.?)$|\bв валюте\b"), "currency"),
    (re.compile(r"^субконто\b"), "upp"),
    (re.compile(r"^(?:кпс|кфо|квд|кбк)\b"), "budget"),
    (re.compile(r"\bепс\b"), "nfo_eps"),
    (re.compile(r"^(?:период|месяц|дата)$"), "periods"),
    (
        re.compile(r"^(?:контрагент|договор|номенклатур|подразделени|сотрудник|работник|статья)"),
        "account_subconto",
    ),
]


class Header(msgspec.Struct, frozen=True):
    """Where things stand; columns count from 0, rows as the sheet numbers them, spans are
    inclusive.
    """

    first_row: int
    last_row: int
    account: tuple[int, int]
    name: tuple[int, int] | None  # None: one column holds the code and the name
    amounts: tuple[int, int, int, int, int, int]
    spans: dict[int, int]  # every column under an amount's heading -> which of the six it is


class _Label(msgspec.Struct, frozen=True):
    column: int
    heading: Heading
    side: Side


def next_row(grid: Grid, start: int) -> int | None:
    """The index of the first row at or below `start` that looks like a header's lowest row."""
    rows = grid.rows
    return next((index for index in range(start, len(rows)) if is_header_row(rows[index])), None)


def read(grid: Grid, index: int, start: int) -> tuple[Header, int]:
    """Read the header whose lowest row has this index; also the index of the row after it.

    Rows above `start` belong to something else. Raises SheetNotRead where the table is not of a
    layout that is read.
    """
    header = _header(grid, index, start)
    following = index + 1
    while following < len(grid.rows) and grid.rows[following].number <= header.last_row:
        following += 1
    return header, following


def is_header_row(row: Row) -> bool:
    """Whether the row names debit and credit three times each, at least."""
    if sum(type(cell[1]) is str for cell in row.cells) < 6:
        return False
    sides = [side(text) for text in map(text_of, row.cells) if text]
    return sides.count(Side.DEBIT) >= 3 and sides.count(Side.CREDIT) >= 3


def _header(grid: Grid, index: int, start: int) -> Header:
    row = grid.rows[index]
    above = [
        r
        for r in grid.rows[max(start, index - _HEADINGS_ABOVE) : index]
        if r.number >= row.number - _HEADINGS_ABOVE
    ]
    labels = list(_labels(row, above, grid.merges))
    amounts = _six(_placed(labels))
    first_row = min([r.number for r in above if _has_heading(r)], default=row.number)
    names = [(r, cell) for r in (*above, row) if r.number >= first_row for cell in r.cells]
    _refuse_other_families(names)
    last_row = max(
        [
            row.number,
            *(
                m.last_row
                for m in grid.merges
                if m.first_row == row.number and m.last_row < row.number + 4
            ),
        ]
    )
    account, name = _account_and_name(names, amounts[0], grid.merges)
    return Header(
        first_row, last_row, account, name, amounts, _spans(amounts, row.number, grid.merges)
    )


def _has_heading(row: Row) -> bool:
    return any(heading(text_of(cell)) for cell in row.cells)


def _labels(row: Row, above: list[Row], merges: list[Merge]) -> Iterator[_Label]:
    """Each debit and credit of the row with the heading over it."""
    for cell in row.cells:
        text = text_of(cell)
        which = side(text) if text else None
        if which is None:
            continue
        over = heading(text) or _heading_over(cell[0], above, merges)
        if over is None:
            raise NotTrialBalance(
                None, f"над «{text}» нет заголовка сальдо или оборотов (строка {row.number})"
            )
        yield _Label(cell[0], over, which)


def _heading_over(column: int, above: list[Row], merges: list[Merge]) -> Heading | None:
    """The nearest row above that has a heading over this column: a merged one, else the nearest to
    the left.
    """
    for row in reversed(above):
        left = [cell for cell in row.cells if cell[0] <= column and text_of(cell)]
        found = heading(text_of(left[-1])) if left else None
        if found is not None and _reaches(left[-1][0], column, row.number, merges):
            return found
    return None


def _reaches(first: int, column: int, row: int, merges: list[Merge]) -> bool:
    """Whether a heading at `first` stands over `column`: within its merge, or anywhere where it is
    not merged.
    """
    merge = _merge_at(first, row, merges)
    return merge is None or merge.last_column == merge.first_column or column <= merge.last_column


def _merge_at(column: int, row: int, merges: list[Merge]) -> Merge | None:
    for merge in merges:
        if merge.first_column == column and merge.first_row <= row <= merge.last_row:
            return merge
    return None


def _placed(labels: list[_Label]) -> list[tuple[int, int]]:
    """(which of the six, column); a balance without начало or конец is told by its place beside the
    turnovers.
    """
    turnovers = [label.column for label in labels if label.heading is Heading.TURNOVER]
    placed = []
    for label in labels:
        group = label.heading
        if group is Heading.BALANCE and turnovers:
            group = Heading.OPENING if label.column < min(turnovers) else Heading.CLOSING
        if group is Heading.BALANCE:
            raise NotTrialBalance(None, "в шапке таблицы нет колонок с оборотами")
        placed.append((group.value * 2 + label.side.value, label.column))
    return placed


def _six(placed: list[tuple[int, int]]) -> tuple[int, int, int, int, int, int]:
    columns = dict(placed)
    if len(columns) < len(placed):
        raise LayoutNotRead("currency", "в шапке больше шести колонок сумм")
    if len(columns) < 6:
        raise NotTrialBalance(
            None,
            "в шапке таблицы нет всех шести колонок: "
            "дебет и кредит сальдо на начало, оборотов и сальдо на конец",
        )
    six = tuple(columns[which] for which in range(6))
    if any(left >= right for left, right in pairwise(six)):
        raise NotTrialBalance(None, "колонки сумм стоят не по порядку: начало, обороты, конец")
    return six  # type: ignore[return-value]


def _refuse_other_families(names: list[tuple[Row, Cell]]) -> None:
    for row, cell in names:
        words = plain(text_of(cell))
        for pattern, family in _FAMILIES:
            if words and pattern.search(words):
                raise LayoutNotRead(
                    family, f"колонка «{text_of(cell)}» в шапке (строка {row.number})"
                )


def _account_and_name(
    names: list[tuple[Row, Cell]], limit: int, merges: list[Merge]
) -> tuple[tuple[int, int], tuple[int, int] | None]:
    """The spans of the account's and the name's columns; no name span: one column holds both, or
    there are no names.
    """
    account: tuple[int, int] | None = None
    name: tuple[int, int] | None = None
    left = sorted(cell[0] for _, cell in names if cell[0] < limit and text_of(cell))
    for row, cell in names:
        words = plain(text_of(cell))
        if not words or cell[0] >= limit:
            continue
        span = (cell[0], _span_end(cell[0], row.number, merges, left, limit))
        if account is None and _ACCOUNT.search(words):
            account = span
        elif name is None and _NAME.search(words):
            name = span
    if account is None:
        seen = ", ".join(
            f"«{text_of(cell)}»" for _, cell in names if cell[0] < limit and text_of(cell)
        )
        raise NotTrialBalance(
            None, f"в шапке нет колонки «Счет»{': слева от сумм ' + seen if seen else ''}"
        )
    return account, name


def _span_end(column: int, row: int, merges: list[Merge], labelled: list[int], limit: int) -> int:
    """The last column under a label: up to the next labelled one, since 1С indents codes by
    columns.
    """
    merge = _merge_at(column, row, merges)
    following = next((other for other in labelled if other > column), limit)
    return max(following - 1, min(merge.last_column, limit - 1) if merge else column)


def _spans(amounts: tuple[int, ...], row: int, merges: list[Merge]) -> dict[int, int]:
    spans = {}
    for which, column in enumerate(amounts):
        merge = _merge_at(column, row, merges)
        last = merge.last_column if merge else column
        spans.update(dict.fromkeys(range(column, last + 1), which))
    return spans
