"""Corrections: values changed under the revision that the analyst saw, their checks recomputed in
the same transaction.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

import structlog

from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import (
    DocumentNotFound,
    FileNotFound,
    FileWithdrawn,
    NotUnderReview,
    RevisionMoved,
    RevisionNeeded,
    ValueRefused,
)
from armka.core.files.idempotency import IdempotentRequest
from armka.core.identity import audit
from armka.core.identity.principal import Principal
from armka.core.jobs.states import FileStatus
from armka.core.review import checking, values
from armka.core.review.checking import Line
from armka.osv.checks.recheck import concerned

log = structlog.get_logger(__name__)
SQL = load(__package__)

MOST_AT_ONCE = 1000
_MOST_CHANGES_TOLD = 200
_SECONDS = "12s"  # of a document of a hundred thousand lines all may have to be checked

Origin = Literal["typed", "proposal", "carried_over"]


@dataclass(frozen=True)
class Change:
    """A field of a line and the value that it shall have, as it was typed; None: an empty cell.

    `carried_from`: the correction of an earlier attempt that this one repeats.
    """

    line: int
    field: str
    value: str | None
    origin: Origin = "typed"
    carried_from: int | None = None


@dataclass(frozen=True)
class Applied:
    """What became of changes: the revision that they led to, and the lines that they touched."""

    document_id: UUID
    revision: int
    lines: list[int]
    is_repeated: bool = False

    @property
    def etag(self) -> str:
        """The document's tag at that revision."""
        return etag_of(self.document_id, self.revision)


@dataclass(frozen=True)
class Deed:
    """Who changes a document, why, and what they had seen of it.

    `seen`: its tag; `told`: for whom a caller without a name of its own acts.
    """

    by: Principal
    seen: str | None
    reason: str | None = None
    told: str | None = None


def etag_of(document_id: UUID, revision: int) -> str:
    """The strong tag (RFC 9110) of a document at a revision."""
    return f'"{document_id}:{revision}"'


Choose = Callable[[Connection, Record], Awaitable[Sequence[Change]]]


