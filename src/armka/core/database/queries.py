"""Named SQL: every room keeps its statements in a `queries.sql` beside its code.

A statement begins with `-- name: the_name`; the comment lines under it say what it is for. Nothing
is interpolated: values travel as `$1, $2, …` only.
"""

import re
from importlib.resources import files

_NAME = re.compile(r"^-- name: ([a-z][a-z0-9_]*)$", re.MULTILINE)


class Queries:
    """The statements of one file, as attributes."""

    def __init__(self, statements: dict[str, str]) -> None:
        self._statements = statements

    def __getattr__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise AttributeError(name) from None

    def items(self) -> list[tuple[str, str]]:
        """Every name with its statement."""
        return list(self._statements.items())


def load(package: str, file: str = "queries.sql") -> Queries:
    """Read a package's named statements."""
    text = (files(package) / file).read_text(encoding="utf-8")
    pieces = _NAME.split(text)[1:]
    return Queries(
        dict(zip(pieces[::2], (body.strip().rstrip(";") for body in pieces[1::2]), strict=True))
    )
