"""Fonts with Cyrillic letters on this machine."""

import sys
from pathlib import Path

_FOLDERS = (Path("/usr/share/fonts/truetype"), Path(sys.prefix) / "share/fonts")

# What the reader was tuned on, and what it is measured on: no font is in both.
TUNED = (
    ("dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf"),
    ("liberation/LiberationSans-Regular.ttf", "liberation/LiberationSans-Bold.ttf"),
    ("liberation/LiberationSerif-Regular.ttf", "liberation/LiberationSerif-Bold.ttf"),
    ("liberation/LiberationSansNarrow-Regular.ttf", "liberation/LiberationSansNarrow-Bold.ttf"),
    ("paratype/PTS55F.ttf", "paratype/PTS75F.ttf"),
    ("paratype/PTF55F.ttf", "paratype/PTF75F.ttf"),
)
MEASURED = (
    ("crosextra/Carlito-Regular.ttf", "crosextra/Carlito-Bold.ttf"),
    ("freefont/FreeSans.ttf", "freefont/FreeSansBold.ttf"),
    ("dejavu/DejaVuSerif.ttf", "dejavu/DejaVuSerif-Bold.ttf"),
    ("paratype/PTC55F.ttf", "paratype/PTC75F.ttf"),
)


class FontMissing(Exception):
    """The machine lacks a font; `make system-deps` brings it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no font {name}: run `make system-deps`")


def find(name: str) -> Path:
    """The file of a font; raises FontMissing."""
    for folder in _FOLDERS:
        if (folder / name).is_file():
            return folder / name
    raise FontMissing(name)
