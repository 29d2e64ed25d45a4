"""Names from outside are data to be shown (B37)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.core.files.names import clean


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("ОСВ за 2023 год «Ромашка».xlsx", "ОСВ за 2023 год «Ромашка».xlsx"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("C:\\Документы\\ОСВ.xls", "ОСВ.xls"),
        ("%2e%2e%2fresults%2fx.xlsx", "%2e%2e%2fresults%2fx.xlsx"),
        ("a\0b\r\nSet-Cookie: x.xlsx", "abSet-Cookie: x.xlsx"),
        ("отчёт\u202exslx.exe", "отчётxslx.exe"),
        ("\ufeff ОСВ.xls ", "ОСВ.xls"),
        ("Отче\u0308т и\u0306.xls", "Отчёт й.xls"),
        ("..", "unnamed"),
        ("dir/", "unnamed"),
        ("", "unnamed"),
        ("ж" * 300 + ".xlsx", "ж" * 250 + ".xlsx"),
        ("a." + "b" * 300, "a." + "b" * 253),
    ],
)
def test_a_name_is_kept_right_without_what_deceives(given_name: str, kept: str) -> None:
    """Paths, controls and direction marks go; Cyrillic stays."""
    assert clean(given_name) == kept


@given(st.text(max_size=400))
def test_every_name_becomes_one_that_can_be_shown(name: str) -> None:
    """Not empty, not long, no separators, no controls; cleaning again changes nothing."""
    shown = clean(name)
    assert 1 <= len(shown) <= 255
    assert not set(shown) & set("/\\")
    assert not {unicodedata.category(letter) for letter in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert clean(shown) == shown
