"""Trial balances as JSON: documents with their lines, amounts as exact decimal strings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from armka.contract.vocabulary import Column
from armka.core.database.pool import Record
from armka.core.files.export import Corrected

_ABOUT = (
    *("ordinal", "kind", "group_schema", "title", "organisation_name", "organisation_inn"),
    *("period_from", "period_to", "period_text", "currency", "unit", "account"),
)
_OF_LINE = (
    *("n", "parent", "level", "kind", "account", "name", "indicator", "currency", "off_balance"),
    *("page", "sheet_row"),
)
_CORRECTED = ("first_value", "first_raw", "new_value", "made_by", "made_at")


class JsonSheet:
    """`{"documents": [{…, "lines": […]}]}`, written line by line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._file.write(b'{"documents":[')
        self._before_document = b""
        self._before_line = b""
        self._is_open = False

    def begin(self, document: Record) -> None:
        """What all lines of a document have in common."""
        self._end_document()
        about = msgspec.json.encode({name: document[name] for name in _ABOUT})
        self._file.write(self._before_document + about[:-1] + b',"lines":[')
        self._before_document, self._before_line, self._is_open = b",", b"", True

    def add(self, lines: list[Record], corrected: Corrected) -> None:
        """Each line with its six values, what is unknown of it and what was corrected."""
        for line in lines:
            made = msgspec.json.encode(_line(line, corrected.get(line["n"], {})))
            self._file.write(self._before_line + made)
            self._before_line = b",\n"

    def close(self) -> None:
        """End it all."""
        self._end_document()
        self._file.write(b"]}\n")
        self._file.close()

    def _end_document(self) -> None:
        if self._is_open:
            self._file.write(b"]}")
        self._is_open = False


def _line(line: Record, corrected: Mapping[str, Record]) -> dict[str, Any]:
    return {
        **{name: line[name] for name in _OF_LINE},
        "values": [line[column.value] for column in Column],
        "unknown": line["unknown"] or [],
        "corrected": {
            field: {name: row[name] for name in _CORRECTED} for field, row in corrected.items()
        },
    }
