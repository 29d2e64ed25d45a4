"""R8, R10, R11, R12, R13: codes and repetitions, what was seen on the way, whose and of when the
table is.
"""

from collections.abc import Iterator

from armka.contract.result import Check
from armka.contract.vocabulary import LineKind, Severity
from armka.osv import accounts, chart
from armka.osv.chart import Plan
from armka.osv.checks.finding import Findings, called
from armka.osv.entries import Body, Entry
from armka.osv.particulars import Particulars, is_valid_inn
from armka.osv.tree import Tree, in_order


def codes(body: Body, tree: Tree, findings: Findings) -> Iterator[Check]:
    """R8: an account is one of its chart, and is called as there."""
    if body.plan is Plan.FOUR_DIGITS:
        text = "Коды счетов четырехзначные: это не план счетов 94н, соответствие проверит аналитик"
        yield findings.make("R8", Severity.ERROR, in_order(tree.by_head.values())[:1], text)
        return
    for entry in in_order(_suspects(body.plan, *item) for item in tree.by_head.items()):
        code = entry.account or ""
        head = accounts.head_of(code)
        if not _is_known(body.plan, code, head):
            hint = "; возможно, в файле потерян ведущий ноль" if _lost_zero(head) else ""
            text = f"{called(entry)}: такого кода нет в плане счетов {body.plan.value}{hint}"
            yield findings.make("R8", Severity.ERROR, [entry], text)
        elif body.plan is Plan.COMMERCIAL and not chart.names_agree(code, entry.name):
            expected = chart.SYNTHETIC[code].name
            text = f"{called(entry)}: назван «{entry.name}», а в плане счетов это «{expected}»"
            yield findings.make("R8", Severity.WARNING, [entry], text)


def orphans(body: Body, tree: Tree, findings: Findings) -> Iterator[Check]:
    """R8: where lines are accounts, or stand under one, so does every line with amounts; КФО and
    the like stand above them.
    """
    loose = [it for it in tree.tops if it.kind is not LineKind.ACCOUNT and any(it.amounts)]
    if body.roots or not tree.by_head or not loose:
        return
    above = _above_accounts(body.entries)
    for entry in loose:
        if entry.n not in above:
            text = f"{called(entry)}: суммы есть, а код счета не прочитан"
            yield findings.make("R8", Severity.ERROR, [entry], text)


def _above_accounts(entries: list[Entry]) -> set[int]:
    found: set[int] = set()
    for entry in entries:
        above = entry.parent if entry.kind is LineKind.ACCOUNT else None
        while above is not None and above not in found:
            found.add(above)
            above = entries[above - 1].parent
    return found


def _suspects(plan: Plan, head: str, own: list[Entry]) -> list[Entry]:
    """Of the accounts under a known one only that one itself, which must be called as it is."""
    return [entry for entry in own if entry.account == head] if chart.knows(plan, head) else own


def _is_known(plan: Plan, code: str, head: str) -> bool:
    return chart.knows(plan, head) or accounts.is_off_balance(code, plan)


def _lost_zero(head: str) -> bool:
    return len(head) == 1 and head.isdigit()


def repetitions(body: Body, findings: Findings) -> Iterator[Check]:
    """R10: an account stands once in its place, a subconto with the same amounts too."""
    names = [e.account if e.kind is LineKind.ACCOUNT else e.name for e in body.entries]
    if len(set(names)) == len(names):
        return
    first: dict[tuple[object, ...], Entry] = {}
    for entry in body.entries:
        if entry.kind is LineKind.ACCOUNT and entry.account is not None:
            key: tuple[object, ...] = (entry.parent, entry.account, entry.key, entry.block)
        elif entry.kind is LineKind.DIMENSION and entry.name and any(entry.amounts):
            key = (entry.parent, entry.name, *entry.amounts)
        else:
            continue
        earlier = first.setdefault(key, entry)
        if earlier is entry:
            continue
        is_account = entry.kind is LineKind.ACCOUNT
        what = (
            "этот счет уже стоит" if is_account else "такая же строка с теми же суммами уже стоит"
        )
        text = f"{called(entry)}: {what} в строке {earlier.row}"
        severity = Severity.ERROR if is_account else Severity.WARNING
        yield findings.make("R10", severity, [earlier, entry], text)


def doubts(body: Body, findings: Findings) -> Iterator[Check]:
    """R11: every number between the header and the end belongs to a line; R8 where a code is
    unsure; R12 where a header printed again says something else.
    """
    by_row = {entry.row: entry for entry in body.entries} if body.doubts else {}
    for doubt in body.doubts:
        lines = [by_row[doubt.row]] if doubt.row in by_row else []
        text = f"Строка {doubt.row}: {doubt.reason}"
        places = [] if doubt.column is None else [(doubt.row, doubt.column)]
        yield findings.make(doubt.rule, Severity.ERROR, lines, text, places=places)


def identity(above: Particulars, findings: Findings) -> Iterator[Check]:
    """R13: it is said of when the table is, and whose; an ИНН is one."""
    if above.period is None or above.period.from_ is None:
        text = "Период не указан или не читается: за какое время ведомость, должен сказать аналитик"
        yield findings.make("R13", Severity.ERROR, [], text)
    if above.organisation is None:
        text = "Над таблицей не сказано, чья это ведомость"
        yield findings.make("R13", Severity.WARNING, [], text)
    elif above.organisation.inn is not None and not is_valid_inn(above.organisation.inn):
        text = f"ИНН {above.organisation.inn} не проходит проверку контрольных цифр"
        yield findings.make("R13", Severity.WARNING, [], text)
