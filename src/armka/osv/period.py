"""The period of a report, from the words that 1С prints: «за 9 месяцев 2024 г.» to two dates."""

import re
from calendar import monthrange
from datetime import date, timedelta

from armka.contract.result import Period
from armka.osv.wording import plain

_MONTHS = ("янв", "фев", "мар", "апр", "ма[йя]", "июн", "июл", "авг", "сен", "окт", "ноя", "дек")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[а-я]*"
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
_YEAR = r"(?P<year>(?:19|20)\d\d)(?: ?(?:г\b\.?|года?\b))?"
_NUMBER = r"(?P<number>\d{1,2}|i{1,3}|iv)(?:-?(?:[йяеи]|ый|ое|ого))?"

# One stretch of time each; the year may stand once for both ends («за январь - март 2024 г.»).
_STRETCHES = [
    re.compile(r"(?P<day>\d{1,2})[./](?P<numeral>\d{1,2})[./](?P<year>(?:19|20)\d\d)(?: ?г\b\.?)?"),
    re.compile(r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"),
    re.compile(rf"(?P<day>\d{{1,2}}) {_MONTH}(?: {_YEAR})?"),
    re.compile(
        rf"(?P<several>[2-4] квартала)(?: {_YEAR})?"
    ),  # the whole year, or the last quarter: who knows
    re.compile(rf"{_NUMBER} (?P<span>кв|полугод|месяц|мес\b)[а-я]*\.?(?: {_YEAR})?"),
    re.compile(rf"(?P<half>перв|втор)\w+ (?P<span>полугод)\w*(?: {_YEAR})?"),
    re.compile(rf"{_MONTH}(?: {_YEAR})?"),
    re.compile(rf"(?P<bare>{_YEAR})"),
]
_LINK = re.compile(r" ?(?:[-–—]|по) ?")
_MAY_BE_ALONE = re.compile(
    rf"(?:за |с |период:? )?(?:(?:{'|'.join(_MONTHS)})|[1-4]-?й? ?(?:кв|пол)|i|перв|втор"
    r"|\d\d\.\d\d\.\d{4}|(?:19|20)\d\d)"
)
_LONGEST_ALONE = 40
_MONTH_NAMES = frozenset(
    [
        *("январь", "февраль", "март", "апрель", "май", "июнь"),
        *("июль", "август", "сентябрь", "октябрь", "ноябрь", "декабрь"),
    ]
)
_LEAD = re.compile(r"\b(?:за|с|период\w*|по данным за)\b:? *")

_Ends = tuple[date, date]
_Stretch = dict[str, str]


def find(text: str) -> Period | None:
    """The period that a line of text names; with dates where they are certain, None where it names
    none.
    """
    words = plain(text)
    for lead in _LEAD.finditer(words):
        stretches, end = _stretches(words, lead.end())
        if stretches:
            return _period(stretches, text, words, lead.start(), end)
    return None


def alone(text: str) -> Period | None:
    """The period that a cell names by itself, as columns and rows of months do: «Январь 2024»."""
    words = plain(text)
    if len(words) > _LONGEST_ALONE or not _MAY_BE_ALONE.match(words):
        return None
    lead = _LEAD.match(words)
    start = lead.end() if lead else 0
    stretches, end = _stretches(words, start)
    if not stretches or end < len(words):
        return None
    found = _period(stretches, text, words, start, end)
    return found if found.from_ or words in _MONTH_NAMES else None


def _stretches(words: str, position: int) -> tuple[list[_Stretch], int]:
    """One or two stretches that begin right here, and where they end."""
    first, position = _stretch(words, position)
    if first is None:
        return [], position
    link = _LINK.match(words, position)
    second, end = _stretch(words, link.end()) if link else (None, position)
    return ([first], position) if second is None else ([first, second], end)


def _stretch(words: str, position: int) -> tuple[_Stretch | None, int]:
    for pattern in _STRETCHES:
        match = pattern.match(words, position)
        if match:
            return {name: text for name, text in match.groupdict().items() if text}, match.end()
    return None, position


def _period(found: list[_Stretch], text: str, words: str, start: int, end: int) -> Period:
    years = [stretch["year"] for stretch in found if "year" in stretch]
    ends = [_ends(stretch, int(years[-1]) if years else None) for stretch in found]
    printed = _printed(text, words, start, end)
    first, last = ends[0], ends[-1]
    if first is None or last is None or first[0] > last[1]:
        return Period(text=printed)
    return Period(from_=first[0], to=last[1], text=printed)


def _printed(text: str, words: str, start: int, end: int) -> str:
    """The same words as they were printed; the whole line where mending moved them."""
    tidy = " ".join(text.split())
    return tidy[start:end].strip() if len(tidy) == len(words) else tidy


def _ends(stretch: _Stretch, other_year: int | None) -> _Ends | None:
    try:
        if "iso" in stretch:
            return (date.fromisoformat(stretch["iso"]),) * 2
        year = int(stretch["year"]) if "year" in stretch else other_year
        return None if year is None else _in_year(stretch, year)
    except ValueError:
        return None


def _in_year(stretch: _Stretch, year: int) -> _Ends | None:
    if "several" in stretch:
        return None
    if "span" in stretch:
        return _span(stretch, year)
    month = _month(stretch)
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if "day" in stretch:
        return (date(year, month, int(stretch["day"])),) * 2
    return date(year, month, 1), _last_day(year, month)


def _span(stretch: _Stretch, year: int) -> _Ends | None:
    if "half" in stretch:
        number = 1 if stretch["half"] == "перв" else 2
    else:
        number = _ROMAN.get(stretch["number"]) or int(stretch["number"])
    if stretch["span"].startswith("мес"):
        return (date(year, 1, 1), _last_day(year, number)) if 1 <= number <= 12 else None
    months = 3 if stretch["span"] == "кв" else 6
    last = number * months
    return (
        (date(year, last - months + 1, 1), _last_day(year, last))
        if number >= 1 and last <= 12
        else None
    )


def _month(stretch: _Stretch) -> int | None:
    if "numeral" in stretch:
        return int(stretch["numeral"])
    if "month" not in stretch:
        return None
    return 1 + next(index for index, stem in enumerate(_MONTHS) if re.match(stem, stretch["month"]))


def _last_day(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def of_serial(number: float) -> str:
    """A date as a spreadsheet stores it, as it is printed: 45301 is 10.01.2024."""
    if not 1 <= number < 2958466:
        return str(number)
    return f"{date(1899, 12, 30) + timedelta(days=int(number)):%d.%m.%Y}"
