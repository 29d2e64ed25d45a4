"""The SQL of the kit, by name: `-- name: the_name` begins a statement of `queries.sql`."""

import re
from importlib.resources import files

_TEXT = (files(__package__) / "queries.sql").read_text(encoding="utf-8")
_PIECES = re.split(r"^-- name: (\w+)$", _TEXT, flags=re.MULTILINE)[1:]
STATEMENTS = {
    name: body.strip().rstrip(";") for name, body in zip(_PIECES[::2], _PIECES[1::2], strict=True)
}
