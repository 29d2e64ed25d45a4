"""Organisation, ИНН, unit and currency are taken from the lines above the table, as printed."""

import pytest

from armka.osv import trial_balance
from armka.osv.reports import UnitNotRead
from tests.books.layouts import Layout, lay_out
from tests.osv.grids import grid_of, ledger


def document_with(*cells_above, organisation_line=False, **layout):
    """A table under lines of cells, each a tuple of texts from column A on."""
    sheet = lay_out(
        ledger(subaccounts=False, step=100),
        Layout(above=len(cells_above), organisation_line=organisation_line, **layout),
    )
    for row, cells in enumerate(cells_above):
        for column, text in enumerate(cells):
            sheet.put(row, column, text)
    return trial_balance.read(grid_of(sheet)).documents[0]


@pytest.mark.parametrize(
    ("line", "name", "inn"),
    [
        (('ООО "Ромашка-Трейд"',), 'ООО "Ромашка-Трейд"', None),
        (("Ромашка ООО",), "Ромашка ООО", None),
        (('ООО "Ромашка", ИНН 7700000016',), 'ООО "Ромашка"', "7700000016"),
        (("Организация:", "Северный ветер АО"), "Северный ветер АО", None),
        (("Организация: АО «Луговое»",), "АО «Луговое»", None),
        (("ИП Незнамов А. А.", "ИНН/КПП", "770000000020"), "ИП Незнамов А. А.", "770000000020"),
        (("АО «Луговое»", "ИНН:", 7700000016), "АО «Луговое»", "7700000016"),
        (
            ("Общество с ограниченной ответственностью «Липа»",),
            "Общество с ограниченной ответственностью «Липа»",
            None,
        ),
        (("Торговый дом Липовый",), "Торговый дом Липовый", None),
    ],
)
def test_the_organisation_is_found(line, name, inn):
    organisation = document_with(line).organisation
    assert (organisation.name, organisation.inn) == (name, inn)


def test_without_an_organisation_there_is_none():
    assert document_with().organisation is None


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("Единица измерения: тыс. руб.", 1000),
        ("Ед. изм.: млн руб.", 1_000_000),
        ("(в тысячах рублей)", 1000),
        ("Единица измерения: руб.", 1),
        ("Отбор: нет", 1),
        ("Тысяча и одна ночь", 1),
    ],
)
def test_the_unit_is_found(line, unit):
    assert document_with((line,)).unit == unit


def test_the_unit_may_stand_in_the_header():
    groups = ("Сальдо на начало, тыс. руб.", "Обороты", "Сальдо на конец")
    assert document_with(groups=groups).unit == 1000


@pytest.mark.parametrize("lines", [("млрд руб.",), ("тыс. руб.", "млн руб.")])
def test_a_unit_that_cannot_be_carried_stops_the_reading(lines):
    with pytest.raises(UnitNotRead):
        document_with(*((line,) for line in lines))


@pytest.mark.parametrize(
    ("line", "currency"),
    [
        ("Валюта БУ, НУ: RUB", "RUB"),
        ("Валюта: USD", "USD"),
        ("Единица измерения: тыс. руб.", "RUB"),
        ("Выводимые данные: БУ", None),
    ],
)
def test_the_currency_is_found(line, currency):
    assert document_with((line,)).currency == currency


def test_title_and_period_are_found():
    document = document_with(("АО «Луговое»",))
    assert document.title == "Оборотно-сальдовая ведомость за 2023 г."
    assert document.period.text == "за 2023 г."


def test_what_is_missing_above_a_table_is_told():
    sheet = lay_out(ledger(), Layout(organisation_line=False, title="Ведомость"))
    warnings = trial_balance.read(grid_of(sheet)).warnings
    assert warnings == ["Лист «TDSheet»: над таблицей не найдено: название отчета, организация"]
