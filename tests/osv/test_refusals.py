"""What is no trial balance is refused by name and never half read."""

import pytest

from armka.osv import trial_balance
from armka.osv.reports import NotTrialBalance
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


@pytest.mark.parametrize("missing", ["Сальдо на начало периода", "Обороты за период"])
def test_a_table_without_a_heading_over_its_amounts_is_not_read(missing):
    sheet = lay_out(ledger(), Layout())
    place = next(place for place, (value, _) in sheet.cells.items() if value == missing)
    del sheet.cells[place]
    sheet.merges.clear()
    with pytest.raises(NotTrialBalance):
        read(sheet)


def test_a_table_without_a_column_of_accounts_is_not_read():
    sheet = lay_out(ledger(), Layout())
    place = next(place for place, (value, _) in sheet.cells.items() if value == "Счет")
    sheet.put(*place, "Город")
    with pytest.raises(NotTrialBalance, match="нет колонки «Счет»"):
        read(sheet)


def test_more_amounts_than_six_are_not_read_where_nothing_tells_them_apart():
    sheet = lay_out(ledger(), Layout())
    header = min(row for (row, _), (value, _) in sheet.cells.items() if value == "Счет")
    sheet.put(header, 8, "Сальдо на конец периода")
    sheet.put(header + 1, 8, "Дебет")
    with pytest.raises(NotTrialBalance, match="больше шести колонок"):
        read(sheet)


@pytest.mark.parametrize(
    ("header", "row", "looks_like"),
    [
        (
            ["Период", "Документ", "Аналитика Дт", "Дебет", "Кредит", "Текущее сальдо"],
            ["10.01.2024", "Поступление 1", "", 5.0, "", 5.0],
            "карточку счета",
        ),
        (["Счет", "50", "51", "60", "62"], ["51", 1.0, 2.0, 3.0, 4.0], "шахматную ведомость"),
        (["Дата", "Документ", "Дт", "Кт", "Сумма"], ["1", "2", "51", "62", 5.0], "проводкам"),
    ],
)
def test_without_a_title_the_table_says_what_it_looks_like(header, row, looks_like):
    sheet = Sheet()
    for column, text in enumerate(header):
        sheet.put(2, column, text)
    for below in range(6):
        for column, value in enumerate(row):
            sheet.put(3 + below, column, value)
    with pytest.raises(NotTrialBalance) as refused:
        read(sheet)
    assert looks_like in (refused.value.looks_like or "")


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
    lower = lay_out(ledger(), Layout(title="Карточка счета 11"))
    below = max(row for row, _ in upper.cells) + 3
    for (row, column), cell in lower.cells.items():
        upper.cells[row + below, column] = cell
    reading = read(upper)
    assert len(reading.documents) == 1
    assert "карточку счета" in reading.warnings[-1]
