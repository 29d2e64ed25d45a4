"""What must hold in a trial balance (R1, R3, R4, R5), and what was seen on the way (R8, R10, R11).

Each failure names its rule, lines, column, what was expected and what stands there, and says it to
a person. An amount may be off by the document's own step (a kopeck, or the last printed digit where
the unit is thousands or millions) for each addend; more is an error. Less, where honest rounding
cannot explain it, is a warning: no difference goes unsaid.
"""

from collections.abc import Callable, Iterator

from armka.contract.result import Check
from armka.contract.vocabulary import Column, LineKind, Severity
from armka.osv import accounts
from armka.osv.amounts import DECIMALS, KOPECK, SCALE, to_text
from armka.osv.body import Body, Doubt, Entry, Total
from armka.osv.tree import children_of, top_level

COLUMNS = list(Column)
MOST_A_RULE = 200  # findings that are told one by one; the rest is counted

_NAMES = (
    "сальдо на начало, дебет",
    "сальдо на начало, кредит",
    "обороты, дебет",
    "обороты, кредит",
    "сальдо на конец, дебет",
    "сальдо на конец, кредит",
)
_PAIRS = ((0, 1, "сальдо на начало"), (2, 3, "обороты"), (4, 5, "сальдо на конец"))

_Judge = Callable[[int, int], Severity | None]


def run(body: Body, unit: int) -> list[Check]:
    """Check a body whose entries have their parents; the failures, rule by rule."""
    entries = body.entries
    judge = _judge(unit, entries)
    rules: list[Iterator[Check]] = [
        _row_equations(entries, judge),
        _trees(entries, judge),
        _totals(entries, judge),
        _double_entry(entries, judge),
        _unknown_codes(entries),
        _repeated(entries),
        _doubts(body.doubts, entries),
    ]
    return [check for rule in rules for check in _limited(rule)]


def derived(entry: Entry) -> tuple[int, int] | None:
    """The one amount of a row that cannot be read, as R1 gives it: (which of the six, amount);
    None: R1 does not.
    """
    if len(entry.unreadable) != 1:
        return None
    (which,) = entry.unreadable
    signs = (1, -1, 1, -1, -1, 1)  # od - oc + td - tc - cd + cc = 0
    rest = sum(sign * (amount or 0) for sign, amount in zip(signs, entry.amounts, strict=True))
    amount = -signs[which] * rest
    return (which, amount) if amount > 0 else None


def _judge(unit: int, entries: list[Entry]) -> _Judge:
    """How bad a difference is, given how many addends are in it."""
    step = KOPECK if unit == 1 else _step(entries)
    rounding = (
        0 if unit == 1 else step
    )  # bookkeeping in kopecks is exact; a report in thousands is rounded

    def judge(difference: int, addends: int) -> Severity | None:
        if abs(difference) > step * addends:
            return Severity.ERROR
        return Severity.WARNING if 2 * abs(difference) > rounding * addends else None

    return judge


