"""Names from outside: data to be shown, never part of a path or a key. Pure."""

import unicodedata

_LONGEST = 255


def clean(name: str) -> str:
    """The last component of a client's file name, without control and direction-changing characters."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(letter for letter in last if unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Zl", "Zp"})
    return shown.strip()[:_LONGEST] or "unnamed"
