"""Pages along a keyset: newest first, and every page looks at a bounded number of rows.

A statement that looks returns what it found (`is_found`) and, where it stopped before the end, the
last row that it looked at. So a rare value is searched for in many short requests, never in one
long one.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from armka.core.database.pool import Record

Keyset = tuple[datetime | None, UUID | None]

# So many rows are looked at for one page where a filter has no index of its own.
LOOK_AT = 20_000


def page_of(rows: Sequence[Record], limit: int) -> tuple[list[UUID], Keyset | None]:
    """The ids that were found, and the keyset to read on from, where there may be more."""
    found = [row for row in rows if row["is_found"]]
    last_looked = [row for row in rows if not row["is_found"]]
    end = found[-1] if len(found) == limit else next(iter(last_looked), None)
    return [row["id"] for row in found], (end["created_at"], end["id"]) if end else None
