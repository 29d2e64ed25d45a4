"""Lists of files by their filters: every page looks at a bounded number of rows."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from armka.core.database.paging import LOOK_AT, Keyset, page_of
from armka.core.database.pool import Connection
from armka.core.files.uploads import SQL
from armka.core.jobs.states import FileStatus


@dataclass(frozen=True)
class FileFilter:
    """Which files; all that is given must hold.

    `name` and `organisation` are parts of the words, in any case; `created_from` is inclusive,
    `created_to` is not; a document's period has a day in common with `period_from` to `period_to`.
    """

    status: FileStatus | None = None
    client_ref: str | None = None
    name: str | None = None
    organisation: str | None = None
    file_type: str | None = None
    error_code: str | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    withdrawn: bool = False
    period_from: date | None = None
    period_to: date | None = None

    def values(self) -> tuple[object, ...]:
        """The parameters $3 to $11 of the statements."""
        return (
            self.created_from,
            self.created_to,
            self.status,
            self.client_ref,
            self.withdrawn,
            self.file_type,
            self.error_code,
            self.name,
            self.organisation,
        )

    def period(self) -> tuple[date | None, date | None]:
        """The last two parameters of the statements."""
        return self.period_from, self.period_to

    @property
    def looks_inside(self) -> bool:
        """Whether it asks for what was read of a file."""
        return any(value is not None for value in (self.organisation, *self.period()))

    def index(self) -> tuple[str, bool]:
        """The statement whose index serves best, and whether it answers all that is asked."""
        others = (
            self.name,
            self.organisation,
            self.file_type,
            self.error_code,
            *self.period(),
        )
        is_all = all(value is None for value in others)
        if self.client_ref is not None:
            return SQL.look_of_client, is_all and self.status is None
        return (SQL.look if self.status is None else SQL.look_of_status), is_all


async def look(
    connection: Connection, wanted: FileFilter, after: Keyset, limit: int
) -> tuple[list[UUID], Keyset | None]:
    """A page of ids, newest first, and the keyset to read on from, where there may be more."""
    statement, is_all = wanted.index()
    # Into what was read of a file takes a second look.
    most = LOOK_AT // 2 if wanted.looks_inside else LOOK_AT
    look_at = limit if is_all else max(limit, most)
    values = (*after, *wanted.values(), look_at, limit, *wanted.period())
    rows = await connection.fetch(statement, *values)
    return page_of(rows, limit)
