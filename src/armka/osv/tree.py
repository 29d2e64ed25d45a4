"""Which line belongs to which: parents and levels.

An account's code says its parent (90.01.1 is under 90.01). Of a subconto, period or currency the
outline says it, or how far its label is moved in; where the file lost both, the amounts do: what
stands under a line adds up to it. Of these ways the first is taken by which the sums come out, else
the one by which most of them do.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter

import msgspec

from armka.contract.vocabulary import LineKind
from armka.osv import accounts, sums
from armka.osv.entries import Body, Entry

_NESTED = (LineKind.DIMENSION, LineKind.PERIOD, LineKind.CURRENCY)
Depths = Sequence[int]


def plant(body: Body) -> None:
    """Set `parent` and `level` of every entry, and what it takes from its parent."""
    entries = body.entries
    if any(
        entry.kind is not LineKind.ACCOUNT and entry.kind in _NESTED and entry.parent is None
        for entry in entries
    ):
        _choose(body)
    else:
        _connect(body, [entry.outline for entry in entries])
    _settle_italics(entries)
    _inherit(entries)


def _choose(body: Body) -> None:
    """Try the ways to tell the hierarchy, the surest first; stay with the first that adds up."""
    entries = body.entries
    told = [[e.outline for e in entries], [e.indent for e in entries]]
    ways: list[Callable[[], Depths]] = [
        partial(_as_told, way) for way in told if _says(entries, way)
    ]
    ways += [partial(sums.depths, body), partial(_flat, entries)]
    given = [entry.parent for entry in entries]
    best: tuple[int, Depths] | None = None
    for way in ways:
        depths = way()
        _connect(body, depths, given)
        wrong = sums.mismatches(entries)
        if best is None or wrong < best[0]:
            best = wrong, depths
        if not wrong:
            return
    if best is not None:
        _connect(body, best[1], given)


def _says(entries: list[Entry], depths: Depths) -> bool:
    """Whether the lines stand at different depths at all."""
    return len({d for e, d in zip(entries, depths, strict=True) if e.total is None}) > 1


def _as_told(depths: Depths) -> Depths:
    return depths


def _flat(entries: list[Entry]) -> Depths:
    return [0 if entry.kind is LineKind.ACCOUNT else 1 for entry in entries]


def _connect(body: Body, depths: Depths, given: list[int | None] | None = None) -> None:
    """Set parents by these depths, by codes, and as they were given."""
    by_code: dict[str, Entry] = {}
    open_lines: list[tuple[int, Entry]] = []
    owns = [entry.parent for entry in body.entries] if given is None else given
    for entry, own, depth in zip(body.entries, owns, depths, strict=True):
        if own is not None:
            entry.parent = own
        elif entry.total is not None:
            entry.parent = None
            continue
        else:
            parent = _of_account if entry.kind is LineKind.ACCOUNT else _parent
            entry.parent = parent(body, entry, depth, open_lines, by_code)
            while open_lines and open_lines[-1][0] >= depth:
                open_lines.pop()
            open_lines.append((depth, entry))
        if entry.kind is LineKind.ACCOUNT and entry.account:
            by_code[entry.account] = entry
        elif entry.kind is LineKind.DIMENSION and own is entry.parent is None and not depth:
            by_code.clear()  # a КФО or КПС begins the chart anew


def _parent(
    body: Body,
    entry: Entry,
    depth: int,
    open_lines: list[tuple[int, Entry]],
    by_code: dict[str, Entry],
) -> int | None:
    if entry.account is not None and entry.account in by_code:
        return by_code[entry.account].n
    above = next((line for own, line in reversed(open_lines) if own < depth), None)
    if above is None and body.roots and entry.kind in _NESTED:
        return _root(body, by_code)
    return above.n if above else None


def _of_account(
    body: Body,
    entry: Entry,
    depth: int,
    open_lines: list[tuple[int, Entry]],
    by_code: dict[str, Entry],
) -> int | None:
    """The account above by its code, else the КФО, section or the like that it stands under."""
    code = entry.account or ""
    if "." in code:
        for other in accounts.ancestors(code, body.plan):
            above = by_code.get(other)
            if above is not None and above.key == entry.key:
                return above.n
    if not depth:
        return None
    groups = (line for own, line in reversed(open_lines) if own < depth)
    return next((group.n for group in groups if group.kind is not LineKind.ACCOUNT), None)


def _root(body: Body, by_code: dict[str, Entry]) -> int | None:
    """The account that a report is about stands over everything that is not told otherwise."""
    last = max(by_code.values(), key=lambda entry: entry.n, default=None)
    return last.n if last is not None and len(body.roots) == 1 else None


def _settle_italics(entries: list[Entry]) -> None:
    """An italic line is a further grouping that repeats what stands beside it, unless the sums need
    it.
    """
    if not any(entry.italic for entry in entries):
        return
    beside: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.total is None and entry.kind in (LineKind.ACCOUNT, *_NESTED):
            beside.setdefault(entry.parent or 0, []).append(entry)
    totals = [entry for entry in entries if entry.total is not None]
    for parent, children in beside.items():
        italics = [entry for entry in children if entry.italic]
        if italics and len(italics) < len(children):
            _settle(entries[parent - 1] if parent else next(iter(totals), None), children)


def _settle(parent: Entry | None, children: list[Entry]) -> None:
    rest = [entry for entry in children if not entry.italic]
    if parent is not None and sums.agree(parent, children) and not sums.agree(parent, rest):
        return
    if parent is None or sums.agree(parent, rest) or rest[0].kind is LineKind.ACCOUNT:
        for entry in children:
            if entry.italic:
                entry.kind = LineKind.GROUP


def _inherit(entries: list[Entry]) -> None:
    """Levels, and what a line under an account takes from it."""
    for entry in entries:
        if entry.parent is None:
            continue
        parent = entries[entry.parent - 1]
        entry.level = min(parent.level + 1, 255)
        entry.off_balance = entry.off_balance or parent.off_balance
        if entry.kind is LineKind.INDICATOR:
            entry.account = entry.account or parent.account
            entry.currency = entry.currency or parent.currency
        elif entry.indicator is None:
            entry.indicator = parent.indicator


class Tree(msgspec.Struct):
    """Who stands where, once for all rules. `tops`: the lines that a total is made of: accounts
    under no other account; where accounts stand under КФО and the like, or there are none, those.
    `children`: the lines right under each line, by that line's `n`, without repeated groupings.
    `by_head`: the accounts by their synthetic account.
    """

    tops: list[Entry]
    totals: list[Entry]
    children: dict[int, list[Entry]]
    by_head: dict[str, list[Entry]]


def tree_of(entries: list[Entry]) -> Tree:
    """Look at entries that have their parents."""
    tree = Tree([], [], {}, {})
    tops, children, by_head = tree.tops, tree.children, tree.by_head
    for entry in entries:
        kind = entry.kind
        if kind is LineKind.ACCOUNT and entry.account is not None:
            by_head.setdefault(entry.account.partition(".")[0], []).append(entry)
        if entry.total is not None:
            tree.totals.append(entry)
        elif kind is LineKind.ACCOUNT or kind in _NESTED:
            above = entry.parent
            if above is None or entries[above - 1].kind is LineKind.GROUP:
                tops.append(entry)
        if entry.parent is not None and (kind is LineKind.ACCOUNT or kind in _NESTED):
            children.setdefault(entry.parent, []).append(entry)
    return tree


def in_order(groups: Iterable[list[Entry]]) -> list[Entry]:
    """The entries of some groups as they stand in the table."""
    return sorted((entry for group in groups for entry in group), key=attrgetter("n"))
