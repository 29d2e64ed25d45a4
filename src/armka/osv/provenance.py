"""Where each value stood and how it was written, as compactly as it can be said.

The document names the six columns and their number formats, a line its row: that is all there is to
say of most lines. Only what differs is said line by line. On pages each value has its box and its
confidence instead.
"""

from collections.abc import Callable

from armka.contract.result import HeaderSource
from armka.osv.checks.finding import address
from armka.osv.entries import Body, Entry, Place
from armka.osv.grid import Grid, Style, column_letter
from armka.osv.header import Header

Said = dict[str, object]
_NOTHING: Said = {}


def header_source(grid: Grid, header: Header) -> HeaderSource:
    """How the table was found."""
    levels = header.legend
    if grid.scan is not None:
        return HeaderSource(shape=header.shape.value, levels=levels)
    return HeaderSource(
        shape=header.shape.value,
        rows=[header.first_row, header.last_row],
        label=column_letter(header.label[0]),
        name=column_letter(header.name[0]) if header.name else None,
        levels=levels,
    )


def formats_of(grid: Grid, body: Body) -> list[str | None] | None:
    """The number format of each column: that of its first amount."""
    if grid.scan is not None:
        return None
    first: list[str | None] = [None] * 6
    missing = set(range(6))
    for entry in body.entries:
        for which in [which for which in missing if entry.styles[which] >= 0]:
            first[which] = grid.styles[entry.styles[which]].number_format
            missing.discard(which)
        if not missing:
            break
    return first


def teller(grid: Grid, header: Header, formats: list[str | None] | None) -> Callable[[Entry], Said]:
    """Make the function that says of a line where its values stood, as fields of the contract's
    line.
    """
    if grid.scan is not None:
        return _on_pages(grid, header)
    differing = _Differing(formats or [None] * 6, grid.styles)

    def tell(entry: Entry) -> Said:
        differs = differing[entry.styles]
        if differs is None and entry.places is None and not entry.raw:
            return _NOTHING
        said: Said = {}
        if differs is not None:
            said["formats"] = differs
        if entry.places is not None:
            said["cells"] = [None if place is None else address(place) for place in entry.places]
        if entry.raw:
            said["raw"] = [entry.raw.get(which) for which in range(6)]
        return said

    return tell


class _Differing(dict[tuple[int, ...], list[str | None] | None]):
    """By the styles of a line, its number formats that are not the document's; None: all are."""

    def __init__(self, usual: list[str | None], styles: list[Style]) -> None:
        self._usual = usual
        self._codes = [style.number_format for style in styles]

    def __missing__(self, styles: tuple[int, ...]) -> list[str | None] | None:
        own = [None if style < 0 else self._codes[style] for style in styles]
        said = [
            code if code != usual else None for code, usual in zip(own, self._usual, strict=True)
        ]
        return self.setdefault(styles, said if any(code is not None for code in said) else None)


def _on_pages(grid: Grid, header: Header) -> Callable[[Entry], Said]:
    scan, columns = grid.scan, header.amounts

    def tell(entry: Entry) -> Said:
        if scan is None:
            return {}
        places: list[Place | None] = entry.places or [
            None if column is None else (entry.row, column) for column in columns
        ]
        said: Said = {
            "page": scan.pages.get(entry.row),
            "boxes": [scan.boxes.get(place) if place else None for place in places],
            "confidence": [scan.confidence.get(place) if place else None for place in places],
        }
        if entry.raw:
            said["raw"] = [entry.raw.get(which) for which in range(6)]
        return said

    return tell
