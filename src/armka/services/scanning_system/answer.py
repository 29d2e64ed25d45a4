"""What the scanning system answers: pages with words and tables.

Boxes are pixels of the upright page, origin top left, x to the right, y down. A confidence is from
0 to 1, and null where nobody knows: a text layer does not say how sure its author was.
"""

from typing import Literal

import msgspec

SCHEMA_VERSION = "1.0"

Box = tuple[int, int, int, int]


class Engine(msgspec.Struct, frozen=True):
    """What read the document."""

    name: str
    version: str


class Word(msgspec.Struct, frozen=True):
    """A word of the page; words in tables are here too."""

    text: str
    box: Box
    confidence: float | None


class Alternative(msgspec.Struct, frozen=True):
    """Another reading of a cell: a proposal, never the value."""

    text: str
    confidence: float | None


class Cell(msgspec.Struct, frozen=True):
    """A cell with its span; `text` is what stands there, read as it is."""

    row: int
    column: int
    row_span: int
    column_span: int
    box: Box
    text: str
    confidence: float | None
    alternatives: list[Alternative] = []


class Table(msgspec.Struct, frozen=True):
    """A table; `bordered` where drawn lines told the cells apart."""

    box: Box
    rows: int
    columns: int
    bordered: bool
    cells: list[Cell]


class Preview(msgspec.Struct, frozen=True):
    """A small picture of the upright page, for people to look at; `data` is base64 in JSON."""

    media_type: Literal["image/jpeg"]
    data: bytes


class Page(msgspec.Struct, frozen=True):
    """One page, upright.

    `rotation` is in degrees clockwise, `skew` in degrees removed. `transform` is the 3x3 matrix,
    row by row, from pixels of the page as it came to pixels of the upright page. A page of a PDF
    came drawn at `dpi`; a picture that names no resolution of its own has null.
    `preview` comes with the first pages that were read off a picture.
    """

    number: int
    width: int
    height: int
    dpi: int | None
    rotation: int
    skew: float
    source: Literal["text", "ocr"]
    words: list[Word]
    tables: list[Table]
    transform: tuple[float, float, float, float, float, float, float, float, float]
    preview: Preview | None = None


class PageAnswer(msgspec.Struct, frozen=True):
    """A page and what its reader has to say about it."""

    page: Page
    warnings: list[str] = []


class Answer(msgspec.Struct, frozen=True):
    """The whole document."""

    schema_version: str
    document_id: str
    engine: Engine
    pages: list[Page]
    warnings: list[str]
