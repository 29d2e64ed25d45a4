"""A wrong number makes a named check fail, and a right one does not."""

import re
from random import Random

import pytest

from armka.osv.grid import LooseRow, Style
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import Six, make
from tests.osv.grids import cell_of, change, document_of, grid, grid_of, ledger


def rules(document) -> set[str]:
    return {check.rule for check in document.checks if check.severity == "error"}


def test_a_balanced_book_has_no_findings():
    assert document_of(grid()).checks == []


def test_r1_names_the_row_and_both_amounts():
    book = grid(layout=Layout(numeric_codes=False))
    change(book, "70", 3, lambda amount: amount + 1000)
    check = next(check for check in document_of(book).checks if check.rule == "R1")
    line = next(line for line in document_of(book).lines if line.account == "70")
    assert check.severity == "error"
    assert check.lines == [line.n]
    assert float(check.actual or 0) - float(check.expected or 0) == pytest.approx(1000)
    assert re.match(rf"Строка {line.row}, счет 70: .* разница 1\u00a0000,00$", check.message)


@pytest.mark.parametrize("code", ["", "?8", "#"])
def test_r8_names_a_line_whose_account_was_lost(code):
    """However right its amounts are, and the sum of all."""
    book = grid(layout=Layout(numeric_codes=False))
    row = next(row for row in book.rows if row.cells[0][1] == "70")
    row.cells[0] = (0, code, row.cells[0][2])
    (check,) = document_of(book).checks
    assert (check.rule, check.severity) == ("R8", "error")
    assert "суммы есть, а код счета не прочитан" in check.message
    (line,) = [line for line in document_of(book).lines if line.kind == "dimension"]
    assert check.lines == [line.n]


def test_r3_names_the_parent_its_children_and_the_column():
    book = grid()
    change(book, "60", 2, lambda amount: amount + 5)
    check = next(check for check in document_of(book).checks if check.rule == "R3")
    by_n = {line.n: line.account for line in document_of(book).lines}
    assert [by_n[n] for n in check.lines] == ["60", "60.01", "60.02"]
    assert check.column == "turnover_debit"


def test_r4_names_the_total_and_the_column():
    book = grid()
    change(book, "Итого", 4, lambda amount: amount + 5)
    document = document_of(book)
    check = next(check for check in document.checks if check.rule == "R4")
    assert check.column == "closing_debit"
    assert rules(document) == {"R1", "R4", "R5"}


def with_total(label: str, factor: float):
    """A book with one more total under its off-balance accounts, each amount times a factor."""
    book = ledger(1, off_balance=True)
    sheet = lay_out(book, Layout(signatures=False))
    below = max(row for row, _ in sheet.cells) + 1
    accounts = book.off_balance if "забаланс" in label else book.accounts
    tops = [account.values for account in accounts if account.parent is None]
    sheet.put(below, 0, label)
    for column, values in enumerate(zip(*tops, strict=True), 2):
        sheet.put(below, column, sum(values) / 100 * factor)
    return document_of(grid_of(sheet))


def test_r4_holds_the_off_balance_total_against_the_off_balance_accounts():
    assert rules(with_total("Итого по забалансовым счетам", 1)) == set()
    assert rules(with_total("Итого по забалансовым счетам", 2)) == {"R4"}


def test_a_total_with_expanded_balances_is_no_sum_of_what_is_shown():
    """It must balance in itself all the same."""
    document = with_total("Итого развернутое", 3)
    assert [line.kind for line in document.lines].count("total") == 2
    assert rules(document) == set()


def test_r5_fails_where_debits_and_credits_part():
    book = make(Random(3), subaccounts=False)
    account = book.accounts[0]
    od, oc, td, tc, cd, cc = account.values
    account.values = (od + 100, oc, td, tc, cd + 100, cc)
    if cc:
        account.values = (od, oc + 100, td, tc, cd, cc + 100)
    tops = [account.values for account in book.accounts]
    book.total = tuple(sum(column) for column in zip(*tops, strict=True))
    assert rules(document_of(grid_of(lay_out(book, Layout())))) == {"R5"}


def test_without_a_total_the_accounts_themselves_must_balance():
    book = grid(layout=Layout(total=False, signatures=False))
    assert [(c.rule, c.severity) for c in document_of(book).checks] == [("R4", "warning")]
    book.rows = [row for row in book.rows if row.cells[0][1] != 51.0]
    assert "R5" in rules(document_of(book))


def test_r8_tells_codes_that_lost_their_zero():
    book = grid(layout=Layout(numeric_codes=False))
    row = next(row for row in book.rows if row.cells[0][1] == "01")
    row.cells[0] = (0, 1.0, 0)
    document = document_of(book)
    assert "R8" in rules(document)


