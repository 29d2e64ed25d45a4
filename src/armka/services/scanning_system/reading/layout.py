"""What both kinds of page share once their words and drawn lines are known."""

from armka.services.scanning_system import answer
from armka.services.scanning_system.reading import borderless
from armka.services.scanning_system.reading.marks import Mark
from armka.services.scanning_system.reading.rules import Grid
from armka.services.scanning_system.reading.tables import Sheet, fill, whole

Transform = tuple[float, float, float, float, float, float, float, float, float]


def sheets_of(grids: list[Grid], marks: list[Mark]) -> list[Sheet]:
    """The tables of a page: those that are drawn, else the one that the amounts make."""
    drawn = [sheet for grid in grids if any((sheet := fill(grid, marks)).texts())]
    if drawn:
        return drawn
    grid = borderless.find(marks)
    return [fill(grid, marks)] if grid is not None else []


def word(mark: Mark, shrink: float = 1.0) -> answer.Word:
    """A word as it is answered, at the size of the page."""
    return answer.Word(mark.text, whole(mark.box, shrink), mark.confidence)


def quarter_turn(rotation: int, width: int, height: int) -> Transform:
    """From pixels of the page as it came to those of the upright page, `width` by `height`."""
    w, h = float(width), float(height)
    match rotation:
        case 90:
            return (0, -1, w, 1, 0, 0, 0, 0, 1)
        case 180:
            return (-1, 0, w, 0, -1, h, 0, 0, 1)
        case 270:
            return (0, 1, 0, -1, 0, h, 0, 0, 1)
        case _:
            return (1, 0, 0, 0, 1, 0, 0, 0, 1)
