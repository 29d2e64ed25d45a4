"""One digit of one amount changed, again and again: does a rule say so?

`PYTHONPATH=src python -m tests.osv.corruption [--seeds N]` goes over every digit of every amount of
every line that nothing stands under, in all families, and prints the table in
`docs/concepts/trial-balance.md`.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from armka.contract.result import Document, Line
from armka.osv import trial_balance
from armka.osv.grid import Grid
from tests.books import ledger
from tests.books.layouts import Layout, lay_out
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES, Report
from tests.books.sheets import Sheet
from tests.osv.grids import grid_of

Cell = tuple[int, int]  # index of the row, index of the cell in it


@dataclass
class Corruption:
    """A changed digit, and the rules that failed upon it."""

    account: str | None
    name: str
    which: int
    before: str
    after: str
    errors: set[str]
    warnings: set[str]


def corruptions(grid: Grid, random: Random, most: int | None = None) -> Iterator[Corruption]:
    """Change one digit at a time and read again; `most`: only so many, chosen at random."""
    document = trial_balance.read(grid).documents[0]
    known = _failures(document)
    cases = list(_digits(grid, document))
    for cell, which, line, position in random.sample(cases, min(most or len(cases), len(cases))):
        row, index = cell
        column, before, style = grid.rows[row].cells[index]
        value = line.values[which] or ""
        other = random.choice([digit for digit in "0123456789" if digit != value[position]])
        after = f"{value[:position]}{other}{value[position + 1 :]}"
        grid.rows[row].cells[index] = column, float(after), style
        failed = _failures(trial_balance.read(grid).documents[0])
        grid.rows[row].cells[index] = column, before, style
        new = {severity: set(failed[severity] - known[severity]) for severity in failed}
        yield Corruption(line.account, line.name, which, value, after, new["error"], new["warning"])


def _failures(document: Document) -> dict[str, Counter[str]]:
    failed = {"error": Counter[str](), "warning": Counter[str]()}
    for check in document.checks:
        failed[check.severity.value][check.rule] += 1
    return failed


def _digits(grid: Grid, document: Document) -> Iterator[tuple[Cell, int, Line, int]]:
    rows = {row.number: index for index, row in enumerate(grid.rows)}
    owners = {line.parent for line in document.lines if line.kind != "indicator"}
    for line in document.lines:
        if line.kind == "total" or line.n in owners:
            continue
        for which, value in enumerate(line.values):
            place = _place(document, line, which)
            if value is None or place is None:
                continue
            row = rows[place[0]]
            cells = [cell[0] for cell in grid.rows[row].cells]
            for position, digit in enumerate(value):
                if digit.isdigit():
                    yield (row, cells.index(place[1])), which, line, position


def _place(document: Document, line: Line, which: int) -> tuple[int, int] | None:
    """(row's number, column) of an amount, as the result says it."""
    if line.cells is not None:
        address = line.cells[which]
        if address is None:
            return None
        letters = address.rstrip("0123456789")
        return int(address[len(letters) :]), _column(letters)
    return line.row or 0, _column((document.columns or [])[which] or "")


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    seeds = parser.parse_args().seeds
    print("| report | changed digits | an error | only a warning | nothing | rules |")  # noqa: T201
    print("| --- | ---: | ---: | ---: | ---: | --- |")  # noqa: T201
    for name, sheet in _sheets().items():
        found: list[Corruption] = []
        for seed in range(seeds):
            random = Random(seed)
            found += corruptions(grid_of(sheet(random)), random)
        _tell(name, found)


def _sheets() -> dict[str, Callable[[Random], Sheet]]:
    """All layouts, each a maker of sheets."""
    general = {
        "accounts": lambda random: lay_out(ledger.make(random, subaccounts=False), Layout()),
        "accounts and subaccounts": lambda random: lay_out(
            ledger.make(random, share=0.3), Layout()
        ),
    }
    return general | {name: partial(_dressed, make) for name, make in FAMILIES.items()}


def _dressed(make: Callable[[Random], Report], random: Random) -> Sheet:
    return make(random).sheet(Dress())


def _tell(name: str, found: list[Corruption]) -> None:
    errors = sum(bool(one.errors) for one in found)
    missed = [one for one in found if not one.errors and not one.warnings]
    rules = Counter(rule for one in found for rule in one.errors)
    told = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
    warned = len(found) - errors - len(missed)
    print(f"| {name} | {len(found)} | {errors} | {warned} | {len(missed)} | {told} |")  # noqa: T201
    for one in missed:
        print(f"missed: {one}")  # noqa: T201


if __name__ == "__main__":
    main()
