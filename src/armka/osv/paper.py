"""Pages to one grid: their tables as one, their titles above it, and where each row stood.

A table that goes on over pages is put together: columns are matched by where they stand, a header
that is printed again is left out. What was not read surely becomes `Unsure`. What fits nowhere is a
doubt, in words for a person.
"""

import re
from collections.abc import Iterator

import msgspec

from armka.osv import accounts, broken_words, misread, smudged
from armka.osv.amounts import of_text
from armka.osv.grid import Cell, Grid, LooseRow, Merge, Row, Scan, Style, Unsure, Value
from armka.osv.header import is_header_row
from armka.osv.lines import PageWords, TextLine
from armka.osv.pages import Page, Table, TableCell
from armka.osv.reports import announced
from armka.osv.wording import plain

_HEADER_ROWS = 6  # a header printed again ends within so many rows
_ROWS_APART = 10  # a title is no heading of the columns under it
_MOSTLY = 0.6
_SELDOM = 0.2
_TOTAL = re.compile(r"^(?:итого|всего)\b")
_WORDS = re.compile(r"[^\W\d_]{3}")
_MONEY = re.compile(r"\(?[-−–]?\d{1,3}(?:\d*|(?:[ \u00a0]\d{3})*)[.,]\d{2}\)?")
_INDENT = 0.006  # of the page's width: about a millimetre


class Gate(msgspec.Struct, frozen=True):
    """What is believed: amounts of so much confidence, pages of so many dots per inch."""

    min_confidence: float
    min_dpi: float


class Place(msgspec.Struct, frozen=True):
    """Where a row of the grid stood: its page, its row in the table there, its cells by column."""

    page: Page
    words: PageWords
    row: int
    cells: dict[int, TableCell]


class Doubt(msgspec.Struct, frozen=True):
    """What may have been lost on the way from the pages, and on which page."""

    page: int
    reason: str


class Paper(msgspec.Struct):
    """The grid, `places` by its row numbers, and what is doubtful about it.

    `headlines` stand above its tables, `recognised` are the pages that have no text layer.
    """

    grid: Grid
    places: dict[int, Place]
    headlines: list[TextLine]
    recognised: list[Page]
    doubts: list[Doubt]


def lay_out(pages: list[Page], gate: Gate) -> Paper:
    """Put pages together, in the order of their numbers."""
    ordered = sorted(pages, key=lambda page: page.number)
    words = [PageWords(page) for page in ordered]
    laying = _Laying(gate, _shows_kopecks(ordered), _indents(ordered, words))
    for page, its_words in zip(ordered, words, strict=True):
        laying.page(page, its_words)
    return laying.paper(_name(ordered))


def _name(pages: list[Page]) -> str:
    first, last = pages[0].number, pages[-1].number
    return f"страница {first}" if first == last else f"страницы {first}–{last}"


def _shows_kopecks(pages: list[Page]) -> bool:
    """Whether amounts end in two decimals, as most in a table do where one does."""
    texts = [
        cell.text
        for page in pages
        for table in page.tables
        for cell in table.cells
        if cell.column and misread.looks_like_amount(cell.text)
    ]
    return sum(map(misread.has_two_decimals, texts)) > _MOSTLY * len(texts)


def _indents(pages: list[Page], words: list[PageWords]) -> list[float]:
    """How far the labels of all tables stand off the left edge of their column, step by step."""
    offsets = sorted(
        offset
        for page, its_words in zip(pages, words, strict=True)
        for table in page.tables
        for offset in its_words.offsets(table)
    )
    steps: list[float] = []
    last = -1.0
    for offset in offsets:
        if offset - last > _INDENT:
            steps.append(offset)
        last = offset
    return steps


