"""CSV under the name of an XLS: fields between semicolons, tabs, commas or bars; all are texts."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from armka.osv.grid import Cell, Grid, LooseRow, Row, Style
from armka.services.tabular_parser.characters import clean
from armka.services.tabular_parser.decoding import decode
from armka.services.tabular_parser.limits import (
    MAX_COLUMN,
    MAX_ROW,
    CellCount,
    Corrupt,
    NotDelimited,
    TooLarge,
)

_SHEET = "CSV"
_DELIMITERS = ";\t,|"
_DECLARED = re.compile(r"sep=(.)\r?\n")
_SAMPLE_LINES = 200


def read(data: bytes) -> Iterator[Grid]:
    """The one sheet. Raises NotDelimited, Corrupt, TooLarge."""
    text = decode(data)
    try:
        if declared := _DECLARED.match(text):
            rows = list(_rows(text[declared.end() :], declared.group(1)))
        else:
            rows = list(_rows(text, _delimiter(text)))
    except csv.Error as error:
        raise Corrupt(f"csv: {error}") from error
    yield Grid(_SHEET, rows, [Style()], [])


def _delimiter(text: str) -> str:
    """The delimiter that cuts the most lines into one and the same number of fields."""
    sample = list(islice(text.splitlines(keepends=True), _SAMPLE_LINES))
    agreeing = {it: _usual(csv.reader(sample, delimiter=it))[0] for it in _DELIMITERS}
    best = max(_DELIMITERS, key=agreeing.__getitem__)
    if not agreeing[best]:
        raise NotDelimited
    return best


def _usual(rows: Iterable[list[str]]) -> tuple[int, int]:
    """How many rows have the number of fields that most have, and that number."""
    widths = Counter(len(row) for row in rows if len(row) > 1)
    return max(((count, width) for width, count in widths.items()), default=(0, 0))


def _rows(text: str, delimiter: str) -> Iterator[Row]:
    records = list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
    _, width = _usual(records)
    count = CellCount()
    for number, record in enumerate(records, 1):
        cells: list[Cell] = [(n, clean(field), 0) for n, field in enumerate(record) if field]
        if not cells:
            continue
        if number > MAX_ROW or len(record) > MAX_COLUMN:
            raise TooLarge(f"строка {number} вне листа")
        if delimiter == "," and cells[-1][0] >= width:
            # An amount with a decimal comma and no quotes would be read as two.
            raise Corrupt(f"csv: в строке {number} полей больше, чем в остальных")
        count.add(len(cells))
        yield LooseRow(number, cells)
