"""The printed trial balances in `samples/`, with what stands on their pages.

`PYTHONPATH=src python -m tests.pages.samples` writes them anew, the same each time; it needs the
fonts of `make system-deps`. Tests need the files alone.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.books.ledger import make
from tests.pages.degrading import encode, rasterise
from tests.pages.fonts import TUNED, find
from tests.pages.hostile import flate_bomb
from tests.pages.printing import Print, print_ledger

FOLDER = Path(__file__).parent / "samples"
NAMES = ("bordered", "light", "borderless", "one_column_turned")
BOMB_MEBIBYTES = 1024


@dataclass(frozen=True)
class Sample:
    """A PDF and the body rows of its pages."""

    name: str
    pdf: bytes
    pages: list[list[list[str]]]


def load(name: str) -> Sample:
    """Read a sample."""
    pages = json.loads((FOLDER / f"{name}.json").read_text())
    return Sample(name, (FOLDER / f"{name}.pdf").read_bytes(), pages)


def bomb() -> bytes:
    """A small PDF that unpacks to a gibibyte."""
    return (FOLDER / "bomb.pdf").read_bytes()


def picture() -> bytes:
    """A page as a small PNG."""
    return encode(rasterise(load("bordered").pdf, 50, [0])[0], ".png")


def _styles() -> dict[str, Print]:
    dejavu, sans, serif = TUNED[:3]
    return {
        "bordered": Print(find(sans[0]), find(sans[1]), is_landscape=True),
        "light": Print(find(serif[0]), find(serif[1]), rules="light", is_landscape=True),
        "borderless": Print(find(dejavu[0]), find(dejavu[1]), size=6.0, rules="none"),
        "one_column_turned": Print(
            find(sans[0]), find(sans[1]), combined=True, is_landscape=True, turned=90
        ),
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for number, (name, style) in enumerate(_styles().items()):
        printed = print_ledger(make(Random(700 + number), share=0.8, largest=10**10), style)
        (FOLDER / f"{name}.pdf").write_bytes(printed.pdf)
        rows = json.dumps(printed.pages, ensure_ascii=False, indent=None)
        (FOLDER / f"{name}.json").write_text(rows.replace("]], [[", "]],\n[["))
    (FOLDER / "bomb.pdf").write_bytes(flate_bomb(BOMB_MEBIBYTES))


if __name__ == "__main__":
    main()
