"""R2, R7, R9: what an accountant would find odd. Warnings, since accountants do odd things."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from functools import partial

from armka.contract.result import Check, Period
from armka.contract.vocabulary import LineKind, Severity
from armka.osv import accounts
from armka.osv.amounts import KOPECK
from armka.osv.chart import CLOSED_MONTHLY, CLOSED_YEARLY, EXPANDABLE, SYNTHETIC, Nature, Plan
from armka.osv.checks.arithmetic import PAIRS
from armka.osv.checks.finding import Findings, called, money
from armka.osv.entries import Body, Entry
from armka.osv.tree import Tree, in_order

_CLOSED = CLOSED_MONTHLY | CLOSED_YEARLY | {"00"}


Leaves = dict[str, list[Entry]]  # by their synthetic account


def leaves(body: Body, tree: Tree) -> Leaves:
    """The accounts that nothing stands under, in accounting's own figures."""
    parents = {e.parent for e in body.entries if e.kind is not LineKind.INDICATOR}
    return {
        head: [
            entry
            for entry in own
            if entry.n not in parents and (entry.indicator is None or entry.is_money)
        ]
        for head, own in tree.by_head.items()
    }


def one_sides(body: Body, ends: Leaves, findings: Findings) -> Iterator[Check]:
    """R2: an account that nothing stands under (`ends`) has a balance on one side, unless it is one
    of settlements.
    """
    if body.plan is not Plan.COMMERCIAL:
        return
    for entry in in_order(own for head, own in ends.items() if head not in EXPANDABLE):
        for debit, credit, what in (PAIRS[0], PAIRS[2]):
            if entry.amounts[debit] and entry.amounts[credit]:
                text = f"{called(entry)}: {what} стоит и по дебету, и по кредиту"
                yield findings.make("R2", Severity.WARNING, [entry], text, which=(debit, credit))


def signs(body: Body, ends: Leaves, findings: Findings) -> Iterator[Check]:
    """R7: an active account with a credit balance, a passive one with a debit balance («красное
    сальдо»), also as a negative amount.
    """
    if body.plan is not Plan.COMMERCIAL:
        return
    natures = {head: SYNTHETIC[head].nature for head in ends if head in SYNTHETIC}
    one_sided = (head for head, nature in natures.items() if nature is not Nature.BOTH)
    for entry in in_order(ends[head] for head in one_sided):
        nature = natures[accounts.head_of(entry.account or "")]
        for debit, credit, what in (PAIRS[2], PAIRS[0]):
            net = (entry.amounts[debit] or 0) - (entry.amounts[credit] or 0)
            if net and (net < 0) == (nature is Nature.ACTIVE):
                text = partial(_red_balance, entry, nature, what, net)
                yield findings.make("R7", Severity.WARNING, [entry], text, which=(debit, credit))
                break


def _red_balance(entry: Entry, nature: Nature, what: str, net: int) -> str:
    side = "кредитовое" if net < 0 else "дебетовое"
    return f"{called(entry)}: счет {nature.value}, а {what} {side}: {money(abs(net))}"


def period_ends(
    body: Body, tree: Tree, findings: Findings, period: Period | None
) -> Iterator[Check]:
    """R9: what is closed at a month's end is empty then; after the reformation (31.12) so are 90,
    91 and 99 with their subaccounts; 000 always is.
    """
    last = period.to if period else None
    if body.plan is not Plan.COMMERCIAL or last is None:
        return
    month_end = last.day == monthrange(last.year, last.month)[1]
    for entry in in_order(own for head, own in tree.by_head.items() if head[:2] in _CLOSED):
        code = entry.account or ""
        net = (entry.amounts[4] or 0) - (entry.amounts[5] or 0)
        why = _must_be_empty(code, last, month_end=month_end) if entry.is_money else None
        if why and abs(net) > KOPECK:
            text = f"{called(entry)}: {why}, а сальдо на конец {money(net)}"
            yield findings.make(
                "R9", Severity.WARNING, [entry], text, which=(4, 5), difference=(0, net)
            )


def _must_be_empty(code: str, last: date, *, month_end: bool) -> str | None:
    head = accounts.head_of(code)
    if code == "000":
        return "вспомогательный счет должен быть закрыт"
    if month_end and code in CLOSED_MONTHLY:
        return "счет закрывается в конце месяца"
    if (last.month, last.day) == (12, 31) and head in CLOSED_YEARLY:
        return "счет закрывается реформацией баланса 31 декабря"
    return None
