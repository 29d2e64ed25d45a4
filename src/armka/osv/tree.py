"""Which line belongs to which: parents and levels.

An account's code says its parent (90.01.1 is under 90.01); the outline only says which group of
accounts it stands in, since an outline made by hand says nothing about accounts.
"""

from armka.contract.vocabulary import LineKind
from armka.osv import accounts
from armka.osv.body import Entry


def plant(entries: list[Entry]) -> None:
    """Set `parent` and `level` of every entry."""
    by_code: dict[str, Entry] = {}
    groups: list[Entry] = []
    for entry in entries:
        while groups and groups[-1].outline >= entry.outline:
            groups.pop()
        parent = _parent(entry, by_code) or (groups[-1] if groups else None)
        if entry.kind is LineKind.TOTAL:
            parent = None
        if parent is not None:
            entry.parent, entry.level = parent.n, min(parent.level + 1, 255)
        if entry.kind is LineKind.GROUP:
            groups.append(entry)
        elif entry.kind is LineKind.ACCOUNT and entry.account:
            by_code[entry.account] = entry


def _parent(entry: Entry, by_code: dict[str, Entry]) -> Entry | None:
    if entry.kind is not LineKind.ACCOUNT or entry.account is None:
        return None
    return next(
        (by_code[code] for code in accounts.ancestors(entry.account) if code in by_code), None
    )


def top_level(entries: list[Entry]) -> list[Entry]:
    """The accounts that stand under no other account, on and off balance."""
    kinds = {entry.n: entry.kind for entry in entries}
    return [
        entry
        for entry in entries
        if entry.kind is LineKind.ACCOUNT
        and (entry.parent is None or kinds[entry.parent] is LineKind.GROUP)
    ]


def children_of(entries: list[Entry]) -> dict[int, list[Entry]]:
    """The accounts right under each line, by that line's `n`."""
    children: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.kind is LineKind.ACCOUNT and entry.parent is not None:
            children.setdefault(entry.parent, []).append(entry)
    return children
