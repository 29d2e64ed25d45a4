"""The amounts of one row, band by band: the line itself, and a line under it for each further
period, currency or quantity that has columns of its own.
"""

from armka.contract.vocabulary import LineKind
from armka.osv.amounts import Amount, Unreadable
from armka.osv.entries import Entry, Place, Six
from armka.osv.grid import Row
from armka.osv.header import Header, Shape
from armka.osv.labels import Measure
from armka.osv.rows import Parts

_KINDS = {
    Measure.CURRENCY: (LineKind.INDICATOR, "Вал"),
    Measure.QUANTITY: (LineKind.INDICATOR, "Кол"),
    Measure.NATIONAL: (LineKind.CURRENCY, "руб."),
    Measure.PERIOD: (LineKind.PERIOD, ""),
}
_MIRROR = (1, 0, 2, 3, 5, 4)


def entries(
    header: Header, row: Row, parts: Parts, kind: LineKind, name: str, n: int
) -> list[Entry]:
    """The row's entries, its own first; `n` is that one's number."""
    if len(parts.amounts) == 6 and not parts.has_unreadable:
        amounts: Six = parts.amounts  # type: ignore[assignment]  # none of them is unreadable
        own = _entry(row, kind, name, n, amounts, {}, parts.styles)
    else:
        own = _entry(row, kind, name, n, *_split(parts.amounts[:6]), parts.styles[:6])
    if parts.raw:
        own.raw = {which: text for which, text in parts.raw.items() if which < 6} or None
    if parts.parts:
        _take_parts(own, row, parts)
    found = [own]
    if len(header.bands) > 1:
        found += _further(header, row, parts, own)
        if None in header.columns[:6] and header.shape is Shape.PAIRS:
            _of_periods(own, header, row, parts)
    return found


def plain(row: Row, parts: Parts, kind: LineKind, name: str, n: int) -> Entry:
    """The entry of a row whose texts are known: it has six amounts and nothing else to tell."""
    amounts: Six = parts.amounts  # type: ignore[assignment]  # none of them is unreadable
    return Entry(
        n, row.number, kind, None, name, row.level, 0, amounts, parts.styles, {}, parts.texts
    )


def mirror(entry: Entry, columns: list[int | None]) -> None:
    """Let the balances of a one-sided table stand on the credit side, as those of a passive account
    do.
    """
    entry.amounts = [entry.amounts[which] for which in _MIRROR]
    entry.styles = tuple(entry.styles[which] for which in _MIRROR)
    entry.texts = entry.texts and [entry.texts[which] for which in _MIRROR]
    entry.unreadable = {_MIRROR[which]: cell for which, cell in entry.unreadable.items()}
    entry.raw = entry.raw and {_MIRROR[which]: text for which, text in entry.raw.items()}
    places = entry.places or [None if c is None else (entry.row, c) for c in columns]
    entry.places = [places[which] for which in _MIRROR]


def _entry(
    row: Row,
    kind: LineKind,
    name: str,
    n: int,
    amounts: Six,
    unreadable: dict[int, Unreadable],
    styles: tuple[int, ...],
) -> Entry:
    return Entry(n, row.number, kind, None, name, row.level, 0, amounts, styles, unreadable)


def _split(amounts: list[Amount]) -> tuple[Six, dict[int, Unreadable]]:
    six: Six = []
    unreadable = {}
    for which, amount in enumerate(amounts):
        if isinstance(amount, Unreadable):
            unreadable[which] = amount
            six.append(None)
        else:
            six.append(amount)
    return six, unreadable


def _take_parts(entry: Entry, row: Row, parts: Parts) -> None:
    """Turnovers by correspondent account, in sum; None where one of them cannot be read."""
    sums: list[int | None] = [0, 0]
    places: tuple[list[Place], list[Place]] = ([], [])
    for side, column, amount in parts.parts or []:
        places[side].append((row.number, column))
        before = sums[side]
        if isinstance(amount, Unreadable) or before is None:
            sums[side] = None
        else:
            sums[side] = before + (amount or 0)
    entry.parts, entry.part_places = sums, places


def _further(header: Header, row: Row, parts: Parts, own: Entry) -> list[Entry]:
    found: list[Entry] = []
    for index, band in enumerate(header.bands[1:], 1):
        first, last = 6 * index, 6 * index + 6
        amounts, columns = parts.amounts[first:last], header.columns[first:last]
        if all(amount is None for amount in amounts):
            continue
        kind, name = _KINDS[band.measure]
        entry = _entry(
            row,
            kind,
            name or band.label,
            own.n + 1 + len(found),
            *_split(amounts),
            parts.styles[first:last],
        )
        entry.parent, entry.level, entry.off_balance = own.n, 0, own.off_balance
        entry.indicator = name if kind is LineKind.INDICATOR else None
        entry.currency = "RUB" if band.measure is Measure.NATIONAL else None
        entry.places = [None if column is None else (row.number, column) for column in columns]
        entry.whole = None not in columns or (
            header.shape is Shape.ONE_SIDED and None not in [columns[w] for w in (0, 2, 3, 4)]
        )
        if parts.raw:
            entry.raw = {w - first: t for w, t in parts.raw.items() if first <= w < last} or None
        found.append(entry)
    return found


def _of_periods(own: Entry, header: Header, row: Row, parts: Parts) -> None:
    """Where the periods stand side by side, the line is from the first one's opening to the last
    one's closing, with the turnovers of all.
    """
    periods = [i for i, band in enumerate(header.bands) if band.measure is Measure.PERIOD]
    places: list[Place | None] = []
    for which in range(6):
        column = header.columns[which]
        if column is None:
            column = _take_of_periods(own, header, parts, which, periods)
        places.append(None if column is None else (row.number, column))
    own.places = places
    own.whole = all(
        header.columns[which] is not None or _has(header, which, periods) for which in range(6)
    )


def _has(header: Header, which: int, periods: list[int]) -> bool:
    return any(header.columns[6 * index + which] is not None for index in periods)


def _take_of_periods(
    own: Entry, header: Header, parts: Parts, which: int, periods: list[int]
) -> int | None:
    """Take one amount from the periods; its column, None where it is a sum of several."""
    having = [6 * i + which for i in periods if header.columns[6 * i + which] is not None]
    if not having:
        return None
    chosen = having if which in (2, 3) else having[:1] if which < 2 else having[-1:]
    amounts = [parts.amounts[place] for place in chosen]
    bad = next((amount for amount in amounts if isinstance(amount, Unreadable)), None)
    if bad is not None:
        own.unreadable[which] = Unreadable(bad.raw)
    elif any(amount is not None for amount in amounts):
        own.amounts[which] = sum(amount for amount in amounts if isinstance(amount, int))
    own.styles = tuple(
        parts.styles[chosen[0]] if w == which else s for w, s in enumerate(own.styles)
    )
    return header.columns[chosen[0]] if len(chosen) == 1 else None
