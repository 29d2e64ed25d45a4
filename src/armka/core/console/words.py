"""The console's languages. English is in the templates; the catalogs hold the others.

A catalog is read as it is written (`locale/*.po`), so that none can be stale.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from importlib.resources import files
from zoneinfo import ZoneInfo

from babel import Locale, negotiate_locale
from babel.dates import format_date, format_datetime
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from babel.support import NullTranslations, Translations

CODES = ("ru", "en")
NAMES = {"ru": "Русский", "en": "English"}


@dataclass(frozen=True)
class Language:
    """One language: its words, its dates and numbers."""

    code: str
    translations: NullTranslations
    zone: ZoneInfo

    @property
    def _locale(self) -> Locale:
        return Locale(self.code)

    def moment(self, at: datetime) -> str:
        """Day and time, as people here write them."""
        return format_datetime(at, "d MMM y, HH:mm", tzinfo=self.zone, locale=self._locale)

    def day(self, at: datetime) -> str:
        """The day alone."""
        return format_datetime(at, "d MMMM y", tzinfo=self.zone, locale=self._locale)

    def clock(self, at: datetime) -> str:
        """The time of day, to the second."""
        return format_datetime(at, "HH:mm:ss", tzinfo=self.zone, locale=self._locale)

    def date(self, on: date) -> str:
        """A day of the calendar, in no zone."""
        return format_date(on, "d MMM y", locale=self._locale)

    def amount(self, value: str | Decimal) -> str:
        """A decimal as people here write sums, exact."""
        return format_decimal(Decimal(value), "#,##0.00####", locale=self._locale)

    def number(self, value: int) -> str:
        """A number with its groups."""
        return format_decimal(value, locale=self._locale)


def languages(zone: str) -> Mapping[str, Language]:
    """All languages, by code."""
    return {code: Language(code, _translations(code), ZoneInfo(zone)) for code in CODES}


def _translations(code: str) -> NullTranslations:
    if code == "en":
        return NullTranslations()
    source = (files(__package__) / "locale" / f"{code}.po").read_bytes()
    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(source), locale=code, abort_invalid=True))
    compiled.seek(0)
    return Translations(compiled)


def chosen(cookie: str | None, accepted: str, usual: str) -> str:
    """The language of a request: chosen before, else the browser's, else the usual one."""
    if cookie in CODES:
        return cookie
    wanted = [part.partition(";")[0].strip() for part in accepted.split(",")]
    return negotiate_locale(wanted, CODES, sep="-") or usual
