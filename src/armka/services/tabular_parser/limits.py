"""The ways in which a file itself stops its reading, and how much of it is read at most."""

MAX_ROW = 1_048_576
MAX_COLUMN = 16_384
MAX_CELLS = 5_000_000


class Encrypted(Exception):
    """The file is protected by a password."""


class NotDelimited(Exception):
    """The file is a text without columns."""


class Corrupt(Exception):
    """The file is of the format, and broken; `detail` says where, for whoever maintains this."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class TooLarge(Exception):
    """Reading the file would take more than a file may take; `detail` says which limit, to a
    person.
    """

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class CellCount:
    """Counts cells over all sheets of a file; raises TooLarge past the limit."""

    def __init__(self) -> None:
        self.cells = 0

    def add(self, cells: int) -> None:
        self.cells += cells
        if self.cells > MAX_CELLS:
            raise TooLarge(f"больше {MAX_CELLS} ячеек")
