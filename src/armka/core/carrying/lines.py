"""Lines of two readings of one document, side by side. Pure.

Lines are aligned by what they are about, never by their number: an account by its code, what stands
under it by its names. A value is compared as it was read; what analysts made of it comes on top.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from armka.contract.vocabulary import LineKind
from armka.core.review.values import FIELDS, text_of

Row = Mapping[str, Any]
Path = tuple[object, ...]


@dataclass(frozen=True)
class Value:
    """A value of a line: text, an exact amount, nothing, or unknown."""

    held: str | Decimal | None
    is_unknown: bool = False

    @property
    def text(self) -> str | None:
        """As it is shown and logged."""
        return text_of(self.held)


@dataclass(frozen=True)
class Correction:
    """What became of one value of a line by all corrections of it: what was read, what was made of
    it; `id`: the last one's.
    """

    id: int
    line: int
    field: str
    reading: Value
    corrected: Value


class Verdict(StrEnum):
    """What a correction of the old attempt is to the new one."""

    APPLIES = "applies"  # the same was read again
    ALREADY = "already"  # the new reading is what it was corrected to
    CONFLICT = "conflict"  # something else was read: a person picks
    GONE = "gone"  # there is no such line any more


@dataclass(frozen=True)
class Carried:
    """A correction with its verdict; `line`, `now`: the new attempt's line and its value there."""

    correction: Correction
    verdict: Verdict
    account: str | None
    name: str
    line: int | None
    now: Value


class Kind(StrEnum):
    """How a line differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class ValueChange:
    """A value that was read otherwise; `corrected`: what analysts made of the old reading."""

    field: str
    old: Value
    new: Value
    corrected: Value | None


@dataclass(frozen=True)
class LineChange:
    """A line that differs, with its numbers in both attempts."""

    kind: Kind
    account: str | None
    name: str
    old_line: int | None
    new_line: int | None
    values: list[ValueChange]


def value_of(line: Row, field: str) -> Value:
    """A line's value as it is now."""
    is_unknown = any(one["column"] == field for one in line["unknown"] or ())
    return Value(line[field], is_unknown)


def as_read(lines: Sequence[Row], corrections: Sequence[Correction]) -> list[Row]:
    """The lines as they were before anybody corrected them."""
    undone: dict[int, dict[str, Any]] = {}
    unknown: dict[int, list[dict[str, str]]] = {}
    for one in corrections:
        undone.setdefault(one.line, {})[one.field] = one.reading.held
        if one.reading.is_unknown:
            unknown.setdefault(one.line, []).append({"column": one.field})
    return [
        {
            **line,
            **undone.get(line["n"], {}),
            "unknown": [*(line["unknown"] or ()), *unknown.get(line["n"], ())],
        }
        for line in lines
    ]


def aligned(old: Sequence[Row], new: Sequence[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Pairs of lines about the same, in the order of the new attempt, then what is gone."""
    before, after = _by_path(old), _by_path(new)
    for path, line in after.items():
        yield before.get(path), line
    for path, line in before.items():
        if path not in after:
            yield line, None


def _by_path(lines: Sequence[Row]) -> dict[Path, Row]:
    paths: dict[int, Path] = {}
    seen: Counter[Path] = Counter()
    found: dict[Path, Row] = {}
    for line in lines:
        own = (
            line["kind"],
            line["account"] or _plain(line["name"]),
            line["indicator"],
            line["currency"],
        )
        is_account = line["kind"] == LineKind.ACCOUNT and line["account"]
        above = () if is_account else paths.get(line["parent"], ())
        path = (*above, own)
        paths[line["n"]] = path
        seen[path] += 1
        found[*path, seen[path]] = line
    return found


def _plain(name: str) -> str:
    return " ".join(name.lower().split())


def changes(
    old: Sequence[Row], new: Sequence[Row], corrections: Sequence[Correction]
) -> Iterator[LineChange]:
    """What the new attempt read otherwise than the old one; `old`: as it was read."""
    corrected = {(one.line, one.field): one.corrected for one in corrections}
    for before, after in aligned(old, new):
        if before is None and after is not None:
            yield _change(Kind.ADDED, None, after, [])
        elif after is None and before is not None:
            yield _change(Kind.REMOVED, before, None, [])
        elif before is not None and after is not None:
            values = [
                ValueChange(field, was, now, corrected.get((before["n"], field)))
                for field in FIELDS
                if (was := value_of(before, field)) != (now := value_of(after, field))
            ]
            if values:
                yield _change(Kind.CHANGED, before, after, values)


def _change(
    kind: Kind, before: Row | None, after: Row | None, values: list[ValueChange]
) -> LineChange:
    shown = after or before or {}
    numbers = before["n"] if before else None, after["n"] if after else None
    return LineChange(kind, shown["account"], shown["name"], *numbers, values)


def judged(
    old: Sequence[Row], new: Sequence[Row], corrections: Sequence[Correction]
) -> list[Carried]:
    """Every correction of the old attempt with what it is to the new one; `old`: as it was read."""
    partners = {before["n"]: after for before, after in aligned(old, new) if before is not None}
    lines = {line["n"]: line for line in old}
    return [_judged(one, lines[one.line], partners[one.line]) for one in corrections]


def _judged(one: Correction, before: Row, after: Row | None) -> Carried:
    names = before["account"], before["name"]
    if after is None:
        return Carried(one, Verdict.GONE, *names, None, Value(None))
    now = value_of(after, one.field)
    if now == one.corrected:
        verdict = Verdict.ALREADY
    elif now == one.reading:
        verdict = Verdict.APPLIES
    else:
        verdict = Verdict.CONFLICT
    return Carried(one, verdict, *names, after["n"], now)