class Corrections:
    """Corrects documents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply(
        self,
        file_id: UUID,
        ordinal: int,
        changes: Sequence[Change],
        deed: Deed,
        request: IdempotentRequest | None = None,
    ) -> Applied:
        """Make all these changes, or none: values, the log of them, checks, counts.

        Raises FileNotFound, DocumentNotFound, FileWithdrawn, NotUnderReview, RevisionNeeded,
        RevisionMoved, ValueRefused, KeyReused.
        """

        async def given(_connection: Connection, _document: Record) -> Sequence[Change]:
            return changes

        key = request and request.of(file_id, ordinal, changes, deed.reason)
        return await self._run(file_id, ordinal, given, deed, key)

    async def accept(
        self,
        file_id: UUID,
        ordinal: int,
        wanted: Collection[tuple[int, str]] | None,
        deed: Deed,
        request: IdempotentRequest | None = None,
    ) -> Applied:
        """Take the proposals for these unknown values, (line, field); None: all of the document.

        Raises as `apply`; ValueRefused also where there is no proposal for a value that is named.
        """

        async def proposed(connection: Connection, document: Record) -> Sequence[Change]:
            return await _proposals(connection, document["id"], wanted)

        named = sorted(wanted) if wanted is not None else None
        key = request and request.of(file_id, ordinal, named, deed.reason)
        return await self._run(file_id, ordinal, proposed, deed, key)

    async def _run(
        self,
        file_id: UUID,
        ordinal: int,
        choose: Choose,
        deed: Deed,
        key: IdempotentRequest | None,
    ) -> Applied:
        async def work(connection: Connection) -> Applied:
            if key is not None and not await key.claim(connection):
                return _repeated(await key.recall(connection))
            document = await _opened(connection, file_id, ordinal, deed)
            changes = await choose(connection, document)
            applied = await _apply(connection, file_id, document, changes, deed)
            if key is not None:
                kept = {"revision": applied.revision, "lines": applied.lines}
                await key.keep(connection, kept | {"document_id": str(applied.document_id)})
            return applied

        applied = await self._database.run(work)
        log.info(
            "document corrected",
            file_id=str(file_id),
            document=ordinal,
            revision=applied.revision,
            lines=len(applied.lines),
        )
        return applied


def _repeated(answer: Any) -> Applied:
    assert answer is not None, "a key that was taken has an answer"
    return Applied(UUID(answer["document_id"]), answer["revision"], answer["lines"], True)


async def lock_reviewed(connection: Connection, file_id: UUID) -> Record:
    """Lock a file that is to be worked on; raises FileNotFound, FileWithdrawn."""
    file = await connection.fetchrow(SQL.lock_file, file_id)
    if file is None:
        raise FileNotFound(file_id)
    if file["withdrawn_at"] is not None:
        raise FileWithdrawn(file_id)
    return file


async def _opened(connection: Connection, file_id: UUID, ordinal: int, deed: Deed) -> Record:
    """The document, locked, at the revision that was seen."""
    file = await lock_reviewed(connection, file_id)
    job_id = file["current_recognition_job_id"]
    document = await connection.fetchrow(SQL.lock_document, job_id, ordinal)
    if document is None:
        raise DocumentNotFound(file_id, ordinal, file["status"])
    if FileStatus(file["status"]) is not FileStatus.NEEDS_CHECK:
        raise NotUnderReview(file_id, file["status"])
    if deed.seen is None:
        raise RevisionNeeded
    now = etag_of(document["id"], document["revision"])
    if deed.seen != now:
        missed = await _missed(connection, document, deed.seen)
        raise RevisionMoved(now, document["revision"], missed)
    return document


async def _missed(connection: Connection, document: Record, seen: str) -> list[dict[str, object]]:
    """What the others changed since, where it is the same document at all."""
    document_id, _, revision = seen.strip('"').partition(":")
    if document_id != str(document["id"]) or not revision.isdecimal():
        return []
    since = min(int(revision), 2**31 - 1)
    rows = await connection.fetch(SQL.corrections_since, document["id"], since, _MOST_CHANGES_TOLD)
    return [
        {
            "line": row["line"],
            "field": row["field"],
            "old_value": row["old_value"],
            "new_value": row["new_value"],
            "made_by": row["made_by"],
            "made_at": row["made_at"].isoformat(),
        }
        for row in rows
    ]


async def _proposals(
    connection: Connection, document_id: UUID, wanted: Collection[tuple[int, str]] | None
) -> list[Change]:
    found = {
        (row["n"], cell["column"]): cell.get("suggested")
        for row in await connection.fetch(SQL.unknown_lines, document_id)
        for cell in row["unknown"]
    }
    if wanted is None:
        wanted = [place for place, proposal in found.items() if proposal is not None]
    changes = []
    for line, field in wanted:
        proposal = found.get((line, field))
        if proposal is None:
            raise ValueRefused(line, field, "NO_PROPOSAL", "there is no proposal: type the value")
        changes.append(Change(line, field, proposal, "proposal"))
    return changes


async def _apply(
    connection: Connection,
    file_id: UUID,
    document: Record,
    changes: Sequence[Change],
    deed: Deed,
) -> Applied:
    document_id, revision = document["id"], document["revision"]
    settled = [replace(it, value=values.kept(it.line, it.field, it.value)) for it in changes]
    await connection.execute(SQL.take_time, _SECONDS)
    kept = await checking.kept_checks(connection, document_id)
    corrected = {change.line for change in settled}
    before, decimals = await _concerned(connection, document, corrected, is_whole=kept.is_cut)
    after, made = _corrected(before, settled)
    if not made:
        return Applied(document_id, revision, [])
    states = list(before.values()), list(after.values())
    if document["unit"] != 1 and checking.has_moved_the_step(*states, decimals):
        before, decimals = await _concerned(connection, document, corrected, is_whole=True)
        after, made = _corrected(before, settled)
        states = list(before.values()), list(after.values())
    about = checking.about_of(document, decimals)
    found = await asyncio.to_thread(checking.rechecked, about, kept, *states)
    touched = sorted({change.line for change in made})
    for change in made:
        await _record(connection, document, before[change.line], change, deed)
    for n in touched:
        await checking.write_line(connection, document_id, after[n])
    await checking.replace_checks(connection, document_id, found)
    settled_unknown = sum(len(before[n].unknown) - len(after[n].unknown) for n in touched)
    counts = checking.counts(found)
    left = document["unknown_count"] - settled_unknown
    revision = await connection.fetchval(SQL.next_revision, document_id, *counts, left)
    await connection.execute(SQL.touch_file, file_id)
    await audit.record(
        connection,
        deed.by,
        "document.corrected",
        file_id,
        reason=deed.reason,
        document=document["ordinal"],
        revision=revision,
        values=len(made),
    )
    return Applied(document_id, revision, touched)


def _corrected(
    before: dict[int, Line], changes: Sequence[Change]
) -> tuple[dict[int, Line], list[Change]]:
    """The lines with these changes, and those changes that change anything."""
    after = {n: line.copy() for n, line in before.items()}
    return after, [change for change in changes if _changed(after, change)]


async def _concerned(
    connection: Connection, document: Record, corrected: set[int], *, is_whole: bool
) -> tuple[dict[int, Line], int]:
    """The lines that the checks must see, by their numbers, and how many decimals the others have.

    All of them where there were more findings than are kept, or where what a report in thousands
    is rounded to has changed.
    """
    skeleton = [
        (row["n"], row["parent"], row["kind"])
        for row in await connection.fetch(SQL.skeleton, document["id"])
    ]
    near = [n for n, _, _ in skeleton] if is_whole else list(concerned(skeleton, corrected))
    rows = await connection.fetch(SQL.lines_named, document["id"], near)
    decimals = 0
    if document["unit"] != 1 and len(near) < len(skeleton):
        decimals = await connection.fetchval(SQL.decimals_elsewhere, document["id"], near)
    return {row["n"]: Line.of(row) for row in rows}, decimals


def _changed(lines: dict[int, Line], change: Change) -> bool:
    """Make a change; whether anything is otherwise after it."""
    line = lines.get(change.line)
    if line is None or change.field not in values.FIELDS:
        raise ValueRefused(change.line, change.field, "NO_SUCH_VALUE", "there is no such value")
    return line.put(change.field, change.value)


async def _record(
    connection: Connection, document: Record, before: Line, change: Change, deed: Deed
) -> None:
    unknown = before.unknown_at(change.field)
    await connection.execute(
        SQL.record_correction,
        document["id"],
        document["revision"] + 1,
        change.line,
        change.field,
        before.text_at(change.field),
        change.value,
        unknown is not None,
        unknown,
        change.origin,
        deed.by.acting(deed.told),
        deed.by.id,
        deed.reason,
        change.carried_from,
    )
