"""Attempts side by side: what was read otherwise, and corrections carried over."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from armka.core.carrying.lines import (
    Carried,
    Correction,
    LineChange,
    Value,
    Verdict,
    as_read,
    changes,
    judged,
)
from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import AttemptNotFound, FileNotFound, ValueRefused
from armka.core.review.corrections import Applied, Change, Corrections, Deed, etag_of
from armka.core.review.values import AMOUNT_FIELDS

SQL = load(__package__)

_PICKABLE = frozenset({Verdict.APPLIES, Verdict.CONFLICT})


@dataclass(frozen=True)
class DocumentChanges:
    """One document of both attempts; `ordinal` is the new one's, or the old one's where it is gone.

    `etag`: the new document's tag; None where the new attempt has no such document.
    """

    ordinal: int
    title: str
    etag: str | None
    changes: list[LineChange]
    carried: list[Carried]

    def of(self, verdict: str) -> list[Carried]:
        """The corrections with this verdict."""
        return [one for one in self.carried if one.verdict == verdict]


@dataclass(frozen=True)
class AttemptChanges:
    """The current attempt against an earlier one; `others`: earlier ones that read something."""

    file_id: UUID
    original_name: str
    status: str
    attempt: int
    against: int | None
    others: list[int]
    documents: list[DocumentChanges]


class Carrying:
    """Compares attempts, and carries corrections over."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._corrections = Corrections(database)

    async def compared(self, file_id: UUID, against: int | None = None) -> AttemptChanges:
        """The current attempt against an earlier one: the last with corrections, else the last.

        Raises FileNotFound; AttemptNotFound where the current attempt has read nothing, or the one
        that is named is no earlier one that has.
        """
        async with self._database.connection() as connection:
            current, others = await _attempts(connection, file_id)
            chosen = _chosen(file_id, others, against)
            pairs = await _pairs(connection, current["id"], chosen["id"]) if chosen else []
        return AttemptChanges(
            file_id=file_id,
            original_name=current["original_name"],
            status=current["status"],
            attempt=current["attempt"],
            against=chosen["attempt"] if chosen else None,
            others=[row["attempt"] for row in others],
            documents=[await asyncio.to_thread(pair.compared) for pair in pairs],
        )

    async def carry_over(
        self,
        file_id: UUID,
        ordinal: int,
        against: int | None,
        wanted: Collection[int] | None,
        deed: Deed,
    ) -> Applied:
        """Repeat corrections of an earlier attempt in the current one, through the same door as
        typed ones; None: all that apply.

        A conflict is carried over where it is named: the analyst picked it. Raises as
        `Corrections.apply`, and ValueRefused for one that cannot be carried over.
        """
        found = await self.compared(file_id, against)
        carried = [
            one
            for document in found.documents
            if document.ordinal == ordinal
            for one in document.carried
        ]
        picked = _picked(carried, wanted)
        edits = [
            Change(
                line,
                one.correction.field,
                one.correction.corrected.text,
                "carried_over",
                one.correction.id,
            )
            for one in picked
            if (line := one.line) is not None
        ]
        return await self._corrections.apply(file_id, ordinal, edits, deed)


def _picked(carried: Sequence[Carried], wanted: Collection[int] | None) -> list[Carried]:
    if wanted is None:
        return [one for one in carried if one.verdict is Verdict.APPLIES]
    known = {one.correction.id: one for one in carried}
    for number in wanted:
        one = known.get(number)
        if one is None or one.verdict not in _PICKABLE:
            line, field = (one.correction.line, one.correction.field) if one else (0, "")
            why = "it is so already, or its line is gone" if one else f"no correction {number}"
            raise ValueRefused(line, field, "NOT_CARRIED_OVER", why)
    return [known[number] for number in wanted]


async def _attempts(connection: Connection, file_id: UUID) -> tuple[Record, list[Record]]:
    rows = await connection.fetch(SQL.attempts, file_id)
    current = next((row for row in rows if row["is_current"]), None)
    if current is None:
        if not await connection.fetchval(SQL.known, file_id):
            raise FileNotFound(file_id)
        raise AttemptNotFound(file_id, None)
    return current, [row for row in rows if not row["is_current"]]


def _chosen(file_id: UUID, others: Sequence[Record], against: int | None) -> Record | None:
    if against is not None:
        named = next((row for row in others if row["attempt"] == against), None)
        if named is None:
            raise AttemptNotFound(file_id, against)
        return named
    worked_on = next((row for row in others if row["corrections"]), None)
    return worked_on or next(iter(others), None)


@dataclass(frozen=True)
class _Pair:
    """A document of both attempts, with all that a comparison asks."""

    old: Record | None
    new: Record | None
    old_lines: list[dict[str, Any]]
    new_lines: list[dict[str, Any]]
    corrections: list[Correction]

    def compared(self) -> DocumentChanges:
        shown = self.new or self.old
        assert shown is not None, "a pair has a document"
        read = as_read(self.old_lines, self.corrections)
        return DocumentChanges(
            shown["ordinal"],
            shown["title"],
            etag_of(self.new["id"], self.new["revision"]) if self.new else None,
            list(changes(read, self.new_lines, self.corrections)),
            judged(read, self.new_lines, self.corrections),
        )


async def _pairs(connection: Connection, new_job: UUID, old_job: UUID) -> list[_Pair]:
    new = {row["ordinal"]: row for row in await connection.fetch(SQL.documents, new_job)}
    old = {row["ordinal"]: row for row in await connection.fetch(SQL.documents, old_job)}
    return [
        _Pair(
            old.get(ordinal),
            new.get(ordinal),
            await _lines(connection, old.get(ordinal)),
            await _lines(connection, new.get(ordinal)),
            await _made(connection, old.get(ordinal)),
        )
        for ordinal in sorted(new.keys() | old.keys())
    ]


async def _lines(connection: Connection, document: Record | None) -> list[dict[str, Any]]:
    if document is None:
        return []
    return [dict(row) for row in await connection.fetch(SQL.lines, document["id"])]


async def _made(connection: Connection, document: Record | None) -> list[Correction]:
    if document is None:
        return []
    rows = await connection.fetch(SQL.corrections, document["id"])
    return [
        Correction(
            row["id"],
            row["line"],
            row["field"],
            Value(_held(row["field"], row["read_value"]), row["was_unknown"]),
            Value(_held(row["field"], row["new_value"])),
        )
        for row in rows
    ]


def _held(field: str, text: str | None) -> str | Decimal | None:
    return Decimal(text) if text is not None and field in AMOUNT_FIELDS else text
