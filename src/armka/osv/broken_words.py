"""Words that a narrow header breaks: «Показа» over «тели», «Де-» over «бет». On a page nobody wrote
where the line was broken: the parts come as words of their own.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from armka.osv.labels import stub
from armka.osv.pages import Table
from armka.osv.smudged import header_rows
from armka.osv.wording import heading, side

_GAP = re.compile(r"(?<=\w)-? (?=\w)")
_LONGEST = 60


def joined(table: Table) -> Table:
    """The table with the labels of its header whole, where that makes them labels."""
    header = header_rows(table)
    cells = [
        msgspec.structs.replace(cell, text=_whole(cell.text)) if cell.row < header else cell
        for cell in table.cells
    ]
    return msgspec.structs.replace(table, cells=cells)


@lru_cache(maxsize=4096)
def _whole(text: str) -> str:
    if len(text) > _LONGEST or _is_label(text):
        return text
    return next(filter(_is_label, _joined_once(text)), text)


def _joined_once(text: str) -> Iterator[str]:
    for gap in _GAP.finditer(text):
        yield text[: gap.start()] + text[gap.end() :]


def _is_label(text: str) -> bool:
    return any(says(text) is not None for says in (stub, side, heading))
