"""What a reader hands over: one table as rows of cells, with everything that 1С says by looks
alone, and where it stands, on a sheet or on pages.
"""

from decimal import Decimal
from typing import Self

import msgspec


class CellError(str):
    """A cell that holds an error (`#REF!`) or a stored value that is no value; the text is what
    stands there.
    """

    __slots__ = ()


class Unsure(str):
    """A text that was read off an image, and not surely: it is no amount, whatever it says.

    `suggested` is what it may mean, in the unit of `armka.osv.amounts`.
    """

    __slots__ = ("suggested",)
    suggested: int | None

    def __new__(cls, text: str, suggested: int | None) -> Self:
        """Keep the text with what it may mean."""
        made = super().__new__(cls, text)
        made.suggested = suggested
        return made


# A number is a float where its stored digits survive that, else a Decimal; a date is the number it
# is stored as, told by its style. Blank cells are not handed over.
Value = str | float | Decimal | bool | CellError

# (column counted from 0, value, index into `Grid.styles`): a tuple, since there are millions.
Cell = tuple[int, Value, int]


class Style(msgspec.Struct, frozen=True, gc=False):
    """How a cell looks. `number_format` is the format code, `General` where there is none; `indent`
    in steps; `red` is a red font, which may stand for the minus of an amount written as text.
    """

    number_format: str = "General"
    bold: bool = False
    italic: bool = False
    indent: int = 0
    red: bool = False


class LooseRow(msgspec.Struct):
    """A row that has cells, of whatever form. `number` counts from 1 as the sheet shows it; `level`
    is its outline level.
    """

    number: int
    cells: list[Cell]
    level: int = 0
    hidden: bool = False


class Form(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What rows alike have in common, cell by cell: columns, styles, and whether the value is a
    number (a finite float) or else a text. Two forms are never equal, so that they are quick keys.
    """

    columns: tuple[int, ...]
    styles: tuple[int, ...]
    numbers: tuple[bool, ...]


class RegularRow(msgspec.Struct):
    """A row whose form many others share; its values are all that is its own."""

    number: int
    form: Form
    values: tuple[Value, ...]
    level: int = 0
    hidden: bool = False

    @property
    def cells(self) -> list[Cell]:
        """As those of any row."""
        return list(zip(self.form.columns, self.values, self.form.styles, strict=True))


Row = LooseRow | RegularRow


class Merge(msgspec.Struct, frozen=True, gc=False):
    """A merged range: rows counted from 1, columns from 0, both ends inclusive."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


class Scan(msgspec.Struct):
    """Where a grid that was read off pages stands on them: the page of each row by its number, and
    the box (shares of the page) and confidence of each cell by (row's number, column).
    """

    pages: dict[int, int]
    boxes: dict[tuple[int, int], list[float]]
    confidence: dict[tuple[int, int], float | None]


class Grid(msgspec.Struct):
    """One sheet, or the tables of some pages one under the other: its rows in ascending order,
    without the rows that have no cells; a hidden sheet is handed over empty. `scan`: it is no
    sheet, and `sheet` is only what to call it.
    """

    sheet: str
    rows: list[Row]
    styles: list[Style]
    merges: list[Merge]
    hidden: bool = False
    scan: Scan | None = None


def raw_text(value: Value) -> str:
    """A stored value as text: of a number the shortest digits that are this number."""
    return repr(value) if isinstance(value, float) else str(value)


def column_letter(column: int) -> str:
    """The letters of a column counted from 0: 0 is A, 26 is AA."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
