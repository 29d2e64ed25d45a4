"""How large a difference is honest rounding: the document's own step (a kopeck, or the last printed
digit where the unit is thousands or millions) for each addend.
"""

from collections.abc import Callable

from armka.contract.vocabulary import Severity
from armka.osv.amounts import DECIMALS, KOPECK, SCALE
from armka.osv.entries import Entry

Judge = Callable[[int, int], Severity | None]


def judge_of(unit: int, entries: list[Entry], decimals: int = 0) -> Judge:
    """Make the judge of a difference, given how many addends are in it. `decimals`: those that
    amounts beside these entries have.

    More than a step for each is an error. Less, where honest rounding cannot explain it, is a
    warning: no difference goes unsaid.
    """
    step = KOPECK if unit == 1 else step_of(entries, decimals)
    # Bookkeeping in kopecks is exact; a report in thousands is rounded.
    rounding = 0 if unit == 1 else step

    def judge(difference: int, addends: int) -> Severity | None:
        if abs(difference) > step * addends:
            return Severity.ERROR
        return Severity.WARNING if 2 * abs(difference) > rounding * addends else None

    return judge


def step_of(entries: list[Entry], decimals: int = 0) -> int:
    """The last printed digit: the coarsest power of ten that divides every amount, one unit at
    most. `decimals`: those that amounts beside these entries have.
    """
    return min(_step(entries), int(SCALE // 10 ** min(decimals, DECIMALS)))


def _step(entries: list[Entry]) -> int:
    amounts = [amount for entry in entries for amount in entry.amounts if amount]
    for decimals in range(DECIMALS):
        step = int(SCALE // 10**decimals)
        if not any(amount % step for amount in amounts):
            return step
    return 1