class _Laying:
    def __init__(self, gate: Gate, kopecks: bool, indents: list[float]) -> None:
        self._gate = gate
        self._kopecks = kopecks
        self._indents = indents
        self._rows: list[Row] = []
        self._merges: list[Merge] = []
        self._places: dict[int, Place] = {}
        self._scan = Scan({}, {}, {})
        self._headlines: list[TextLine] = []
        self._recognised: list[Page] = []
        self._doubts: list[Doubt] = []
        self._pending: list[tuple[Page, TextLine]] = []
        self._columns: list[tuple[float, float]] = []
        self._total_seen = False
        self._next = 1

    def paper(self, name: str) -> Paper:
        """What has been laid out."""
        self._leave_out()
        steps = range(max(len(self._indents), 1))
        styles = [Style(indent=step) for step in steps]
        grid = Grid(name, self._rows, styles, self._merges, scan=self._scan)
        return Paper(grid, self._places, self._headlines, self._recognised, self._doubts)

    def page(self, page: Page, words: PageWords) -> None:
        """Lay out a page's tables and what stands between them, downward."""
        if page.source == "ocr" and page.tables:
            self._recognised.append(page)
        outside = words.outside_tables()
        for table in _in_reading_order(page.tables):
            middle = (table.box[1] + table.box[3]) / 2
            self._pending += [(page, line) for line in outside if line.bottom <= middle]
            outside = [line for line in outside if line.bottom > middle]
            self._table(page, words, table)
        self._pending += [(page, line) for line in outside]

    def _table(self, page: Page, words: PageWords, table: Table) -> None:
        table = broken_words.joined(table)
        rows = _rows_of(smudged.mended(table) if page.source == "ocr" else table)
        header = next((r for r, cells in rows[:_HEADER_ROWS] if _is_header(cells)), None)
        if header is None and any(_is_header(cells) for _, cells in rows[_HEADER_ROWS:]):
            header = 0  # lines of text above the header, in the table's own cells
        if not self._columns or (header is not None and self._is_announced()):
            self._headline()
            self._total_seen = False
            if header is not None:
                self._columns = _spans(page, table)
            self._add(page, words, rows, list(range(table.columns)))
            return
        self._leave_out()
        if header is not None:
            rows = [(r, cells) for r, cells in rows if r > header]
        if rows and _numbers_columns(rows[0][1]):
            rows = rows[1:]
        self._add(page, words, rows, self._matched(page, table))

    def _is_announced(self) -> bool:
        """Whether another report begins: a total above, and a title since."""
        texts = (text for _, line in self._pending for text in line.texts)
        return self._total_seen and any(announced(text) is not None for text in texts)

    def _matched(self, page: Page, table: Table) -> list[int]:
        """Which column of the first table each of this table's columns is: the one over it."""
        matched = [_nearest(span, self._columns) for span in _spans(page, table)]
        if table.columns == len(self._columns) and len(set(matched)) < table.columns:
            return list(range(table.columns))  # it stands elsewhere, as in a book of two columns
        return matched

    def _add(
        self,
        page: Page,
        words: PageWords,
        rows: list[tuple[int, list[TableCell]]],
        columns: list[int],
    ) -> None:
        aside = self._without_label(page, rows)
        for r, cells in rows:
            place = Place(page, words, r + 1, _placed(cells, columns))
            if len(self._columns) in place.cells and _is_money(place.cells[len(self._columns)]):
                reason = f"строка {r + 1}: сумма стоит вне колонок таблицы"
                self._doubts.append(Doubt(page.number, reason))
            if r in aside:
                said = " | ".join(cell.text for cell in cells if cell.text.strip())[:200]
                reason = f"строка {r + 1}: суммы есть, а счет не прочитан ({said})"
                self._doubts.append(Doubt(page.number, reason))
                continue
            self._row(place, columns)
            if any(_TOTAL.match(plain(cell.text)) for cell in cells[:2]):
                self._total_seen = True
        self._next += 1

    def _row(self, place: Place, columns: list[int]) -> None:
        number, self._next = self._next, self._next + 1
        found = (self._cell(place, column, cell) for column, cell in sorted(place.cells.items()))
        cells = [cell for cell in found if cell is not None]
        if cells:
            self._rows.append(LooseRow(number, cells))
            self._places[number] = place
            self._scan.pages[number] = place.page.number
        for column, cell in place.cells.items():
            self._scan.boxes[number, column] = _box(cell, place.page)
            known = cell.confidence if cell.text.strip() else None
            self._scan.confidence[number, column] = known
        for cell in place.cells.values():
            last = columns[cell.column + cell.column_span - 1]
            first = columns[cell.column]
            if (cell.row_span, last) != (1, first) and last >= first:
                self._merges.append(Merge(number, number + cell.row_span - 1, first, last))

    def _cell(self, place: Place, column: int, cell: TableCell) -> Cell | None:
        text = cell.text.strip()
        value: Value = text
        if column and self._is_unsure(place.page, cell):
            value = Unsure(text, self._meant(cell))
        elif not text:
            return None
        return column, value, 0 if column else self._indent(place, cell)

    def _is_unsure(self, page: Page, cell: TableCell) -> bool:
        low = cell.confidence is not None and cell.confidence < self._gate.min_confidence
        if not cell.text.strip():
            return low
        if not misread.looks_like_amount(cell.text):
            return False
        readings = {_read(other.text) for other in cell.alternatives} | {_read(cell.text)}
        odd = self._kopecks and not misread.has_two_decimals(cell.text)
        return low or len(readings) > 1 or (odd and page.source == "ocr")

    def _meant(self, cell: TableCell) -> int | None:
        texts = [cell.text, *(other.text for other in cell.alternatives)]
        found = (misread.meant(text, kopecks=self._kopecks) for text in texts)
        return next((amount for amount in found if amount is not None), None)

    def _indent(self, place: Place, cell: TableCell) -> int:
        offset = place.words.offset(cell)
        return max(sum(step <= offset for step in self._indents) - 1, 0) if offset else 0

    def _without_label(self, page: Page, rows: list[tuple[int, list[TableCell]]]) -> set[int]:
        """Rows of a recognised page that have amounts and nothing in front that could be read.

        Where they are many it is the table's own way, and the reader of its layout knows it.
        """
        if page.source != "ocr":
            return set()
        with_amounts = [(r, cells) for r, cells in rows if any(map(_is_money, cells))]
        without = {r for r, cells in with_amounts if not _has_label(cells)}
        return without if len(without) <= max(_SELDOM * len(with_amounts), 1) else set()

    def _headline(self) -> None:
        """What stood above a table becomes rows above it."""
        for _, line in self._pending:
            number, self._next = self._next, self._next + 1
            cells: list[Cell] = [(index, text, 0) for index, text in enumerate(line.texts)]
            self._rows.append(LooseRow(number, cells))
            self._headlines.append(line)
        self._pending = []
        self._next += _ROWS_APART

    def _leave_out(self) -> None:
        """What stands between parts of a table is not of it, unless it looks like amounts."""
        for page, line in self._pending:
            if any(_MONEY.fullmatch(word.text) for word in line.words):
                text = " ".join(line.texts)[:200]
                reason = f"вне таблицы стоит то, что похоже на сумму: «{text}»"
                self._doubts.append(Doubt(page.number, reason))
        self._pending = []


