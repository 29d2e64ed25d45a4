"""All rules over one table."""

from collections.abc import Iterator

from armka.contract.result import Check, Period
from armka.contract.vocabulary import Severity
from armka.osv.checks import arithmetic, bookkeeping, reading
from armka.osv.checks.finding import Findings
from armka.osv.checks.tolerance import Judge, judge_of
from armka.osv.entries import Body
from armka.osv.particulars import Particulars
from armka.osv.tree import Tree, tree_of

MOST_A_RULE = 200  # findings that are told one by one; the rest is counted
_REST = "Есть и другие расхождения по этому правилу, всего "


def run(body: Body, above: Particulars, unit: int, *, addressed: bool) -> list[Check]:
    """Check a body whose entries have their parents; the failures, rule by rule. `addressed`: its
    cells have addresses, since it is a sheet.
    """
    findings = Findings(body, addressed=addressed, read=MOST_A_RULE)
    tree = tree_of(body.entries)
    rules = [
        *of_lines(body, tree, findings, judge_of(unit, body.entries), above.period),
        reading.orphans(body, tree, findings),
        reading.doubts(body, findings),
        reading.identity(above, findings),
    ]
    return [check for rule in rules for check in limited(rule)]


def of_lines(
    body: Body, tree: Tree, findings: Findings, judge: Judge, period: Period | None
) -> list[Iterator[Check]]:
    """The rules that need the lines alone, so that they can be asked again of kept ones."""
    ends = bookkeeping.leaves(body, tree)
    return [
        arithmetic.row_equations(body, findings, judge),
        bookkeeping.one_sides(body, ends, findings),
        arithmetic.trees(body, tree, findings, judge),
        arithmetic.totals(body, tree, findings, judge),
        arithmetic.double_entry(body, tree, findings, judge),
        bookkeeping.signs(body, ends, findings),
        reading.codes(body, tree, findings),
        bookkeeping.period_ends(body, tree, findings, period),
        reading.repetitions(body, findings),
    ]


def limited(checks: Iterator[Check]) -> Iterator[Check]:
    """One rule's findings: the first ones, and how many there are in all."""
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
        text = f"{_REST}{MOST_A_RULE + len(rest)}"
        yield Check(rule=rest[0].rule, severity=worst, lines=[], message=text)


def is_rest(check: Check) -> bool:
    """Whether it only counts the findings that are not told one by one."""
    return not check.lines and check.message.startswith(_REST)
