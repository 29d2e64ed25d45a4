"""Names from outside: data to be shown, never part of a path or a key. Pure."""

import unicodedata
from pathlib import PurePosixPath

_LONGEST = 255
_LONGEST_SUFFIX = 10
# Controls, direction and other formats, surrogates, line and paragraph separators.
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def clean(name: str) -> str:
    """The last component of a client's file name, at most 255 characters, that can be shown.

    Without control and direction-changing characters; composed (NFC), as people type it. A name
    that is too long keeps its suffix.
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    visible = "".join(letter for letter in last if unicodedata.category(letter) not in _UNSHOWN)
    shown = unicodedata.normalize("NFC", visible).strip()
    if not shown.strip("."):
        return "unnamed"
    return shown if len(shown) <= _LONGEST else _shortened(shown)


def _shortened(name: str) -> str:
    suffix = PurePosixPath(name).suffix
    if len(suffix) > _LONGEST_SUFFIX:
        return name[:_LONGEST]
    return name[: _LONGEST - len(suffix)].rstrip() + suffix
