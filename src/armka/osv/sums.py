"""What the amounts say of the hierarchy: a line is what stands under it, added up."""

from collections.abc import Callable, Iterable

from armka.contract.vocabulary import LineKind
from armka.osv import accounts
from armka.osv.chart import Plan
from armka.osv.entries import Body, Entry

_LONGEST_WALK = 20_000  # how many lines are looked at for the end of one
Vector = tuple[int, int, int, int]  # turnover debit and credit, net opening and closing


def vector(entry: Entry) -> Vector:
    """What of a line must be the sum of the lines under it."""
    od, oc, td, tc, cd, cc = [amount or 0 for amount in entry.amounts]
    return td, tc, od - oc, cd - cc


def total(entries: Iterable[Entry]) -> Vector:
    """The vectors of some lines, added up."""
    debit = credit = opening = closing = 0
    for entry in entries:
        td, tc, net_opening, net_closing = vector(entry)
        debit += td
        credit += tc
        opening += net_opening
        closing += net_closing
    return debit, credit, opening, closing


def agree(parent: Entry, children: list[Entry]) -> bool:
    """Whether the children add up to their parent, each kind of them by itself."""
    if parent.unreadable or any(child.unreadable for child in children):
        return True
    periods = [child for child in children if child.kind is LineKind.PERIOD]
    others = [child for child in children if child.kind is not LineKind.PERIOD]
    if others and total(others) != vector(parent):
        return False
    return not periods or of_periods(periods) == vector(parent)


def of_periods(periods: list[Entry]) -> Vector:
    """Periods one after the other: all turnovers, the first opening, the last closing."""
    td, tc, _, _ = total(periods)
    return td, tc, vector(periods[0])[2], vector(periods[-1])[3]


def mismatches(entries: list[Entry]) -> int:
    """How many lines are not the sum of what stands under them, and how many stand under nothing
    though there are accounts.
    """
    children: dict[int, list[Entry]] = {}
    loose = 0
    has_accounts = any(entry.kind is LineKind.ACCOUNT for entry in entries)
    for entry in entries:
        if entry.kind is LineKind.INDICATOR or entry.total is not None or entry.italic:
            continue
        if entry.parent is not None:
            children.setdefault(entry.parent, []).append(entry)
        elif has_accounts and entry.kind in (LineKind.DIMENSION, LineKind.PERIOD):
            loose += 1
    by_number = {entry.n: entry for entry in entries}
    wrong = sum(
        not agree(by_number[number], own)
        for number, own in children.items()
        if any(amount is not None for amount in by_number[number].amounts)
    )
    return wrong + (loose if not _are_tops(entries) else 0)


def _are_tops(entries: list[Entry]) -> bool:
    """Whether what stands under nothing makes up the total."""
    tops = [
        entry
        for entry in entries
        if entry.parent is None
        and entry.total is None
        and not entry.off_balance
        and entry.kind is not LineKind.INDICATOR
        and entry.kind is not LineKind.GROUP
    ]
    totals = [entry for entry in entries if entry.total is not None]
    return bool(totals) and vector(totals[0]) == total(tops)


def depths(body: Body) -> list[int]:
    """Depths by amounts alone, account by account: first as many levels as the header names, then
    one, then any.
    """
    entries = body.entries
    found = [0] * len(entries)
    if not any(entry.kind is LineKind.ACCOUNT for entry in entries):
        owner = next((i for i, entry in enumerate(entries) if entry.total is not None), None)
        if owner is not None:
            _under(body, owner, range(owner), found)
        return found
    index = 0
    while index < len(entries):
        end = index + 1
        if entries[index].kind is LineKind.ACCOUNT:
            while end < len(entries) and _is_nested(body, entries[end]):
                end += 1
            _under(body, index, range(index + 1, end), found)
        index = end
    return found


def _is_nested(body: Body, entry: Entry) -> bool:
    if body.plan is Plan.BUDGET and len(entry.name) == 1:  # КФО: the chart begins anew
        return entry.kind is not LineKind.DIMENSION
    return entry.kind not in (LineKind.ACCOUNT, LineKind.TOTAL, LineKind.GROUP)


def _under(body: Body, owner: int, below: range, found: list[int]) -> None:
    """Depths of the lines under one account; its own is made of its code, so that its subaccounts
    stand deeper.
    """
    entries = body.entries
    account = entries[owner].account or ""
    base = len(accounts.ancestors(account, body.plan)) if account else 0
    found[owner] = base
    apart = (LineKind.INDICATOR, LineKind.PERIOD)
    lines = [i for i in below if entries[i].kind not in apart]
    levels = body.levels - any(entries[i].kind is LineKind.PERIOD for i in below)
    for way in (_uniform(levels), _uniform(1), _any_depth):
        own = way(entries, owner, lines)
        if own is not None:
            break
    else:
        own = [1] * len(lines)
    for line, depth in zip(lines, own, strict=True):
        found[line] = base + depth
    above = base
    for line in below:  # periods stand right under the line that they are of
        if entries[line].kind is LineKind.PERIOD:
            found[line] = above + 1
        elif entries[line].kind is not LineKind.INDICATOR:
            above = found[line]


_Way = Callable[[list[Entry], int, list[int]], list[int] | None]


def _uniform(levels: int) -> _Way:
    """Every line at the last of so many levels, but for those that are sums of it."""

    def way(entries: list[Entry], owner: int, lines: list[int]) -> list[int] | None:
        if levels < 1:
            return None
        depths = [0] * len(lines)

        def fill(place: int, target: Vector, depth: int) -> int | None:
            """From here on lines of this depth until they make up the target; where they end."""
            rest = target
            while True:
                if place >= len(lines):
                    return None
                own = vector(entries[lines[place]])
                depths[place] = depth
                following: int | None = place + 1
                if depth < levels:
                    following = fill(place + 1, own, depth + 1)
                if following is None:
                    return None
                rest = (rest[0] - own[0], rest[1] - own[1], rest[2] - own[2], rest[3] - own[3])
                place = following
                if rest == (0, 0, 0, 0):
                    return place

        return depths if fill(0, vector(entries[owner]), 1) == len(lines) else None

    return way


def _any_depth(entries: list[Entry], owner: int, lines: list[int]) -> list[int] | None:
    """Each line is over as many of the following ones as add up to it."""
    vectors = [vector(entries[line]) for line in lines]
    ends = _ends(vectors)
    rest = vector(entries[owner])
    place = 0
    while place < len(lines):
        own = vectors[place]
        rest = (rest[0] - own[0], rest[1] - own[1], rest[2] - own[2], rest[3] - own[3])
        place = ends[place]
    if rest != (0, 0, 0, 0):
        return None
    depths = [1] * len(lines)
    for index, end in enumerate(ends):
        for line in range(index + 1, end):
            depths[line] += 1
    return depths


def _ends(vectors: list[Vector]) -> list[int]:
    """For each line, where the lines under it end."""
    ends = [index + 1 for index in range(len(vectors))]
    for index in range(len(vectors) - 1, -1, -1):
        td, tc, opening, closing = vectors[index]
        place, steps = index + 1, 0
        while place < len(vectors) and steps < _LONGEST_WALK:
            own = vectors[place]
            td, tc, opening, closing = (
                td - own[0],
                tc - own[1],
                opening - own[2],
                closing - own[3],
            )
            place, steps = ends[place], steps + 1
            if td < 0 or tc < 0:
                break
            if td == tc == opening == closing == 0:
                ends[index] = place
                break
    return ends
