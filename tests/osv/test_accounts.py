"""Account codes as 1С writes them."""

import pytest

from armka.osv import accounts
from armka.osv.accounts import Account
from armka.osv.chart import Plan


@pytest.mark.parametrize(
    ("text", "account"),
    [
        ("60", Account("60")),
        ("60.01", Account("60.01")),
        ("60.01, Расчеты с поставщиками", Account("60.01", "Расчеты с поставщиками")),
        ("90.01.1,\nВыручка", Account("90.01.1", "Выручка")),
        ("76.АВ, НДС по авансам", Account("76.АВ", "НДС по авансам")),
        ("20.Н", Account("20.Н")),
        ("МЦ.04", Account("МЦ.04")),
        ("51 Расчетные счета", Account("51", "Расчетные счета")),
        ("000", Account("000")),
    ],
)
def test_codes_are_read(text, account):
    assert accounts.parse(text) == account


@pytest.mark.parametrize(
    "text",
    ["Итого", "ООО Ромашка", "31.12.2024", "31 декабря 2024", "2024 год", "1 квартал 2024 г.", ""],
)
def test_other_texts_are_no_codes(text):
    assert accounts.parse(text) is None


@pytest.mark.parametrize("code", ["001", "012.01", "МЦ.04", "ГТД"])
def test_off_balance_codes(code):
    assert accounts.is_off_balance(code)


@pytest.mark.parametrize("code", ["01", "60.01", "000", "76.АВ"])
def test_on_balance_codes(code):
    assert not accounts.is_off_balance(code)


def test_a_code_names_the_accounts_above_it():
    assert accounts.ancestors("90.01.1") == ("90.01", "90")


@pytest.mark.parametrize("code", ["1", "5.01"])
def test_a_code_that_lost_its_zero_is_of_no_known_form(code):
    assert not accounts.is_known_form(code)


def test_in_the_budget_chart_rounded_codes_stand_over_the_others():
    assert accounts.ancestors("101.34", Plan.BUDGET) == ("101.30", "101.00", "101")


@pytest.mark.parametrize(
    ("codes", "plan"),
    [
        (["60", "60.01", "001", "51"], Plan.COMMERCIAL),
        (["2", "201.11", "302.31", "21"], Plan.BUDGET),
        (["3210", "1010"], Plan.FOUR_DIGITS),
        (["20501", "47401"], Plan.NFO),
        ([], Plan.COMMERCIAL),
    ],
)
def test_the_chart_of_accounts_is_told_by_the_codes(codes, plan):
    assert accounts.plan_of(codes) is plan
