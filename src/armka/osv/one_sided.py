"""Tables whose balances have one side (0420521): which side it is, account by account."""

from armka.contract.vocabulary import LineKind
from armka.osv.bands import mirror
from armka.osv.entries import Body, Entry

_ASSETS, _LIABILITIES = "актив", "пассив"


def orient(body: Body) -> None:
    """Move the balances of passive accounts to the credit side.

    The block they stand in says which those are; without blocks the row's own equation does, and
    where it holds both ways, the line before.
    """
    passive = False
    for entry in body.entries:
        if entry.kind in (LineKind.INDICATOR, LineKind.CURRENCY) and entry.parent is not None:
            pass  # as the line that it belongs to
        elif entry.block or entry.total is not None:
            passive = entry.block == _LIABILITIES
        else:
            passive = _by_equation(entry, before=passive)
        if passive:
            mirror(entry, body.plain_columns)


def _by_equation(entry: Entry, *, before: bool) -> bool:
    opening, _, debit, credit, closing, _ = (amount or 0 for amount in entry.amounts)
    as_asset = opening + debit - credit == closing
    as_liability = opening - debit + credit == closing
    return before if as_asset == as_liability else as_liability
