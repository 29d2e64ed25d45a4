"""R6 by itself: which accounts go on, which do not, and which cannot be told."""

from decimal import Decimal
from typing import Any

from armka.core.continuity.compare import Comparison, closing, compare, opening, step_of

Amounts = tuple[str | None, str | None]


def _lines(*rows: tuple[str, Amounts], **more: Any) -> list[dict[str, Any]]:
    """Account lines with these balances (debit, credit), at the beginning and at the end alike; an
    account stands under the one whose code it begins with.
    """
    lines: list[dict[str, Any]] = []
    for n, (account, amounts) in enumerate(rows, start=1):
        debit, credit = (None if text is None else Decimal(text) for text in amounts)
        above = [line["n"] for line in lines if account.startswith(f"{line['account']}.")]
        lines.append({"n": n, "parent": above[-1] if above else None, "account": account,
                      "name": f"счёт {account}", "unknown": None, "opening_debit": debit,
                      "opening_credit": credit, "closing_debit": debit, "closing_credit": credit}
                     | more)  # fmt: skip
    return lines


def _compared(
    earlier: list[dict[str, Any]],
    later: list[dict[str, Any]],
    units: tuple[int, int] = (1, 1),
    account: str | None = None,
    *,
    new_year: bool = False,
) -> Comparison:
    ended, begun = closing(earlier, units[0], account), opening(later, units[1], account)
    return compare(ended, begun, step_of(units), new_year=new_year)


def _told(found: Comparison) -> list[tuple[str, str, str]]:
    return [(one.account, str(one.closing), str(one.opening)) for one in found.differences]


def test_an_account_that_goes_on_is_no_finding_and_one_that_does_not_is_named() -> None:
    """By its code, its name, both amounts and both lines."""
    earlier = _lines(("51", ("100.00", None)), ("60", (None, "70.00")))
    later = _lines(("51", ("100.00", None)), ("60", (None, "75.50")))
    found = _compared(earlier, later)
    assert found.compared == 2
    assert _told(found) == [("60", "-70.00", "-75.50")]
    [one] = found.differences
    assert (one.name, one.earlier_line, one.later_line) == ("счёт 60", 2, 2)
    assert one.amount == Decimal("-5.50")


def test_net_balances_are_compared() -> None:
    """1С shows a balance netted in one report and expanded in the other."""
    assert not _compared(_lines(("62", ("100", "30"))), _lines(("62", ("70", None)))).differences


def test_units_meet_in_roubles_and_the_coarser_one_is_the_tolerance() -> None:
    """Thousands against roubles: less than a thousand is rounding, more is not."""
    roubles = _lines(("51", ("1234567.89", None)), ("60", (None, "5000.00")))
    thousands = _lines(("51", ("1235", None)), ("60", (None, "3")))
    assert _told(_compared(roubles, thousands, (1, 1000))) == [("60", "-5000.00", "-3000")]
    assert step_of((1, 1)) == Decimal("0.01")


def test_what_was_not_read_is_not_compared_and_never_nothing() -> None:
    """It is counted instead."""
    unknown = [{"column": "closing_debit", "raw": "1O0"}]
    found = _compared(_lines(("51", (None, None)), unknown=unknown), _lines(("51", ("100", None))))
    assert (found.compared, found.unread, found.differences) == (0, 1, [])


def test_an_account_without_a_line_has_nothing() -> None:
    """1С leaves out accounts that have neither balance nor turnover."""
    earlier, later = _lines(("50", ("10", None)), ("51", ("5", None))), _lines(("51", ("5", None)))
    assert _told(_compared(earlier, later)) == [("50", "10", "0")]
    assert _told(_compared(later, earlier)) == [("50", "0", "10")]


def test_a_document_with_less_detail_says_nothing_of_the_rest() -> None:
    """Sub-accounts are compared where both documents show those of the same account."""
    fine = _lines(("60", (None, "10")), ("60.01", (None, "7")), ("60.02", (None, "3")))
    coarse = _lines(("60", (None, "10")))
    assert _compared(fine, coarse).differences == []
    flat = _lines(("60.01", (None, "7")), ("60.02", (None, "3")))
    assert _compared(coarse, flat).differences == []
    without = _lines(("60", (None, "7")), ("60.01", (None, "7")))
    assert _told(_compared(fine, without)) == [("60.02", "-3", "0")]


def test_the_deepest_account_is_named() -> None:
    """One finding, not one for each level above it; where the sum does not explain it, both."""
    one = _lines(("60", (None, "10")), ("60.01", (None, "7")), ("60.02", (None, "3")))
    other = _lines(("60", (None, "11")), ("60.01", (None, "8")), ("60.02", (None, "3")))
    assert _told(_compared(one, other)) == [("60.01", "-7", "-8")]
    worse = _lines(("60", (None, "15")), ("60.01", (None, "8")), ("60.02", (None, "3")))
    assert [account for account, *_ in _told(_compared(one, worse))] == ["60", "60.01"]


def test_the_reformation_of_the_balance_explains_what_it_moves() -> None:
    """90, 91 and 99 go into 84 on 31 December: told, but no warning; in another month it is one."""
    earlier = _lines(("84", (None, "100")), ("99", (None, "40")), ("51", ("1", None)))
    later = _lines(("84", (None, "140")), ("51", ("2", None)))
    found = _compared(earlier, later, new_year=True).differences
    assert [(one.account, one.is_reformation) for one in found] == [
        ("51", False), ("84", True), ("99", True),
    ]  # fmt: skip
    assert not any(one.is_reformation for one in _compared(earlier, later).differences)
    unequal = _lines(("84", (None, "150")), ("51", ("1", None)))
    wrong = _compared(earlier, unequal, new_year=True).differences
    assert [one.is_reformation for one in wrong] == [False, False]


def test_of_an_accounts_own_document_only_that_account_counts() -> None:
    """Correspondent accounts have no balances of their own there."""
    rows = _lines(("51", ("5", None)), ("60", (None, "3")))
    other = _lines(("51", ("5", None)), ("60", (None, "9")))
    assert _compared(rows, other, account="51").compared == 1