def _box(cell: TableCell, page: Page) -> list[float]:
    """In shares of the page's width and height."""
    left, top, right, bottom = cell.box
    shares = (left / page.width, top / page.height, right / page.width, bottom / page.height)
    return [round(min(max(share, 0.0), 1.0), 5) for share in shares]


def _in_reading_order(tables: list[Table]) -> Iterator[Table]:
    """Downward; of tables side by side, from left to right."""
    rest = sorted(tables, key=lambda table: table.box[1])
    while rest:
        bottom = rest[0].box[3]
        beside = [t for t in rest if t.box[1] < (rest[0].box[1] + bottom) / 2]
        yield from sorted(beside, key=lambda table: table.box[0])
        rest = rest[len(beside) :]


def _rows_of(table: Table) -> list[tuple[int, list[TableCell]]]:
    rows: dict[int, list[TableCell]] = {}
    for cell in sorted(table.cells, key=lambda cell: (cell.row, cell.column)):
        rows.setdefault(cell.row, []).append(cell)
    return list(rows.items())


def _is_header(cells: list[TableCell]) -> bool:
    return is_header_row(LooseRow(1, [(cell.column, cell.text, 0) for cell in cells]))


def _placed(cells: list[TableCell], columns: list[int]) -> dict[int, TableCell]:
    """Cells by the grid's columns; what comes to stand in one column is one text."""
    placed: dict[int, TableCell] = {}
    for cell in cells:
        column = columns[cell.column]
        before = placed.get(column)
        if before is not None and before.text.strip():
            if not cell.text.strip():
                continue
            cell = msgspec.structs.replace(before, text=f"{before.text} {cell.text}")  # noqa: PLW2901
        placed[column] = cell
    return placed


def _numbers_columns(cells: list[TableCell]) -> bool:
    texts = [cell.text.strip() for cell in cells if cell.text.strip()]
    return len(texts) >= 6 and texts == [str(index) for index in range(1, len(texts) + 1)]


def _spans(page: Page, table: Table) -> list[tuple[float, float]]:
    """From where to where each column goes, in shares of the page's width."""
    spans: dict[int, tuple[float, float]] = {}
    for cell in table.cells:
        if cell.column_span == 1:
            left, right = spans.get(cell.column, (cell.box[0], cell.box[2]))
            spans[cell.column] = min(left, cell.box[0]), max(right, cell.box[2])
    nowhere = (0.0, 0.0)
    found = [spans.get(column, nowhere) for column in range(table.columns)]
    return [(left / page.width, right / page.width) for left, right in found]


def _nearest(span: tuple[float, float], columns: list[tuple[float, float]]) -> int:
    """The first column that a span mostly covers, else the one that it has most in common with;
    one past the last, if it has nothing in common with any.
    """

    def shared(index: int) -> float:
        return min(span[1], columns[index][1]) - max(span[0], columns[index][0])

    for index, (left, right) in enumerate(columns):
        if shared(index) > max(_MOSTLY * (right - left), 0.0):
            return index
    best = max(range(len(columns)), key=shared)
    return best if shared(best) > 0 else len(columns)


def _read(text: str) -> object:
    """What a text says, as far as two readings can agree."""
    amount = of_text(text)
    return amount if isinstance(amount, int) else text.strip()


def _is_money(cell: TableCell) -> bool:
    return cell.column > 0 and _MONEY.fullmatch(cell.text.strip()) is not None


def _has_label(cells: list[TableCell]) -> bool:
    """Whether what stands in front of the amounts can be read as anything."""
    for cell in cells:
        if _is_money(cell):
            return False
        text = cell.text.strip()
        if text and (accounts.parse(text) is not None or (_WORDS.search(text) and not cell.column)):
            return True
    return False
