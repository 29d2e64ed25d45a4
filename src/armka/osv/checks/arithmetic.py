"""R1, R3, R4, R5: rows, trees, totals and double entry add up."""

from collections.abc import Callable, Iterator

from armka.contract.result import Check
from armka.contract.vocabulary import LineKind, Severity
from armka.osv import sums
from armka.osv.checks.finding import NAMES, Findings, called, money
from armka.osv.checks.tolerance import Judge
from armka.osv.entries import Body, Entry, Total
from armka.osv.tree import Tree

PAIRS = ((0, 1, "сальдо на начало"), (2, 3, "обороты"), (4, 5, "сальдо на конец"))
_SUMMED = (None, "БУ", "НУ", "ПР", "ВР", "Контроль")  # what adds up over subconto and accounts


def row_equations(body: Body, findings: Findings, judge: Judge) -> Iterator[Check]:
    """R1: opening balance and turnovers give the closing balance, net."""
    for entry in body.entries:
        if entry.unreadable or not entry.whole:
            continue
        od, oc, td, tc, cd, cc = [amount or 0 for amount in entry.amounts]
        expected, actual = od - oc + td - tc, cd - cc
        if expected == actual:
            continue
        severity = judge(expected - actual, 6 - entry.amounts.count(None))
        if severity is not None:
            text = (
                f"{called(entry)}: сальдо на начало и обороты дают на конец {money(expected)}, "
                f"а стоит {money(actual)} (дебет минус кредит), "
                f"разница {money(actual - expected)}"
            )
            closing = (4, 5) if cd or not cc else (5, 4)
            yield findings.make(
                "R1",
                severity,
                [entry],
                text,
                which=(*closing, 0, 1, 2, 3),
                difference=(expected, actual),
            )


def derived(entry: Entry) -> tuple[int, int] | None:
    """The one amount of a row that cannot be read, as R1 gives it: (which of the six, amount);
    None: R1 does not.
    """
    if len(entry.unreadable) != 1 or not entry.whole:
        return None
    (which,) = entry.unreadable
    signs = (1, -1, 1, -1, -1, 1)  # od - oc + td - tc - cd + cc = 0
    rest = sum(sign * (amount or 0) for sign, amount in zip(signs, entry.amounts, strict=True))
    amount = -signs[which] * rest
    return (which, amount) if amount > 0 else None


_Of = Callable[[Entry], int]
_SUMS: tuple[tuple[int, _Of, str], ...] = (
    (2, lambda entry: entry.amounts[2] or 0, "обороты по дебету"),
    (3, lambda entry: entry.amounts[3] or 0, "обороты по кредиту"),
    (
        0,
        lambda entry: (entry.amounts[0] or 0) - (entry.amounts[1] or 0),
        "сальдо на начало (дебет минус кредит)",
    ),
    (
        4,
        lambda entry: (entry.amounts[4] or 0) - (entry.amounts[5] or 0),
        "сальдо на конец (дебет минус кредит)",
    ),
)


def trees(body: Body, tree: Tree, findings: Findings, judge: Judge) -> Iterator[Check]:
    """R3: what stands under a line adds up to it; turnovers by side, balances net, since 1С shows
    them either way. So do the turnovers by correspondent account.
    """
    entries = body.entries
    in_roubles = _currencies_add_up(entries, tree)
    for number, children in tree.children.items():
        parent = entries[number - 1]
        if parent.amounts.count(None) == 6 and parent.kind is not LineKind.ACCOUNT:
            continue
        for alike in _alike(children):
            if alike[0].kind is not LineKind.CURRENCY or in_roubles:
                yield from _sums(parent, alike, findings, judge)
    yield from _indicators(entries, tree, findings, judge)
    yield from _correspondents(entries, findings, judge)


def _alike(children: list[Entry]) -> list[list[Entry]]:
    """Periods, currencies and the others: each of them makes up the line above by itself. What has
    no name beside currencies is a currency too, left blank.
    """
    currencies = [child for child in children if child.kind is LineKind.CURRENCY]
    periods = [child for child in children if child.kind is LineKind.PERIOD]
    if not currencies and not periods:
        return [children]
    rest = [c for c in children if c.kind not in (LineKind.CURRENCY, LineKind.PERIOD)]
    if currencies:
        currencies += [child for child in rest if not child.name and not child.account]
        rest = [child for child in rest if child.name or child.account]
    return [alike for alike in (rest, currencies, periods) if alike]


