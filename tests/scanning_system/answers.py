"""Pages as the scanning system answers with them, and what may come of them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from armka.contract.result import Line
from armka.contract.vocabulary import Column
from armka.services.scanning_system import answer

COLUMNS = list(Column)


def answered(pages: list[answer.Page]) -> dict[str, Any]:
    """The whole answer of these pages."""
    said = answer.Answer(answer.SCHEMA_VERSION, "doc-1", answer.Engine("test", "1"), pages, [])
    told: dict[str, Any] = msgspec.to_builtins(said)
    return told


def not_as_printed(line: Line, printed: Sequence[str | None]) -> list[str]:
    """The columns of a line that hold another amount than is printed there, and are not said to
    be unknown.
    """
    doubted = {unknown.column for unknown in line.unknown}
    return [
        column.value
        for column, value, told in zip(COLUMNS, line.values, printed, strict=True)
        if column not in doubted and value != told
    ]
