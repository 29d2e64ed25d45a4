"""The catalogs are whole, and what is kept of others' is what they published."""

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from io import BytesIO

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from armka.core.console import words

ROOM = files("armka.core.console")
HTMX = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130"  # htmx.org 4.0.1
PLACE = re.compile(r"%\(\w+\)[a-z]|\{\w+\}")


def _catalog() -> Catalog:
    return read_po(BytesIO((ROOM / "locale/ru.po").read_bytes()), locale="ru", abort_invalid=True)


def _asked() -> set[str | tuple[str, ...]]:
    """Every text of the templates, and what the history says."""
    pages = [("templates/**.html", "jinja2.ext:babel_extract")]
    history = str(files("armka.core.history"))
    found = [*extract_from_dir(str(ROOM), method_map=pages)]
    found += extract_from_dir(history, method_map=[("**.py", "python")], keywords={"say": None})
    return {text[2] for text in found}


def test_every_text_has_its_russian_and_nothing_is_left_over() -> None:
    """A text without a translation would be English on a Russian page."""
    catalog = _catalog()
    assert {message.id for message in catalog if message.id} == _asked()
    assert [message.id for message in catalog if message.id and message.fuzzy] == []


def test_translations_have_all_forms_and_all_places() -> None:
    """Three plurals; what is put in there is put in here."""
    for message in _catalog():
        if message.id:
            forms = list(_forms(message.string or ""))
            assert all(forms), message.id
            assert len(forms) == (3 if message.pluralizable else 1), message.id
            for form in forms:
                assert _places(form) == _places(next(_forms(message.id))), message.id


def _forms(text: str | tuple[str, ...] | list[str]) -> Iterator[str]:
    yield from [text] if isinstance(text, str) else text


def _places(text: str) -> set[str]:
    return set(PLACE.findall(text))


def test_numbers_and_days_are_written_as_people_here_write_them() -> None:
    """In the zone that was set, whatever the machine's is."""
    spoken = words.languages("Europe/Moscow")
    at = datetime(2026, 12, 1, 21, 30, tzinfo=UTC)
    assert spoken["ru"].moment(at) == "2 дек. 2026, 00:30"
    assert spoken["en"].moment(at) == "2 Dec 2026, 00:30"
    assert spoken["ru"].number(1234567) == "1\xa0234\xa0567"
    say = spoken["ru"].translations.ngettext
    counted = [say("%(num)d line", "%(num)d lines", n) % {"num": n} for n in (1, 2, 5, 11, 21)]
    assert counted == ["1 строка", "2 строки", "5 строк", "11 строк", "21 строка"]


def test_a_language_is_the_one_chosen_then_the_browsers_then_the_usual() -> None:
    """A cookie with anything else in it is as none."""
    assert words.chosen("en", "ru", "ru") == "en"
    assert words.chosen("xx", "en-GB,en;q=0.9", "ru") == "en"
    assert words.chosen(None, "de", "ru") == "ru"


def test_htmx_is_what_was_published() -> None:
    """With its licence beside it."""
    vendor = ROOM / "static/vendor"
    assert hashlib.sha256((vendor / "htmx.min.js").read_bytes()).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (vendor / "htmx.LICENSE").read_text()
