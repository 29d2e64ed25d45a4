"""Kept lines and kept checks, as the rules take them and as they are written back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from armka.contract.result import Check
from armka.contract.vocabulary import Column, LineKind, Severity
from armka.core.database.pool import Connection, Record
from armka.core.database.queries import load
from armka.core.review import values
from armka.osv.amounts import to_text
from armka.osv.checks import recheck
from armka.osv.checks.recheck import About
from armka.osv.checks.run import is_rest
from armka.osv.checks.tolerance import step_of
from armka.osv.entries import Entry

SQL = load(__package__)


@dataclass
class Line:
    """A kept line as it is checked and changed: `unknown` has what could not be read of it."""

    row: Record
    account: str | None
    name: str
    values: dict[str, Decimal | None]
    unknown: list[dict[str, Any]]

    @classmethod
    def of(cls, row: Record) -> Self:
        """A line as it is kept."""
        amounts = {field: row[field] for field in values.AMOUNT_FIELDS}
        return cls(row, row["account"], row["name"], amounts, row["unknown"] or [])

    def copy(self) -> "Line":
        """The same line, to be changed."""
        return replace(self, values=dict(self.values), unknown=list(self.unknown))

    def put(self, field: str, value: str | None) -> bool:
        """Let a field have this value; whether it had another one."""
        if field in values.TEXT_FIELDS:
            had, now = self.text_at(field), value or ("" if field == "name" else None)
            setattr(self, field, now)
            return had != now
        amount, unknown = values.decimal_of(value), self.unknown_at(field)
        had_amount = self.values[field]
        self.values[field] = amount
        self.unknown = [cell for cell in self.unknown if cell["column"] != field]
        return unknown is not None or had_amount != amount

    def text_at(self, field: str) -> str | None:
        """A field's value as it is logged."""
        if field in values.AMOUNT_FIELDS:
            return values.text_of(self.values[field])
        return self.account if field == "account" else self.name

    def unknown_at(self, field: str) -> dict[str, Any] | None:
        """What is known of a value that could not be read."""
        return next((cell for cell in self.unknown if cell["column"] == field), None)

    def entry(self) -> Entry:
        """The line as the rules know it."""
        row = self.row
        scanned = row["boxes"] if row["kind"] in recheck.MAY_BE_PARTIAL else None
        return recheck.entry_of(
            n=row["n"],
            parent=row["parent"],
            level=row["level"],
            kind=LineKind(row["kind"]),
            account=self.account,
            name=self.name,
            indicator=row["indicator"],
            currency=row["currency"],
            off_balance=row["off_balance"],
            values=list(self.values.values()),
            unknown=[Column(cell["column"]) for cell in self.unknown],
            row=row["sheet_row"],
            places=row["cells"] or scanned,
        )


@dataclass(frozen=True)
class Kept:
    """The failed checks that are kept; `is_cut`: some rule has more than are told one by one."""

    checks: list[Check]

    @property
    def is_cut(self) -> bool:
        """Whether some are only counted."""
        return any(map(is_rest, self.checks))


async def kept_checks(connection: Connection, document_id: UUID) -> Kept:
    """The failed checks of a document."""
    rows = await connection.fetch(SQL.checks, document_id)
    return Kept(
        [
            Check(
                rule=row["rule"],
                severity=Severity(row["severity"]),
                lines=list(row["lines"]),
                column=row["value_column"] and Column(row["value_column"]),
                expected=_amount(row["expected"]),
                actual=_amount(row["actual"]),
                message=row["message"],
            )
            for row in rows
        ]
    )


def _amount(value: Decimal | None) -> str | None:
    """As the rules write it, so that the same amount is the same text."""
    amount = recheck.amount_of(value)
    return None if amount is None else to_text(amount)


def about_of(document: Record, decimals: int) -> About:
    """What the rules ask of a document; `decimals`: of the lines that are not checked."""
    source = document["source"]
    return About(
        unit=document["unit"],
        account=document["account"],
        period_to=document["period_to"],
        shape=(source.get("header") or {}).get("shape"),
        scanned=source.get("sheet") is None,
        decimals=decimals,
    )


def has_moved_the_step(before: Sequence[Line], after: Sequence[Line], decimals: int) -> bool:
    """Whether the last printed digit is another one after a change of lines."""
    was, now = [[line.entry() for line in lines] for lines in (before, after)]
    return step_of(was, decimals) != step_of(now, decimals)


def rechecked(
    about: About, kept: Kept, before: Sequence[Line], after: Sequence[Line]
) -> list[Check]:
    """The failed checks after a change of lines; it takes a while where they are many."""
    was = recheck.check([line.entry() for line in before], about)
    now = recheck.check([line.entry() for line in after], about)
    return recheck.recheck(kept.checks, was, now)


async def write_line(connection: Connection, document_id: UUID, line: Line) -> None:
    """Keep a line as it is now."""
    await connection.execute(
        SQL.write_line,
        document_id,
        line.row["n"],
        line.account,
        line.name,
        *line.values.values(),
        line.unknown or None,
    )


async def replace_checks(connection: Connection, document_id: UUID, found: list[Check]) -> None:
    """Keep these failed checks instead of those before."""
    await connection.execute(SQL.forget_checks, document_id)
    await connection.executemany(
        SQL.add_check,
        [
            (
                document_id,
                ordinal,
                one.rule,
                one.severity.value,
                one.lines,
                one.column.value if one.column else None,
                values.decimal_of(one.expected),
                values.decimal_of(one.actual),
                one.message,
            )
            for ordinal, one in enumerate(found, start=1)
        ],
    )


def counts(found: list[Check]) -> tuple[int, int]:
    """How many errors and warnings."""
    errors = sum(one.severity is Severity.ERROR for one in found)
    return errors, len(found) - errors
