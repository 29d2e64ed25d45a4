"""One row of cells, sorted into the header's columns."""

from decimal import Decimal

import msgspec

from armka.osv.amounts import MOST, NEARLY, RAW, Amount, AmountReader, Unreadable, of_kopecks
from armka.osv.grid import (
    Cell,
    CellError,
    Form,
    RegularRow,
    Row,
    Style,
    Value,
    raw_text,
)
from armka.osv.header import Header
from armka.osv.labels import Stub
from armka.osv.number_format import show_code


class Parts(msgspec.Struct):
    """A row, sorted. `amounts`: six for each band of the header. `raw`: what stood in the cells
    that held no plain number. `others`: what the columns beside «Счет» say. `parts`: turnovers by
    correspondent account, (side, column, amount). `texts`: the amounts as the contract carries
    them, where all are plain.
    """

    label: Value | None
    label_column: int
    label_style: int
    name: str
    amounts: list[Amount]
    styles: tuple[int, ...]
    raw: dict[int, str] | None
    others: dict[Stub, list[tuple[int, str]]] | None
    parts: list[tuple[int, int, Amount]] | None
    stray: int | None
    has_amount: bool = False  # any amount's cell holds something
    has_unreadable: bool = False
    texts: list[str | None] | None = None

    @property
    def has_number(self) -> bool:
        """Whether any amount can be read."""
        return any(isinstance(amount, int) for amount in self.amounts)

    def text(self, kind: Stub) -> str:
        """What the columns of this kind say."""
        return " ".join(text for _, text in (self.others or {}).get(kind, []))


class _Plan(msgspec.Struct):
    """Where things stand in rows of one form: first the label, then a name if it is `named`, and
    from `first` on the amounts. `spread`: of each place the index of its amount, where there are
    not all; that index is the last where there is none.
    """

    label_column: int
    label_style: int
    named: bool
    first: int
    spread: list[int] | None
    styles: tuple[int, ...]
    printed: str


class _Plans(dict[Form, _Plan | None]):
    """Plans by forms; None: rows of this form are sorted cell by cell."""

    def __init__(self, header: Header, scales: list[float]) -> None:
        self._header = header
        self._scales = scales

    def __missing__(self, form: Form) -> _Plan | None:
        return self.setdefault(form, self._plan(form))

    def _plan(self, form: Form) -> _Plan | None:
        header, columns = self._header, form.columns
        which = [header.spans.get(column) for column in columns]
        first = next((i for i, place in enumerate(which) if place is not None), len(columns))
        places = [place for place in which[first:] if place is not None]
        named = first == 2
        if not (
            1 <= first <= 2
            and 0 < len(places) == len(columns) - first == len(set(places))
            and _within(columns[0], header.label)
            and (not named or (_within(columns[1], header.name) and not form.numbers[1]))
            and all(form.numbers[first:])
            and all(self._scales[style] for style in form.styles[first:])
        ):
            return None
        every = list(range(len(header.columns)))
        styles = dict(zip(places, form.styles[first:], strict=True))
        return _Plan(
            label_column=columns[0],
            label_style=form.styles[0],
            named=named,
            first=first,
            spread=None
            if places == every
            else [places.index(place) if place in places else len(places) for place in every],
            styles=tuple(styles.get(place, -1) for place in every),
            printed=" ".join(["%.2f"] * len(places)),
        )


def _spread(
    amounts: list[int], texts: list[str], places: list[int]
) -> tuple[list[int | None], list[str | None]]:
    """To their places, and None to the others."""
    own, shown = [*amounts, None], [*texts, None]
    return [own[place] for place in places], [shown[place] for place in places]


def _within(column: int, span: tuple[int, int] | None) -> bool:
    return span is not None and span[0] <= column <= span[1]


