"""What is no trial balance, or one of a layout that is not read, is refused by name and never half
read.
"""

import pytest

from armka.osv import trial_balance
from armka.osv.reports import LayoutNotRead, NotTrialBalance
from tests.books.layouts import Layout, lay_out
from tests.books.sheets import Look, Sheet
from tests.osv.grids import grid_of, ledger


def read(sheet: Sheet):
    return trial_balance.read(grid_of(sheet))


@pytest.mark.parametrize(
    ("title", "looks_like"),
    [
        ("Карточка счета 51", "карточку счета"),
        ("Шахматная ведомость", "шахматную ведомость"),
        ("Отчет по проводкам", "отчет по проводкам"),
        ("Главная книга счета 60", "главную книгу"),
        ("Акт сверки взаимных расчетов", "акт сверки"),
        ("Бухгалтерский баланс", "бухгалтерский баланс (форма 1)"),
    ],
)
def test_another_report_is_called_by_its_name(title, looks_like):
    with pytest.raises(NotTrialBalance) as refused:
        read(lay_out(ledger(), Layout(title=title)))
    assert refused.value.looks_like == looks_like
    assert looks_like in refused.value.explanation


@pytest.mark.parametrize(
    ("title", "family"),
    [
        ("Оборотно-сальдовая ведомость по счету 60", "account_subconto"),
        ("Обороты счета 11", "account_turnover"),
        ("Анализ счета 51", "account_analysis"),
    ],
)
def test_a_known_layout_that_is_not_read_is_told_by_its_title(title, family):
    with pytest.raises(LayoutNotRead) as refused:
        read(lay_out(ledger(), Layout(title=title)))
    assert refused.value.family == family


@pytest.mark.parametrize(
    ("label", "family"),
    [
        ("Показа-\nтели", "indicators"),
        ("Вал.", "currency"),
        ("КФО", "budget"),
        ("Счет ЕПС", "nfo_eps"),
        ("Субконто", "upp"),
        ("Контрагенты", "account_subconto"),
    ],
)
def test_a_known_layout_that_is_not_read_is_told_by_its_header(label, family):
    sheet = lay_out(ledger(), Layout(first_column=1))
    header = min(row for (row, _), (value, _) in sheet.cells.items() if value == "Счет")
    sheet.put(header, 0, label)
    with pytest.raises(LayoutNotRead) as refused:
        read(sheet)
    assert refused.value.family == family


@pytest.mark.parametrize(
    ("label", "family"),
    [
        ("ООО «Контрагент»", "account_subconto"),
        ("НУ", "indicators"),
        ("USD", "currency"),
        ("Январь 2023", "periods"),
        ("3210, Авансы", "four_digit_plan"),
        ("201.11", "budget"),
        ("20501", "nfo_eps"),
    ],
)
def test_a_known_layout_that_is_not_read_is_told_by_a_row(label, family):
    book = ledger()
    sheet = lay_out(book, Layout(numeric_codes=False))
    row = next(row for (row, _), (value, _) in sheet.cells.items() if value == "51")
    sheet.put(row, 0, label)
    with pytest.raises(LayoutNotRead) as refused:
        read(sheet)
    assert refused.value.family == family
    assert (
        f"строк{'а' if 'имеет' in refused.value.explanation else 'е'} {row + 1}"
        in refused.value.explanation
    )


def test_a_table_with_more_amounts_than_six_is_not_read():
    sheet = lay_out(ledger(), Layout())
    header = min(row for (row, _), (value, _) in sheet.cells.items() if value == "Счет")
    sheet.put(header, 8, "Сальдо на конец периода (в валюте расчетов)")
    sheet.put(header + 1, 8, "Дебет")
    with pytest.raises(LayoutNotRead) as refused:
        read(sheet)
    assert refused.value.family == "currency"


@pytest.mark.parametrize("missing", ["Сальдо на начало периода", "Обороты за период"])
def test_a_table_without_a_heading_over_its_amounts_is_not_read(missing):
    sheet = lay_out(ledger(), Layout())
    place = next(place for place, (value, _) in sheet.cells.items() if value == missing)
    del sheet.cells[place]
    sheet.merges.clear()
    with pytest.raises((NotTrialBalance, LayoutNotRead)):
        read(sheet)


def test_a_table_without_a_column_of_accounts_is_not_read():
    sheet = lay_out(ledger(), Layout())
    place = next(place for place, (value, _) in sheet.cells.items() if value == "Счет")
    sheet.put(*place, "Статья расходов")
    with pytest.raises((NotTrialBalance, LayoutNotRead)):
        read(sheet)


def test_a_table_without_lines_is_not_read():
    book = ledger()
    book.accounts = []
    with pytest.raises(NotTrialBalance, match="ни одной строки"):
        read(lay_out(book, Layout()))


def test_a_sheet_of_anything_is_no_trial_balance():
    sheet = Sheet()
    for row in range(30):
        for column in range(9):
            sheet.put(row, column, f"{row}:{column}", Look(bold=True))
    with pytest.raises(NotTrialBalance, match="на листе нет таблицы"):
        read(sheet)


def test_a_second_table_of_another_kind_is_a_warning_beside_the_first():
    upper = lay_out(ledger(), Layout())
    lower = lay_out(ledger(), Layout(title="Обороты счета 11"))
    below = max(row for row, _ in upper.cells) + 3
    for (row, column), cell in lower.cells.items():
        upper.cells[row + below, column] = cell
    reading = read(upper)
    assert len(reading.documents) == 1
    assert "Обороты счета" in reading.warnings[-1]