@pytest.mark.parametrize(
    ("stored", "number_format"), [(10.1, "General"), (45301.0, "dd.mm.yyyy"), (0.5, "0%")]
)
def test_r8_tells_codes_that_excel_has_made_numbers_of(stored, number_format):
    """10.10 became 10.1, 10.01 the tenth of January: which account it was, nobody can know."""
    book = grid(layout=Layout(numeric_codes=False))
    row = next(row for row in book.rows if row.cells[0][1] == "10.10")
    book.styles.append(Style(number_format))
    row.cells[0] = (0, stored, len(book.styles) - 1)
    assert "R8" in rules(document_of(book))


def test_r10_tells_an_account_that_stands_twice():
    book = grid(layout=Layout(numeric_codes=False))
    row = next(row for row in book.rows if row.cells[0][1] == "60.02")
    row.cells[0] = (0, "60.01", 0)
    assert "R10" in rules(document_of(book))


def test_r11_tells_numbers_outside_the_columns():
    book = grid(layout=Layout(decorative=(1,)))
    row = next(row for row in book.rows if row.cells[0][1] == 51.0)
    row.cells.append((3, 777.0, 0))
    assert "R11" in rules(document_of(book))


def test_r11_tells_a_number_beside_the_code():
    book = grid(layout=Layout(combined=True, decorative=(), numeric_codes=False))
    row = next(row for row in book.rows if str(row.cells[0][1]).startswith("51,"))
    row.cells[:] = [(column + (column > 0), value, style) for column, value, style in row.cells]
    assert rules(document_of(book))


def test_r11_tells_an_account_under_the_total():
    book = grid()
    last = book.rows[-1].number
    book.rows.append(LooseRow(last + 1, [(0, "79", 0), (4, 5.0, 0), (5, 5.0, 0)]))
    assert "R11" in rules(document_of(book))


def test_a_kopeck_within_the_tolerance_is_a_warning_and_not_silent():
    book = grid(layout=Layout(numeric_codes=False))
    change(book, "70", 3, lambda amount: amount + 0.01)
    checks = document_of(book).checks
    assert {check.severity for check in checks} == {"warning"}
    assert "R1" in {check.rule for check in checks}


def rounded(values: Six) -> Six:
    return tuple(round(value / 100_000) * 100 for value in values)  # type: ignore[return-value]


def rounded_book(seed: int):
    """A book in kopecks that is printed in thousands, each number rounded by itself."""
    book = ledger(seed, subaccounts=False, largest=10**12)
    for account in book.accounts:
        account.values = rounded(account.values)
    book.total = rounded(book.total)
    return grid_of(lay_out(book, Layout(unit_line="Единица измерения: тыс. руб.", money="#,##0")))


@pytest.mark.parametrize("seed", range(5))
def test_honest_rounding_to_thousands_is_no_finding(seed):
    document = document_of(rounded_book(seed))
    assert document.unit == 1000
    assert document.checks == []


def test_beyond_rounding_thousands_fail_as_anything_else():
    book = rounded_book(1)
    account = next(line.account or "" for line in document_of(book).lines if line.values[3])
    change(book, account, 3, lambda amount: amount + 10)
    assert "R1" in rules(document_of(book))


def test_many_findings_of_a_rule_are_counted_and_not_all_told():
    book = grid(layout=Layout(combined=True, total=False, signatures=False))
    last = book.rows[-1].number
    for index in range(300):
        book.rows.append(LooseRow(last + 1 + index, [(0, f"76.{index:03d}, Счет", 0), (1, 5.0, 0)]))
    found = [check for check in document_of(book).checks if check.rule == "R1"]
    assert len(found) == 201
    assert found[-1].message.endswith("всего 300")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("subaccounts", [True, False])
def test_any_single_digit_changed_in_a_leaf_makes_a_named_check_fail(seed, subaccounts):
    """Every digit of every amount of every leaf: R1 finds it, since exactly one side of its
    equation moves.
    """
    random = Random(seed)
    book = grid_of(lay_out(make(random, share=0.4, subaccounts=subaccounts), Layout()))
    document = document_of(book)
    parents = {line.parent for line in document.lines}
    leaves = [line for line in document.lines if line.account and line.n not in parents]
    missed = []
    for line in random.sample(leaves, 4):
        for which, value in enumerate(line.values):
            text = value or ""
            for position, digit in enumerate(text):
                if not digit.isdigit():
                    continue
                other = random.choice([d for d in "0123456789" if d != digit])
                wrong = float(f"{text[:position]}{other}{text[position + 1 :]}")
                row, index = cell_of(book, line.account or "", which)
                column, right, style = book.rows[row].cells[index]
                book.rows[row].cells[index] = (column, wrong, style)
                if not document_of(book).checks:
                    missed.append((line.account, which, text, wrong))
                book.rows[row].cells[index] = (column, right, style)
    assert missed == []
