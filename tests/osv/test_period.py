"""Every wording of a period that 1С prints becomes dates, or stays a text where dates would be a
guess.
"""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.osv import period


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Оборотно-сальдовая ведомость за 2023 г.", "2023-01-01", "2023-12-31"),
        ("за 2023 год", "2023-01-01", "2023-12-31"),
        ("за 1 квартал 2024 г.", "2024-01-01", "2024-03-31"),
        ("за IV квартал 2024 года", "2024-10-01", "2024-12-31"),
        ("за 2-й квартал 2024", "2024-04-01", "2024-06-30"),
        ("за 9 месяцев 2024 г.", "2024-01-01", "2024-09-30"),
        ("за 1 полугодие 2025 г.", "2025-01-01", "2025-06-30"),
        ("за второе полугодие 2024 г.", "2024-07-01", "2024-12-31"),
        ("за Июль 2024 г.", "2024-07-01", "2024-07-31"),
        ("за февраль 2024 года", "2024-02-01", "2024-02-29"),
        ("за мая 2024", "2024-05-01", "2024-05-31"),
        ("Период: Июль 2024 г. - Июль 2025 г.", "2024-07-01", "2025-07-31"),
        ("за Январь - Март 2024 г.", "2024-01-01", "2024-03-31"),
        ("Период: 1 квартал 2024 г. – 3 квартал 2024 г.", "2024-01-01", "2024-09-30"),
        ("с 01.01.2024 по 30.06.2024", "2024-01-01", "2024-06-30"),
        ("за период с 01.01.2024 г. по 31.12.2024 г.", "2024-01-01", "2024-12-31"),
        ("с 1 января 2024 г. по 31 марта 2024 года", "2024-01-01", "2024-03-31"),
        ("за 01.01.2024 - 31.01.2024", "2024-01-01", "2024-01-31"),
        ("за 2022 г. - 2023 г.", "2022-01-01", "2023-12-31"),
        ("Период: 2024-01-01 - 2024-03-31", "2024-01-01", "2024-03-31"),
    ],
)
def test_a_wording_becomes_dates(text, first, last):
    found = period.find(text)
    assert found is not None
    assert (found.from_, found.to) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "text",
    [
        "за 4 квартал",
        "за 4 квартала 2024 г.",
        "за 31.02.2024",
        "с 01.06.2024 по 01.01.2024",
        "за 5 квартал 2024 г.",
    ],
)
def test_a_wording_without_certain_dates_stays_a_text(text):
    found = period.find(text)
    assert found is not None
    assert (found.text, found.from_, found.to) == (text, None, None)


def test_the_period_is_kept_as_printed():
    found = period.find("Оборотно-сальдовая ведомость за  Июль 2024 г. ")
    assert found is not None
    assert found.text == "за Июль 2024 г."


@pytest.mark.parametrize(
    "text", ["Оборотно-сальдовая ведомость", "за наличный расчет", "ООО «За рулем»", ""]
)
def test_other_texts_name_no_period(text):
    assert period.find(text) is None


@given(st.text())
def test_no_text_breaks_the_reading(text):
    period.find(f"за {text}")
