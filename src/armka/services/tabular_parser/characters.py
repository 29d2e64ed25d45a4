"""Texts of a file, fit to go on: no characters that JSON or a database would choke on."""

import re

_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """Put U+FFFD in place of control characters and lone surrogates."""
    return _UNFIT.sub("\ufffd", text)


def unescape(text: str) -> str:
    """Undo the `_x000D_` escapes of XLSX, then clean."""
    if "_x" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)
    return clean(text)