def _currencies_add_up(entries: list[Entry], tree: Tree) -> bool:
    """Whether lines by currency are in roubles, so that they must add up: most of them do."""
    right = wrong = 0
    for number, children in tree.children.items():
        own = [child for child in children if child.kind is LineKind.CURRENCY]
        if own:
            fits = sum(c.amounts[2] or 0 for c in own) == (entries[number - 1].amounts[2] or 0)
            right, wrong = right + fits, wrong + (not fits)
    return right >= wrong


def _indicators(
    entries: list[Entry], tree: Tree, findings: Findings, judge: Judge
) -> Iterator[Check]:
    """The same for НУ, ПР and ВР: those of the lines below add up to that of the line."""
    own: dict[tuple[int, str], Entry] = {}
    for entry in entries:
        if entry.kind is LineKind.INDICATOR and entry.parent and entry.indicator in _SUMMED:
            own[entry.parent, entry.indicator or ""] = entry
    if not own:
        return
    for number, children in tree.children.items():
        for indicator in ("НУ", "ПР", "ВР"):
            parent = own.get((number, indicator))
            parts = [own[child.n, indicator] for child in children if (child.n, indicator) in own]
            if parent is not None and parts and children[0].kind is not LineKind.PERIOD:
                yield from _sums(parent, parts, findings, judge)


def _sums(
    parent: Entry, children: list[Entry], findings: Findings, judge: Judge
) -> Iterator[Check]:
    if parent.indicator not in _SUMMED:
        return
    if children[0].kind is not LineKind.PERIOD and sums.total(children) == sums.vector(parent):
        return  # as it mostly is
    for column, of, what in _SUMS:
        addends = _addends(children, column)
        if not addends or any(_unreadable(entry, column) for entry in (parent, *addends)):
            continue
        expected, actual = sum(map(of, addends)), of(parent)
        if expected == actual:
            continue
        severity = judge(expected - actual, len(addends) + 1)
        if severity is None:
            continue
        if parent.kind is LineKind.GROUP:
            severity = Severity.WARNING
        text = (
            f"{called(parent)}: {what}: строки под ним в сумме дают {money(expected)}, "
            f"а в самой строке {money(actual)}, разница {money(actual - expected)}"
        )
        which = (column,) if column in (2, 3) else (column, column + 1)
        yield findings.make(
            "R3", severity, [parent, *addends], text, which=which, difference=(expected, actual)
        )


def _addends(children: list[Entry], column: int) -> list[Entry]:
    """All of them; of periods one after the other only the first has the opening balance, and only
    the last the closing one.
    """
    if children[0].kind is not LineKind.PERIOD or column in (2, 3):
        return children
    one = children[0] if column == 0 else children[-1]
    return [one] if one.whole else []


def _correspondents(entries: list[Entry], findings: Findings, judge: Judge) -> Iterator[Check]:
    for entry in entries:
        if entry.parts is None:
            continue
        for side, expected in enumerate(entry.parts):
            which = 2 + side
            if expected is None or which in entry.unreadable:
                continue
            actual = entry.amounts[which] or 0
            places = entry.part_places[side] if entry.part_places else []
            severity = judge(expected - actual, len(places) + 1) if expected != actual else None
            if severity is not None:
                text = (
                    f"{called(entry)}: {NAMES[which]}: обороты по корреспондирующим счетам "
                    f"в сумме дают {money(expected)}, а стоит {money(actual)}, "
                    f"разница {money(actual - expected)}"
                )
                own = findings.place(entry, which)
                yield findings.make(
                    "R3",
                    severity,
                    [entry],
                    text,
                    which=(which,),
                    difference=(expected, actual),
                    places=[*([own] if own else []), *places],
                )


def totals(body: Body, tree: Tree, findings: Findings, judge: Judge) -> Iterator[Check]:
    """R4: «Итого» is the sum of the top-level on-balance lines, column by column; a total of the
    off-balance ones is theirs. With expanded balances (развернутое) it is no sum of what is shown.
    """
    on_balance = [entry for entry in tree.tops if not entry.off_balance]
    off_balance = [entry for entry in tree.tops if entry.off_balance]
    needed = not body.roots or any(top.kind is not LineKind.ACCOUNT for top in tree.tops)
    if needed and not any(e.total in (Total.PLAIN, Total.BLOCK) for e in tree.totals):
        text = "В таблице нет строки «Итого»: полноту строк по ней проверить нельзя"
        # Accounts balance by themselves (R5), or are sums of what stands under them (R3).
        has_accounts = any(entry.kind is LineKind.ACCOUNT for entry in body.entries)
        severity = Severity.WARNING if has_accounts else Severity.ERROR
        yield findings.make("R4", severity, [], text)
    for entry in tree.totals:
        if entry.total is Total.PLAIN:
            yield from _total(entry, on_balance, "строки верхнего уровня", findings, judge)
            yield from _total_of_indicators(body.entries, entry, on_balance, findings, judge)
        elif entry.total is Total.OFF_BALANCE:
            yield from _total(entry, off_balance, "забалансовые счета", findings, judge)
        elif entry.total is Total.BLOCK:
            own = [top for top in on_balance if top.block == entry.block]
            yield from _total(entry, own, f"счета по {entry.block}у", findings, judge)


