"""R6: the closing balances of one document against the opening balances of the next. Pure.

Net amounts are compared (debit minus credit), since 1С shows a balance netted or expanded. Both
documents may have units of their own; the coarser one is the tolerance.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

Row = Mapping[str, Any]

_KOPECK = Decimal("0.01")
_ZERO = Decimal(0)
# What the reformation of the balance on 31 December moves: 90, 91 and 99 go into 84.
_REFORMED = frozenset({"84", "90", "91", "99"})


@dataclass(frozen=True)
class Balance:
    """An account's net balance in roubles; None: it was not read. `line`: where it stands."""

    account: str
    name: str
    line: int
    parent: str | None
    net: Decimal | None


@dataclass(frozen=True)
class Difference:
    """An account that does not go on as it ended: net amounts in roubles, 0 where there is no such
    line. `is_reformation`: the year was closed between the documents, which explains it.
    """

    account: str
    name: str
    closing: Decimal
    opening: Decimal
    earlier_line: int | None
    later_line: int | None
    is_reformation: bool = False

    @property
    def amount(self) -> Decimal:
        """By how much."""
        return self.opening - self.closing


@dataclass(frozen=True)
class Comparison:
    """How many accounts were compared, how many could not be, and what differs."""

    compared: int
    unread: int
    differences: list[Difference]


def closing(lines: Iterable[Row], unit: int, account: str | None) -> dict[str, Balance]:
    """The balances at the end, by account; of an account's own document, only those of it."""
    return _balances(lines, unit, account, ("closing_debit", "closing_credit"))


def opening(lines: Iterable[Row], unit: int, account: str | None) -> dict[str, Balance]:
    """The same at the beginning."""
    return _balances(lines, unit, account, ("opening_debit", "opening_credit"))


def _balances(
    lines: Iterable[Row], unit: int, account: str | None, columns: tuple[str, str]
) -> dict[str, Balance]:
    """Account lines (of indicators: БУ), those of one code added up."""
    codes: dict[int, tuple[str, str | None]] = {}
    found: dict[str, Balance] = {}
    for line in lines:
        code = line["account"]
        above = codes.get(line["parent"])
        codes[line["n"]] = (code, above[0] if above else None)
        if above and above[0] == code:
            continue
        if account and code != account and not code.startswith(f"{account}."):
            continue
        net, old = _net(line, unit, columns), found.get(code)
        if old is None:
            found[code] = Balance(code, line["name"], line["n"], above[0] if above else None, net)
        else:
            both = None if net is None or old.net is None else net + old.net
            found[code] = Balance(code, old.name, old.line, old.parent, both)
    return found


def _net(line: Row, unit: int, columns: tuple[str, str]) -> Decimal | None:
    if any(one["column"] in columns for one in line["unknown"] or ()):
        return None
    debit, credit = (line[column] or _ZERO for column in columns)
    return Decimal(debit - credit) * unit


def compare(
    ended: Mapping[str, Balance], begun: Mapping[str, Balance], step: Decimal, *, new_year: bool
) -> Comparison:
    """Closing against opening, account by account; `step`: the tolerance in roubles."""
    differences, compared, unread = [], 0, 0
    for code in _comparable(ended, begun):
        one, other = ended.get(code), begun.get(code)
        closed, opened = one.net if one else _ZERO, other.net if other else _ZERO
        if closed is None or opened is None:
            unread += 1
            continue
        compared += 1
        if abs(opened - closed) > step:
            name = (other or one or _NOBODY).name
            lines = one.line if one else None, other.line if other else None
            differences.append(Difference(code, name, closed, opened, *lines))
    differences = _deepest(differences, {**ended, **begun}, step)
    return Comparison(compared, unread, _reformed(differences, step) if new_year else differences)


_NOBODY = Balance("", "", 0, None, None)


def step_of(units: Sequence[int]) -> Decimal:
    """The tolerance: a kopeck, or the unit of the coarser document."""
    return max(_KOPECK if unit == 1 else Decimal(unit) for unit in units)


def _comparable(one: Mapping[str, Balance], other: Mapping[str, Balance]) -> list[str]:
    """Accounts that both have, and those whose absence means a balance of nothing: a document that
    shows an account less finely, or more finely, says nothing of the others' lines.
    """
    both = one.keys() & other.keys()
    alone = {
        code
        for here, there in ((one, other), (other, one))
        for code in here.keys() - both
        if _is_told(here[code], there)
    }
    return sorted(both | alone)


def _is_told(balance: Balance, there: Mapping[str, Balance]) -> bool:
    if any(code.startswith(f"{balance.account}.") for code in there):
        return False
    above = balance.parent or balance.account.rpartition(".")[0] or None
    if above is None:
        return True
    return any(other.parent == above for other in there.values())


def _deepest(
    differences: list[Difference], known: Mapping[str, Balance], step: Decimal
) -> list[Difference]:
    """Without the accounts whose difference is that of the accounts under them."""
    below: dict[str, list[Decimal]] = defaultdict(list)
    for one in differences:
        parent = known[one.account].parent
        if parent is not None:
            below[parent].append(one.amount)
    return [
        one
        for one in differences
        if one.account not in below
        or abs(sum(below[one.account], _ZERO) - one.amount) > step * len(below[one.account])
    ]


def _reformed(differences: list[Difference], step: Decimal) -> list[Difference]:
    moved = [one for one in differences if one.account.partition(".")[0] in _REFORMED]
    if not moved or abs(sum((one.amount for one in moved), _ZERO)) > step * len(moved):
        return differences
    return [replace(one, is_reformation=True) if one in moved else one for one in differences]
