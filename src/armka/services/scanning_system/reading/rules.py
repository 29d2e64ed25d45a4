"""Drawn lines become grids: pure geometry, for a text layer's paths and for a scan's ink alike."""

import bisect
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_COLUMNS_MIN = 2
_SPAN_SHARE = 0.5


class Rule(NamedTuple):
    """A straight line along an axis: where it lies across, and from where to where it runs."""

    at: float
    start: float
    end: float


class Span(NamedTuple):
    """A cell of a grid: its first row and column and how many it covers."""

    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True)
class Grid:
    """Edges of the columns and rows, ascending, and the cells between them."""

    xs: list[float]
    ys: list[float]
    spans: list[Span]
    bordered: bool = True

    def place(self, x: float, y: float) -> tuple[int, int] | None:
        """The row and column of a point; None outside."""
        column = bisect.bisect(self.xs, x) - 1
        row = bisect.bisect(self.ys, y) - 1
        if 0 <= column < len(self.xs) - 1 and 0 <= row < len(self.ys) - 1:
            return row, column
        return None

    @cached_property
    def _owners(self) -> dict[tuple[int, int], Span]:
        return {
            (span.row + r, span.column + c): span
            for span in self.spans
            for r in range(span.rows)
            for c in range(span.columns)
        }

    def cell(self, x: float, y: float) -> Span | None:
        """The cell of a point; None outside."""
        place = self.place(x, y)
        return None if place is None else self._owners[place]


def merge(rules: list[Rule], near: float) -> list[Rule]:
    """Join what is one line: drawn twice, or cell by cell."""
    merged: list[Rule] = []
    group: list[Rule] = []
    for rule in sorted(rules):
        if group and rule.at - group[0].at > near:
            merged += _joined(group, near)
            group = []
        group.append(rule)
    return merged + _joined(group, near)


def _joined(group: list[Rule], near: float) -> list[Rule]:
    joined: list[list[float]] = []
    at = sum(rule.at for rule in group) / len(group) if group else 0.0
    for _, start, end in sorted(group, key=lambda rule: rule.start):
        if joined and start <= joined[-1][1] + near:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [Rule(at, start, end) for start, end in joined]


def grids(
    horizontal: list[Rule], vertical: list[Rule], near: float, least: float = 0.0
) -> list[Grid]:
    """Find the tables: lines that touch each other belong together. From top to bottom.

    `least`: an edge must be drawn along this share of the table, or it is none.
    """
    across, down = merge(horizontal, near), merge(vertical, near)
    found = []
    for h_part, v_part in _components(across, down, near * 2):
        grid = _grid(h_part, v_part, near * 2, least)
        if grid is not None:
            found.append(grid)
    return sorted(found, key=lambda grid: (grid.ys[0], grid.xs[0]))


def _components(
    across: list[Rule], down: list[Rule], near: float
) -> list[tuple[list[Rule], list[Rule]]]:
    owner = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while owner[index] != index:
            owner[index] = owner[owner[index]]
            index = owner[index]
        return index

    for i, h in enumerate(across):
        for j, v in enumerate(down, len(across)):
            if v.start - near <= h.at <= v.end + near and h.start - near <= v.at <= h.end + near:
                owner[root(i)] = root(j)
    parts: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for index, rule in enumerate([*across, *down]):
        part = parts.setdefault(root(index), ([], []))
        part[0 if index < len(across) else 1].append(rule)
    return list(parts.values())


def _edges(rules: list[Rule], near: float, least: float) -> list[float]:
    """Where lines are, those together as long as a share of the longest way."""
    if not rules:
        return []
    whole = max(rule.end for rule in rules) - min(rule.start for rule in rules)
    edges: list[tuple[float, float]] = []
    for rule in sorted(rules):
        if edges and rule.at - edges[-1][0] <= near:
            edges[-1] = (edges[-1][0], edges[-1][1] + rule.end - rule.start)
        else:
            edges.append((rule.at, rule.end - rule.start))
    return [at for at, length in edges if length >= whole * least]


def _grid(across: list[Rule], down: list[Rule], near: float, least: float) -> Grid | None:
    xs, ys = _edges(down, near, least), _edges(across, near, least)
    if len(xs) <= _COLUMNS_MIN or len(ys) < _COLUMNS_MIN:
        return None
    walls = _walls(down, xs, ys, near)
    floors = _walls(across, ys, xs, near)
    return Grid(xs, ys, _spans(len(ys) - 1, len(xs) - 1, walls, floors))


def _walls(
    rules: list[Rule], edges: list[float], others: list[float], near: float
) -> set[tuple[int, int]]:
    """(edge, interval of the others) where a line covers most of that interval."""
    walls = set()
    for rule in rules:
        edge = min(range(len(edges)), key=lambda index: abs(edges[index] - rule.at))
        if abs(edges[edge] - rule.at) > near:
            continue
        for index in range(len(others) - 1):
            low, high = others[index], others[index + 1]
            if min(rule.end, high) - max(rule.start, low) >= (high - low) * _SPAN_SHARE:
                walls.add((edge, index))
    return walls


def _spans(
    rows: int, columns: int, walls: set[tuple[int, int]], floors: set[tuple[int, int]]
) -> list[Span]:
    """Grow each cell to the right and then down while no line stands in the way."""
    taken: set[tuple[int, int]] = set()
    spans = []
    for row in range(rows):
        for column in range(columns):
            if (row, column) in taken:
                continue
            wide = 1
            while (
                column + wide < columns
                and (column + wide, row) not in walls
                and (row, column + wide) not in taken
            ):
                wide += 1
            tall = 1
            while row + tall < rows and _open_below(row + tall, column, wide, walls, floors, taken):
                tall += 1
            cells = {(row + r, column + c) for r in range(tall) for c in range(wide)}
            taken |= cells
            spans.append(Span(row, column, tall, wide))
    return spans


def _open_below(
    row: int,
    column: int,
    wide: int,
    walls: set[tuple[int, int]],
    floors: set[tuple[int, int]],
    taken: set[tuple[int, int]],
) -> bool:
    inside = range(column, column + wide)
    return all((row, it) not in floors and (row, it) not in taken for it in inside) and all(
        (edge, row) not in walls for edge in range(column + 1, column + wide)
    )
