"""Bytes of a text file to text: by its mark, as UTF-8, or by the code page whose words it has."""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What Windows, DOS and Unix of a Russian office wrote.
_CODE_PAGES = ("cp1251", "cp866", "koi8-r")
_WORDS = re.compile("счет|сальдо|оборот|дебет|кредит|период|итого|ведомост", re.IGNORECASE)
_SAMPLE = 200_000


def decode(data: bytes) -> str:
    """The text; bytes that mean nothing become U+FFFD, which is no part of an amount.

    What a page declares of itself is not asked for: it is often a copy of somebody else's head.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(max(_CODE_PAGES, key=lambda page: _words(data, page)), "replace")


def _words(data: bytes, page: str) -> int:
    """How many words of a trial balance the beginning has in this code page."""
    return len(_WORDS.findall(data[:_SAMPLE].decode(page, "replace")))