class RowReader:
    """Sorts rows by one header."""

    def __init__(self, header: Header, styles: list[Style], read_amount: AmountReader) -> None:
        self._header = header
        self._styles = styles
        self._amount = read_amount
        self._places = len(header.columns)
        amounts = [column for column in header.columns if column is not None]
        self._last = max(amounts)
        self._plans = _Plans(header, read_amount.scales)

    def parts(self, row: Row) -> Parts:
        """Sort one row."""
        if type(row) is RegularRow:
            parts = self._planned(row)
            if parts is not None:
                return parts
        return self._sorted(row)

    def _planned(self, row: RegularRow) -> Parts | None:
        """Sort a row as all of its form; None: there is something about it."""
        plan, values = self._plans[row.form], row.values
        if plan is None or values[0] == "":
            return None
        found = of_kopecks(values[plan.first :], plan.printed)  # type: ignore[arg-type]  # numbers
        if found is None:
            return None
        amounts, texts = found if plan.spread is None else _spread(*found, plan.spread)
        return Parts(
            values[0],
            plan.label_column,
            plan.label_style,
            " ".join(values[1].split()) if plan.named else "",  # type: ignore[union-attr]  # a text
            amounts,  # type: ignore[arg-type]  # lists of less than they may hold
            plan.styles,
            None,
            None,
            None,
            None,
            True,
            False,
            texts,  # type: ignore[arg-type]
        )

    def _sorted(self, row: Row) -> Parts:
        """Sort a row cell by cell."""
        header, places = self._header, self._places
        styles = [-1] * places
        parts = Parts(None, 0, 0, "", [None] * places, (), None, None, None, None)
        spans, read, amounts = header.spans, self._amount.read, parts.amounts
        scales, rests = self._amount.scales, self._amount.rests
        first, last = header.label
        for cell in row.cells:
            column, value, style = cell
            which = spans.get(column)
            if which is not None and type(value) is float and scales[style]:
                scaled = value * scales[style]
                whole = round(scaled) if -MOST < scaled < MOST else 0
                if -NEARLY < scaled - whole < NEARLY and amounts[which] is None:
                    amounts[which] = whole * rests[style]
                    styles[which] = style
                    parts.has_amount = True
                    continue
            if which is None:
                if first <= column <= last:
                    _take_label(parts, column, value, style)
                else:
                    self._take_other(parts, cell)
                continue
            found = read(value, style)
            if found is None:
                continue
            if amounts[which] is not None:
                found = Unreadable(f"{value} (две суммы)")
            amounts[which] = found
            styles[which] = style
            parts.has_amount = True
            if type(found) is not int:
                parts.has_unreadable = True
            if type(value) is not float:
                parts.raw = parts.raw or {}
                parts.raw[which] = raw_text(value)[:RAW]
        parts.styles = tuple(styles)
        return parts

    def _take_other(self, parts: Parts, cell: Cell) -> None:
        header = self._header
        column, value, style = cell
        kind = header.stubs.get(column)
        side = header.correspondents.get(column)
        if header.name and header.name[0] <= column <= header.name[1]:
            parts.name = parts.name or self.shown(value, style)
        elif kind is not None:
            text = self.shown(value, style)
            if text:
                parts.others = parts.others or {}
                parts.others.setdefault(kind, []).append((column, text))
        elif side is not None:
            parts.parts = parts.parts or []
            parts.parts.append((side, column, self._amount.read(value, style)))
        elif header.label[1] < column < self._last and isinstance(value, float | Decimal):
            parts.stray = column

    def shown(self, value: Value, style: int) -> str:
        """A cell as text, a number as its format shows it."""
        if isinstance(value, float | Decimal):
            return show_code(value, self._styles[style].number_format) or str(value)
        return "" if isinstance(value, CellError | bool) else " ".join(value.split())


def _take_label(parts: Parts, column: int, value: Value, style: int) -> None:
    """The first value under «Счет» is the label; a text beside it is the name, a number a stray."""
    if value == "":
        return
    if parts.label is None:
        parts.label, parts.label_column, parts.label_style = value, column, style
    elif isinstance(value, float | Decimal):
        parts.stray = column
    else:
        parts.name = parts.name or " ".join(str(value).split())
