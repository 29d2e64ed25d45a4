"""Two readings of one document side by side, without a database."""

from decimal import Decimal
from typing import Any

from armka.core.carrying.lines import (
    Correction,
    Kind,
    Value,
    Verdict,
    as_read,
    changes,
    judged,
)

Amount = str | None


def _lines(*rows: tuple[str | None, str, int | None, Amount]) -> list[dict[str, Any]]:
    """(account, name, parent, closing debit); "?" is an amount that was not read."""
    lines = []
    for n, (account, name, parent, amount) in enumerate(rows, start=1):
        held = None if amount in {None, "?"} else Decimal(str(amount))
        line: dict[str, Any] = {
            "n": n, "parent": parent, "kind": "account" if account else "dimension",
            "account": account, "name": name, "indicator": None, "currency": None,
            "unknown": [{"column": "closing_debit"}] if amount == "?" else None,
        }  # fmt: skip
        empty = ("opening_debit", "opening_credit", "turnover_debit", "turnover_credit")
        lines.append(line | dict.fromkeys((*empty, "closing_credit")) | {"closing_debit": held})
    return lines


def _correction(line: int, read: Amount, became: Amount, number: int = 1) -> Correction:
    reading = Value(None, True) if read == "?" else _value(read)
    return Correction(number, line, "closing_debit", reading, _value(became))


def _value(text: Amount) -> Value:
    return Value(None if text is None else Decimal(text))


def _verdict(read: Amount, became: Amount, now: Amount) -> Verdict:
    old, new = _lines(("51", "Счёт", None, became)), _lines(("51", "Счёт", None, now))
    correction = _correction(1, read, became)
    [carried] = judged(as_read(old, [correction]), new, [correction])
    return carried.verdict


def test_a_correction_applies_where_the_same_was_read_again() -> None:
    """Also where it was not read again; amounts are compared as numbers."""
    assert _verdict("100.00", "700.00", "100") is Verdict.APPLIES
    assert _verdict("?", "700.00", "?") is Verdict.APPLIES
    assert _verdict(None, "700.00", None) is Verdict.APPLIES


def test_it_is_so_already_where_the_new_reading_is_right() -> None:
    """Nothing is left to do."""
    assert _verdict("100.00", "700.00", "700") is Verdict.ALREADY
    assert _verdict("100.00", None, None) is Verdict.ALREADY


def test_anything_else_is_a_conflict() -> None:
    """An unknown value is not an empty one, and not what was read before."""
    assert _verdict("100.00", "700.00", "170") is Verdict.CONFLICT
    assert _verdict("100.00", "700.00", "?") is Verdict.CONFLICT
    assert _verdict("?", "700.00", None) is Verdict.CONFLICT


def test_lines_are_found_by_what_they_are_about() -> None:
    """However many lines came before: accounts by code, what is under them by names, in order."""
    old = _lines(("60", "Поставщики", None, "3"), (None, "ООО «Луг»", 1, "1"),
                 (None, "ООО «Луг»", 1, "2"), ("62", "Покупатели", None, "1"),
                 (None, "ООО «Луг»", 4, "1"))  # fmt: skip
    new = _lines(("51", "Счета", None, "9"), ("60", "Поставщики", None, "3"),
                 (None, "ООО  «ЛУГ»", 2, "1"), (None, "ООО «Луг»", 2, "2"),
                 ("62", "Покупатели", None, "1"), (None, "ООО «Луг»", 5, "1"))  # fmt: skip
    corrections = [_correction(3, "2", "5", 7), _correction(5, "1", "8", 8)]
    carried = judged(old, new, corrections)
    assert [(one.line, one.verdict) for one in carried] == [
        (4, Verdict.APPLIES), (6, Verdict.APPLIES),
    ]  # fmt: skip


def test_a_line_that_is_gone_keeps_its_correction_in_sight() -> None:
    """It cannot be carried over, and is not hidden."""
    old, new = (
        _lines(("51", "Счёт", None, "1"), ("60", "X", None, "2")),
        _lines(("60", "X", None, "2")),
    )
    [carried] = judged(old, new, [_correction(1, "1", "5")])
    assert (carried.verdict, carried.line, carried.account) == (Verdict.GONE, None, "51")


def test_what_was_read_otherwise_is_told_line_by_line() -> None:
    """Added, removed, changed; a corrected value stands beside what was read."""
    old = _lines(("50", "Касса", None, "1"), ("51", "Счета", None, "700"), ("60", "X", None, "3"))
    new = _lines(("51", "Счета", None, "170"), ("60", "X", None, "3"), ("62", "Y", None, "4"))
    corrections = [_correction(2, "100", "700")]
    found = list(changes(as_read(old, corrections), new, corrections))
    assert [(one.kind, one.account, one.old_line, one.new_line) for one in found] == [
        (Kind.CHANGED, "51", 2, 1), (Kind.ADDED, "62", None, 3), (Kind.REMOVED, "50", 1, None),
    ]  # fmt: skip
    [value] = found[0].values
    assert (value.field, value.old, value.new) == ("closing_debit", _value("100"), _value("170"))
    assert value.corrected == _value("700")


def test_a_corrected_account_is_aligned_as_it_was_read() -> None:
    """The new attempt misread the code in the same way: the correction applies to that line."""
    old, new = _lines(("60.01", "X", None, "1")), _lines(("6O.01", "X", None, "1"))
    correction = Correction(1, 1, "account", Value("6O.01"), Value("60.01"))
    [carried] = judged(as_read(old, [correction]), new, [correction])
    assert (carried.verdict, carried.line) == (Verdict.APPLIES, 1)