def _total_of_indicators(
    entries: list[Entry], total: Entry, tops: list[Entry], findings: Findings, judge: Judge
) -> Iterator[Check]:
    """The rows under «Итого» (НУ, ПР, a month) are of such rows under the lines."""
    numbers: set[int] = set()
    for entry in entries[total.n :]:
        if entry.parent != total.n:
            break
        numbers = numbers or {top.n for top in tops}
        if entry.indicator in _SUMMED:
            parts = [
                other
                for other in entries
                if other.parent in numbers and (other.kind, other.name) == (entry.kind, entry.name)
            ]
            yield from _total(entry, parts, "строки верхнего уровня", findings, judge)


def _total(
    total: Entry, addends: list[Entry], kind: str, findings: Findings, judge: Judge
) -> Iterator[Check]:
    unreadable = {c for entry in (total, *addends) if entry.unreadable for c in entry.unreadable}
    for column in range(6):
        if column in unreadable or (not total.whole and total.amounts[column] is None):
            continue
        expected = sum([entry.amounts[column] or 0 for entry in addends])
        actual = total.amounts[column] or 0
        severity = judge(expected - actual, len(addends) + 1) if expected != actual else None
        if severity is not None and not _netted(total, addends, column):
            text = (
                f"{called(total)}: {NAMES[column]}: {kind} в сумме дают "
                f"{money(expected)}, а в строке {money(actual)}, "
                f"разница {money(actual - expected)}"
            )
            yield findings.make(
                "R4", severity, [total], text, which=(column,), difference=(expected, actual)
            )


def _netted(total: Entry, addends: list[Entry], column: int) -> bool:
    """Whether a report about one account shows its total netted, and that is right."""
    if column in (2, 3) or len({entry.account for entry in addends}) > 1:
        return False
    debit = column - column % 2
    if total.amounts[debit] and total.amounts[debit + 1]:
        return False
    net = sum((e.amounts[debit] or 0) - (e.amounts[debit + 1] or 0) for e in addends)
    return net == (total.amounts[debit] or 0) - (total.amounts[debit + 1] or 0)


def double_entry(body: Body, tree: Tree, findings: Findings, judge: Judge) -> Iterator[Check]:
    """R5: debits equal credits over a whole balance; by each total, and by the accounts where there
    is none. A report about one account, or in two blocks, is no whole balance.
    """
    tops = [entry for entry in tree.tops if not entry.off_balance]
    if not _is_whole_balance(body, tops):
        return
    whole = [e for e in tree.totals if e.total in (Total.PLAIN, Total.EXPANDED)]
    whole = [entry for entry in whole if entry.is_money]
    for debit, credit, what in PAIRS:
        for addends, source in [(2, [total]) for total in whole] or [(2 * len(tops), tops)]:
            if any(side in entry.unreadable for entry in source for side in (debit, credit)):
                continue
            expected = sum(entry.amounts[debit] or 0 for entry in source)
            actual = sum(entry.amounts[credit] or 0 for entry in source)
            severity = judge(expected - actual, addends) if expected != actual else None
            if severity is not None:
                where = called(source[0]) if whole else "Все счета вместе"
                text = (
                    f"{where}: {what}: дебет {money(expected)} не равен кредиту {money(actual)}, "
                    f"разница {money(actual - expected)}"
                )
                yield findings.make(
                    "R5",
                    severity,
                    source if whole else [],
                    text,
                    which=(credit, debit),
                    difference=(expected, actual),
                )


def _is_whole_balance(body: Body, tops: list[Entry]) -> bool:
    """Whether the table is of all accounts, in accounting's own figures."""
    if body.roots or body.one_sided:
        return False
    heads = (entry.account.partition(".")[0] for entry in body.entries if entry.account)
    first = next(heads, None)
    return any(head != first for head in heads) and all(
        entry.indicator is None or entry.is_money for entry in tops
    )


def _unreadable(entry: Entry, column: int) -> bool:
    """Whether what a sum takes from this column (of balances: from both sides) cannot be read."""
    columns = (column,) if column in (2, 3) else (column, column + 1)
    return any(one in entry.unreadable for one in columns)
