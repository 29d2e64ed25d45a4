"""A sheet as its writers take it, whatever the format; rows and columns count from 0."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Look:
    """How a cell looks."""

    number_format: str = "General"
    bold: bool = False
    italic: bool = False
    indent: int = 0


PLAIN = Look()
CellValue = str | float | int | bool


@dataclass
class Sheet:
    """Cells, and what stands around them."""

    name: str = "TDSheet"
    cells: dict[tuple[int, int], tuple[CellValue, Look]] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    merges: list[tuple[int, int, int, int]] = field(
        default_factory=list
    )  # first row, column, last row, column
    hidden: bool = False

    def put(self, row: int, column: int, value: CellValue, look: Look = PLAIN) -> None:
        self.cells[row, column] = (value, look)

    def merge(self, row: int, column: int, last_row: int, last_column: int) -> None:
        if (row, column) != (last_row, last_column):
            self.merges.append((row, column, last_row, last_column))

    def at(self, address: str) -> CellValue:
        """The value of a cell by its address: B12."""
        letters = address.rstrip("0123456789")
        column = 0
        for letter in letters:
            column = 26 * column + ord(letter) - 64
        return self.cells[int(address[len(letters) :]) - 1, column - 1][0]

    def rows(self) -> dict[int, list[tuple[int, CellValue, Look]]]:
        """Row by row, each with its cells in order."""
        rows: dict[int, list[tuple[int, CellValue, Look]]] = {}
        for (row, column), (value, look) in sorted(self.cells.items()):
            rows.setdefault(row, []).append((column, value, look))
        return rows