def _step(entries: list[Entry]) -> int:
    """The last printed digit: the coarsest power of ten that divides every amount, one unit at
    most.
    """
    amounts = [amount for entry in entries for amount in entry.amounts if amount]
    for decimals in range(DECIMALS):
        step = int(SCALE // 10**decimals)
        if not any(amount % step for amount in amounts):
            return step
    return 1


def _row_equations(entries: list[Entry], judge: _Judge) -> Iterator[Check]:
    """R1: opening balance and turnovers give the closing balance, net."""
    for entry in entries:
        if entry.unreadable:
            continue
        od, oc, td, tc, cd, cc = (amount or 0 for amount in entry.amounts)
        expected, actual = od - oc + td - tc, cd - cc
        if expected == actual:
            continue
        severity = judge(expected - actual, 6 - entry.amounts.count(None))
        if severity is not None:
            text = (
                f"{_place(entry)}: сальдо на начало и обороты дают на конец {_money(expected)}, "
                f"а стоит {_money(actual)} (дебет минус кредит), "
                f"разница {_money(actual - expected)}"
            )
            column = 4 if cd or not cc else 5
            yield _check("R1", severity, [entry], column, expected, actual, text)


def _trees(entries: list[Entry], judge: _Judge) -> Iterator[Check]:
    """R3: subaccounts add up to their account; turnovers by side, balances net, since 1С shows them
    either way.
    """
    by_number = {entry.n: entry for entry in entries}
    for number, children in children_of(entries).items():
        parent = by_number[number]
        for column, of, what in _SUMS:
            if any(_unreadable(entry, column) for entry in (parent, *children)):
                continue
            expected, actual = sum(map(of, children)), of(parent)
            severity = judge(expected - actual, len(children) + 1) if expected != actual else None
            if severity is None:
                continue
            if parent.kind is LineKind.GROUP:
                severity = Severity.WARNING
            text = (
                f"{_place(parent)}: {what}: строки под ним в сумме дают {_money(expected)}, "
                f"а в самой строке {_money(actual)}, разница {_money(actual - expected)}"
            )
            yield _check("R3", severity, [parent, *children], column, expected, actual, text)


def _turnover_debit(entry: Entry) -> int:
    return entry.amounts[2] or 0


def _turnover_credit(entry: Entry) -> int:
    return entry.amounts[3] or 0


def _net_opening(entry: Entry) -> int:
    return (entry.amounts[0] or 0) - (entry.amounts[1] or 0)


def _net_closing(entry: Entry) -> int:
    return (entry.amounts[4] or 0) - (entry.amounts[5] or 0)


_SUMS: tuple[tuple[int, Callable[[Entry], int], str], ...] = (
    (2, _turnover_debit, "обороты по дебету"),
    (3, _turnover_credit, "обороты по кредиту"),
    (0, _net_opening, "сальдо на начало (дебет минус кредит)"),
    (4, _net_closing, "сальдо на конец (дебет минус кредит)"),
)


def _totals(entries: list[Entry], judge: _Judge) -> Iterator[Check]:
    """R4: «Итого» is the sum of the top-level on-balance accounts, column by column; a total of the
    off-balance ones is theirs. With expanded balances (развернутое) it is no sum of what is shown.
    """
    tops = top_level(entries)
    on_balance = [entry for entry in tops if not entry.off_balance]
    off_balance = [entry for entry in tops if entry.off_balance]
    if not any(entry.total is Total.PLAIN for entry in entries):
        text = "В таблице нет строки «Итого»: полноту строк по ней проверить нельзя"
        yield _check("R4", Severity.WARNING, [], None, None, None, text)
    for entry in entries:
        if entry.total is Total.PLAIN:
            yield from _total(entry, on_balance, "балансовые", judge)
        elif entry.total is Total.OFF_BALANCE:
            yield from _total(entry, off_balance, "забалансовые", judge)


def _total(total: Entry, addends: list[Entry], kind: str, judge: _Judge) -> Iterator[Check]:
    unreadable = {column for entry in (total, *addends) for column in entry.unreadable}
    for column in range(6):
        expected = sum(entry.amounts[column] or 0 for entry in addends)
        actual = total.amounts[column] or 0
        if column in unreadable or expected == actual:
            continue
        severity = judge(expected - actual, len(addends) + 1)
        if severity is not None:
            text = (
                f"{_place(total)}: {_NAMES[column]}: {kind} счета в сумме дают "
                f"{_money(expected)}, а в строке {_money(actual)}, "
                f"разница {_money(actual - expected)}"
            )
            yield _check("R4", severity, [total], column, expected, actual, text)


def _double_entry(entries: list[Entry], judge: _Judge) -> Iterator[Check]:
    """R5: debits equal credits over the whole balance; by each total, and by the accounts where
    there is none.
    """
    tops = [entry for entry in top_level(entries) if not entry.off_balance]
    totals = [entry for entry in entries if entry.total in (Total.PLAIN, Total.EXPANDED)]
    for debit, credit, what in _PAIRS:
        for addends, source in [(2, [total]) for total in totals] or [(2 * len(tops), tops)]:
            if any(side in entry.unreadable for entry in source for side in (debit, credit)):
                continue
            expected = sum(entry.amounts[debit] or 0 for entry in source)
            actual = sum(entry.amounts[credit] or 0 for entry in source)
            severity = judge(expected - actual, addends) if expected != actual else None
            if severity is not None:
                where = _place(source[0]) if totals else "Все счета вместе"
                text = (
                    f"{where}: {what}: дебет {_money(expected)} не равен кредиту {_money(actual)}, "
                    f"разница {_money(actual - expected)}"
                )
                lines = source if totals else []
                yield _check("R5", severity, lines, credit, expected, actual, text)


def _unknown_codes(entries: list[Entry]) -> Iterator[Check]:
    """R8, as far as the form of a code goes."""
    for entry in entries:
        if entry.account is not None and not accounts.is_known_form(entry.account):
            text = (
                f"{_place(entry)}: такого кода нет в плане счетов; "
                "возможно, в файле потерян ведущий ноль"
            )
            yield _check("R8", Severity.ERROR, [entry], None, None, None, text)


def _repeated(entries: list[Entry]) -> Iterator[Check]:
    """R10: an account stands once."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind is not LineKind.ACCOUNT or entry.account is None:
            continue
        earlier = first.setdefault(entry.account, entry)
        if earlier is not entry:
            text = f"{_place(entry)}: этот счет уже стоит в строке {earlier.row}"
            yield _check("R10", Severity.ERROR, [earlier, entry], None, None, None, text)


def _doubts(doubts: list[Doubt], entries: list[Entry]) -> Iterator[Check]:
    """R11: every number between the header and the end belongs to a line; R8 where a code is
    unsure.
    """
    by_row = {entry.row: entry for entry in entries}
    for doubt in doubts:
        lines = [by_row[doubt.row]] if doubt.row in by_row else []
        text = f"Строка {doubt.row}: {doubt.reason}"
        yield _check(doubt.rule, Severity.ERROR, lines, None, None, None, text)


def _limited(checks: Iterator[Check]) -> Iterator[Check]:
    rest: list[Check] = []
    for count, check in enumerate(checks):
        if count < MOST_A_RULE:
            yield check
        else:
            rest.append(check)
    if rest:
        worst = (
            Severity.ERROR if any(c.severity is Severity.ERROR for c in rest) else Severity.WARNING
        )
        text = f"Есть и другие расхождения по этому правилу, всего {MOST_A_RULE + len(rest)}"
        yield Check(rule=rest[0].rule, severity=worst, lines=[], message=text)


def _unreadable(entry: Entry, column: int) -> bool:
    """Whether what a sum takes from this column (of balances: from both sides) cannot be read."""
    columns = (column,) if column in (2, 3) else (column, column + 1)
    return any(one in entry.unreadable for one in columns)


def _check(
    rule: str,
    severity: Severity,
    entries: list[Entry],
    column: int | None,
    expected: int | None,
    actual: int | None,
    message: str,
) -> Check:
    return Check(
        rule=rule,
        severity=severity,
        lines=[entry.n for entry in entries],
        column=None if column is None else COLUMNS[column],
        expected=_amount(expected),
        actual=_amount(actual),
        message=message,
    )


def _amount(amount: int | None) -> str | None:
    """As the contract carries it; a sum that has outgrown its 18 digits is told in the message
    only.
    """
    return None if amount is None or abs(amount) >= 10**18 * SCALE else to_text(amount)


def _place(entry: Entry) -> str:
    what = f"счет {entry.account}" if entry.account else f"«{entry.name}»"
    return f"Строка {entry.row}, {what}"


def _money(amount: int) -> str:
    """An amount for a person: 1 234,56."""
    whole, _, fraction = to_text(abs(amount)).partition(".")
    grouped = f"{int(whole):,}".replace(",", "\u00a0")
    return f"{'−' if amount < 0 else ''}{grouped},{fraction}"
