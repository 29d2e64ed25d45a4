"""The history of a file, gathered from the rows that each part left of it."""

from dataclasses import dataclass
from uuid import UUID

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import FileNotFound
from armka.core.history.advice import Advice, advice_for
from armka.core.history.timeline import Entry, Facts, Row, timeline

SQL = load(__package__)

# Of one document, and of one file: more says nothing more to a person.
_CHECKS, _MESSAGES, _ACTIONS = 1_000, 200, 1_000


@dataclass(frozen=True)
class History:
    """A file's row, its attempts first to last, their documents in short, and its timeline."""

    file: Row
    attempts: list[Row]
    documents: list[Row]
    entries: list[Entry]

    @property
    def advice(self) -> Advice | None:
        """What to do about the file's error, where it has one."""
        code = self.file["error_code"]
        return advice_for(code) if code else None

    @property
    def readers(self) -> set[UUID]:
        """The attempts that have read something."""
        return {row["recognition_job_id"] for row in self.documents}

    def read_in(self, job_id: UUID) -> list[Row]:
        """The documents of one attempt."""
        return [row for row in self.documents if row["recognition_job_id"] == job_id]


class Histories:
    """Reads histories."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, file_id: UUID) -> History:
        """Everything that happened to a file; raises FileNotFound."""
        async with self._database.connection() as connection:
            file = await connection.fetchrow(SQL.file, file_id)
            if file is None:
                raise FileNotFound(file_id)
            facts = await _facts(connection, file)
        return History(facts.file, list(facts.attempts), list(facts.documents), timeline(facts))


async def _facts(connection: Connection, file: Record) -> Facts:
    async def rows(statement: str, *values: object) -> list[Row]:
        return [dict(row) for row in await connection.fetch(statement, *values)]

    attempts = await rows(SQL.attempts, file["id"])
    jobs = [row["id"] for row in attempts]
    documents = await rows(SQL.documents, jobs)
    return Facts(
        file=dict(file),
        attempts=attempts,
        events=await rows(SQL.events, jobs),
        documents=documents,
        checks=await rows(SQL.checks, [row["id"] for row in documents], _CHECKS),
        unmapped=await rows(SQL.unmapped, jobs),
        rejected=await rows(SQL.rejected, jobs, _MESSAGES),
        audit=await rows(SQL.audit, str(file["id"]), _ACTIONS),
        words=await rows(SQL.words, file["id"], _ACTIONS),
    )
