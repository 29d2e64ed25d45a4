"""The rules once more, over lines as they are kept, after somebody has corrected some of them.

Lines do not say all that the reader of a sheet knew. What is missing is put together again here
(`body_of`), and where that says otherwise than the reader did, the reader is believed: `recheck`
compares the rules' word before the correction with their word after it, and changes only what the
correction has changed. So findings that only the reader could make (R11, R12, R13, doubts of a
scan, rules of another service) stay as they are, and of a large document the lines are enough that
a correction concerns (`concerned`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import groupby

import msgspec

from armka.contract.result import Check, Period
from armka.contract.vocabulary import Column, LineKind
from armka.osv import accounts
from armka.osv.amounts import SCALE, Unreadable
from armka.osv.body import LOOK_AT, total_of
from armka.osv.checks.finding import COLUMNS, Findings
from armka.osv.checks.run import is_rest, limited, of_lines
from armka.osv.checks.tolerance import judge_of
from armka.osv.entries import Body, Entry, Total
from armka.osv.header import Shape
from armka.osv.tree import tree_of

_NO_STYLES = (-1,) * 6
_UNREAD = Unreadable("")
_ROW = re.compile(r"([Сс]трок[аеиу]) \d+(?: страницы \d+)?")
MAY_BE_PARTIAL = (LineKind.PERIOD, LineKind.INDICATOR, LineKind.CURRENCY)

_Key = tuple[str, tuple[int, ...], Column | None, str]


class About(msgspec.Struct, frozen=True):
    """What the rules ask of a document beside its lines. `shape`: how its table was found, where
    the source says it; `account`: the one that it is about; `decimals`: how many the amounts of
    the lines have that are not checked.
    """

    unit: int = 1
    account: str | None = None
    period_to: date | None = None
    shape: str | None = None
    scanned: bool = False
    decimals: int = 0


class Checked(msgspec.Struct):
    """What the rules said of the lines in one state of theirs."""

    findings: list[Check]
    amounts: dict[int, list[int | None]]


def entry_of(  # noqa: PLR0913 - a line has so many parts
    *,
    n: int,
    parent: int | None,
    level: int,
    kind: LineKind,
    account: str | None,
    name: str,
    indicator: str | None,
    currency: str | None,
    off_balance: bool,
    values: Sequence[Decimal | None],
    unknown: Sequence[Column],
    row: int | None,
    places: Sequence[object | None] | None,
) -> Entry:
    """A kept line as the rules know it. `places`: where its six values stood, None where there is
    no such cell; None as a whole: under the document's columns.
    """
    entry = Entry(
        n,
        row or n,
        kind,
        account,
        name,
        0,
        0,
        [amount_of(value) for value in values],
        _NO_STYLES,
        {COLUMNS.index(column): _UNREAD for column in unknown},
        indicator=indicator,
        currency=currency,
        off_balance=off_balance,
        parent=parent,
        level=level,
    )
    if kind is LineKind.TOTAL:
        entry.total, entry.block = total_of(name)
    if places is not None:
        entry.whole = _is_whole(kind, places)
    return entry


def amount_of(value: Decimal | None) -> int | None:
    """A kept value as the rules count it: an integer of millionths."""
    return None if value is None else int(value * SCALE)


def _is_whole(kind: LineKind, places: Sequence[object | None]) -> bool:
    """Whether a line has opening, turnovers and closing. What stands in the main columns may be a
    sum, and then has no place of its own.
    """
    od, oc, _, _, cd, cc = [place is not None for place in places]
    if kind in MAY_BE_PARTIAL:
        return None not in places or (od != oc and cd != cc and None not in places[2:4])
    return (od or oc) and (cd or cc)


def body_of(entries: list[Entry], about: About) -> Body:
    """The table that kept lines were read from, as far as the rules ask for it.

    Lines must come in their order; they are numbered anew from 1, as the rules count them.
    """
    number = {entry.n: index for index, entry in enumerate(entries, 1)}
    if any(n != index for n, index in number.items()):
        for entry in entries:
            entry.n = number[entry.n]
            entry.parent = None if entry.parent is None else number.get(entry.parent)
    _mark_blocks(entries)
    codes = (e.account for e in entries[:LOOK_AT] if e.account and e.kind is LineKind.ACCOUNT)
    return Body(
        entries,
        [],
        0,
        0,
        accounts.plan_of(codes),
        () if about.account is None else (about.account,),
        plain_columns=[None] * 6,
        one_sided=about.shape == Shape.ONE_SIDED.value,
    )


def _mark_blocks(entries: list[Entry]) -> None:
    """What stands above «Итого по активу», down from the total before it, is of that block."""
    start = 0
    for index, entry in enumerate(entries):
        if entry.total is None:
            continue
        if entry.total is Total.BLOCK:
            for own in entries[start:index]:
                own.block = entry.block
        start = index + 1


def check(entries: list[Entry], about: About) -> Checked:
    """What the rules say of these lines; findings name lines by the numbers they came with."""
    numbers = [entry.n for entry in entries]
    body = body_of(entries, about)
    findings = Findings(body, addressed=False)
    judge = judge_of(about.unit, body.entries, about.decimals)
    tree = tree_of(body.entries)
    period = Period(to=about.period_to, text="") if about.period_to else None
    found = [one for rule in of_lines(body, tree, findings, judge, period) for one in rule]
    if any(n != index for index, n in enumerate(numbers, 1)):
        found = [
            msgspec.structs.replace(one, lines=[numbers[n - 1] for n in one.lines]) for one in found
        ]
    if about.scanned:
        found = [
            msgspec.structs.replace(one, message=_ROW.sub(r"\1", one.message)) for one in found
        ]
    return Checked(found, {n: entry.amounts for n, entry in zip(numbers, entries, strict=True)})


def recheck(kept: Sequence[Check], before: Checked, after: Checked) -> list[Check]:
    """The failures that hold after a correction, given those that were kept before it.

    Where those were too many to be kept one by one, both states must be of the whole document.
    """
    cut = {one.rule for one in kept if is_rest(one)}
    known = {_key(one) for one in before.findings if one.rule not in cut}
    stored = {_key(one): one for one in kept}
    now = [one for one in after.findings if _key(one) in stored or _key(one) not in known]
    stays = [
        settled
        for one in kept
        if not is_rest(one) and _key(one) not in known and one.rule not in cut
        if (settled := _settled(one, after)) is not None
    ]
    found = [_as_kept(one, stored.get(_key(one))) for one in now]
    found += [one for one in stays if one not in found]
    found.sort(key=_number)
    return [one for _, rule in groupby(found, key=_number) for one in limited(rule)]


def _number(one: Check) -> int:
    return int(one.rule[1:])


def _key(one: Check) -> _Key:
    """What makes a finding the same one in two states of the lines, whatever its amounts."""
    said = "" if one.expected is not None else _ROW.sub("", one.message)
    return one.rule, tuple(one.lines), one.column, said


def _as_kept(one: Check, kept: Check | None) -> Check:
    """The finding as it was told first, while it says the same."""
    if kept is None:
        return one
    said = (one.severity, one.expected, one.actual)
    return kept if said == (kept.severity, kept.expected, kept.actual) else one


def _settled(one: Check, after: Checked) -> Check | None:
    """A finding that only the reader could make. Of turnovers by correspondent account (R3 about
    one line) it is known what their sum is, so it is seen when the turnover has become that.
    """
    if (one.rule, len(one.lines)) != ("R3", 1) or one.column is None or one.expected is None:
        return one
    amounts = after.amounts.get(one.lines[0])
    which = COLUMNS.index(one.column)
    if amounts is None or amounts[which] is None:
        return one
    expected = amount_of(Decimal(one.expected))
    return None if amounts[which] == expected else one


def concerned(
    lines: Sequence[tuple[int, int | None, str]], corrected: Collection[int]
) -> Collection[int]:
    """The lines that a correction of some may concern, as the rules go: of (n, parent, kind).

    Those lines themselves, what stands above, beside and under them, what totals are made of, the
    measures of all these, and the first lines, which tell the chart of accounts. All of them where
    currencies are, since whether those add up is told by most of the document.
    """
    kinds = {kind for _, _, kind in lines}
    if LineKind.CURRENCY in kinds:
        return {n for n, _, _ in lines}
    parent_of = {n: parent for n, parent, _ in lines}
    groups = {n for n, _, kind in lines if kind == LineKind.GROUP}
    heads: set[int] = set()
    taken = {n for n, _, _ in lines[:LOOK_AT]}
    for n in corrected:
        above = list(_upward(n, parent_of))
        heads.update(above[:3])
        taken.update(above)
    for n, parent, kind in lines:
        is_top = kind == LineKind.TOTAL or parent is None or parent in groups
        if is_top or parent in heads:
            taken.add(n)
    if LineKind.INDICATOR in kinds:
        taken |= {n for n, parent, kind in lines if kind == LineKind.INDICATOR and parent in taken}
    return taken


def _upward(n: int, parent_of: Mapping[int, int | None]) -> Iterator[int]:
    """A line and the lines that it stands under, the nearest first."""
    line: int | None = n
    while line is not None:
        yield line
        line = parent_of.get(line)
