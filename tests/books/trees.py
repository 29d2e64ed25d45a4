"""Lines under lines that add up, made up, with every number known: what reports about accounts,
subconto, periods and currencies are printed from.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

Six = tuple[int, int, int, int, int, int]
EMPTY: Six = (0, 0, 0, 0, 0, 0)


@dataclass
class Node:
    """A line of the truth; values in hundredths of the unit, 0 where the cell is empty. `measures`:
    the same line's НУ, Кол, Вал …, `parts`: its turnovers by correspondent account.
    """

    kind: str
    name: str
    values: Six = EMPTY
    account: str | None = None
    currency: str | None = None
    children: list["Node"] = field(default_factory=list)
    measures: dict[str, Six] = field(default_factory=dict)
    parts: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))

    def walk(self) -> Iterator["Node"]:
        """Itself and all that stands under it, from the top down."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Line:
    """A line as it should be read."""

    kind: str
    account: str | None
    name: str
    indicator: str | None
    currency: str | None
    level: int
    values: Six


def lines(nodes: list[Node], main: str | None, level: int = 0) -> Iterator[Line]:
    """The truth of some nodes, line by line. `main`: the indicator of the lines themselves."""
    for node in nodes:
        yield Line(node.kind, node.account, node.name, main, node.currency, level, node.values)
        for name, values in node.measures.items():
            if any(values):
                yield Line("indicator", node.account, name, name, node.currency, level + 1, values)
        yield from lines(node.children, main, level + 1)


def net(values: Six) -> Six:
    """Balances on one side."""
    od, oc, td, tc, cd, cc = values
    return max(od - oc, 0), max(oc - od, 0), td, tc, max(cd - cc, 0), max(cc - cd, 0)


def added(several: list[Six], *, expanded: bool = False) -> Six:
    """The sum of some lines, its balances on one side unless it is to show both."""
    od, oc, td, tc, cd, cc = (sum(column) for column in zip(*several, strict=True))
    whole = (od, oc, td, tc, cd, cc)
    return whole if expanded else net(whole)


def movements(random: Random, *, active: bool = False, largest: int = 10**10) -> Six:
    """A line that nothing stands under."""

    def amount() -> int:
        return random.randrange(1, 10 ** random.randint(3, len(str(largest)) - 1))

    opening = amount() if random.random() < 0.7 else 0
    debit = amount() if random.random() < 0.8 else 0
    credit = amount() if random.random() < 0.8 or not (opening or debit) else 0
    if active:
        debit = debit or (0 if opening else amount())
        credit = min(credit, opening + debit)
        return net((opening, 0, debit, credit, opening + debit - credit, 0))
    opening = opening if random.random() < 0.5 else -opening
    closing = opening + debit - credit
    return net((opening, 0, debit, credit, closing, 0))


Make = Callable[[str], Node]


def branch(random: Random, node: Node, make: Make, names: list[str], largest: int = 4) -> Node:
    """Let some of the names stand under a node, which becomes their sum."""
    chosen = random.sample(names, random.randint(1, min(largest, len(names))))
    node.children = [make(name) for name in chosen]
    node.values = added([child.values for child in node.children])
    for measure in node.children[0].measures:
        node.measures[measure] = added([child.measures[measure] for child in node.children])
    return node


def months(random: Random, node: Node, names: list[str]) -> Node:
    """Let periods stand under a leaf: each begins as the one before ended."""
    od, oc, td, tc, cd, cc = node.values
    cuts = [_shares(random, total, len(names)) for total in (td, tc)]
    balance = od - oc
    for name, debit, credit in zip(names, *cuts, strict=True):
        before, balance = balance, balance + debit - credit
        node.children.append(Node("period", name, net((before, 0, debit, credit, balance, 0))))
    assert balance == cd - cc
    return node


def _shares(random: Random, whole: int, count: int) -> list[int]:
    cuts = sorted(random.randint(0, whole) for _ in range(count - 1))
    return [right - left for left, right in zip([0, *cuts], [*cuts, whole], strict=True)]


def correspondents(random: Random, node: Node, codes: list[str]) -> None:
    """Split the turnovers of a line, and of all under it, by correspondent account."""
    if node.children:
        for child in node.children:
            correspondents(random, child, codes)
        for side in (0, 1):
            for child in node.children:
                for code, amount in child.parts[side].items():
                    node.parts[side][code] = node.parts[side].get(code, 0) + amount
        return
    for side, whole in enumerate(node.values[2:4]):
        chosen = sorted(random.sample(codes, 3))
        shares = _shares(random, whole, 3)
        node.parts[side].update({c: s for c, s in zip(chosen, shares, strict=True) if s})
