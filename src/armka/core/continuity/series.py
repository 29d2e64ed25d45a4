"""Which documents belong together, and how their periods lie. Pure.

Documents of a client are of one series where organisation, scope and currency are the same: general
trial balances follow each other, and those of account 60 follow those of account 60.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any

Row = Mapping[str, Any]

# So many are told of a series.
MOST_OVERLAPS = 100
_DAY = timedelta(days=1)
_FORMS = (
    ("общество с ограниченной ответственностью", "ооо"),
    ("публичное акционерное общество", "пао"),
    ("закрытое акционерное общество", "зао"),
    ("открытое акционерное общество", "оао"),
    ("непубличное акционерное общество", "ао"),
    ("акционерное общество", "ао"),
    ("индивидуальный предприниматель", "ип"),
    ("товарищество с ограниченной ответственностью", "тоо"),
)
_WORD = re.compile(r"\w+")
# Their accounts are of other charts: they go on among themselves only.
_OTHER_CHARTS = {"budget", "nfo_eps"}


class Overlap(StrEnum):
    """How two periods of a series lie over each other."""

    SAME = "same"
    WITHIN = "within"
    PARTLY = "partly"


@dataclass(frozen=True)
class Key:
    """What the documents of a series have in common; `organisation`: INN, or the name's words."""

    organisation: str
    scope: str
    currency: str


@dataclass(frozen=True)
class Series:
    """The documents of a series by their periods, and what lies between and over them."""

    key: Key
    documents: list[Row]
    pairs: list[tuple[Row, Row]]  # the second begins on the day after the first ends
    gaps: list[tuple[date, date]]  # first and last day that no document covers
    overlaps: list[tuple[Row, Row, Overlap]]


def arranged(documents: Sequence[Row]) -> list[Series]:
    """The documents of one client, which all have a period, as series."""
    inns = _inns(documents)
    found: dict[Key, list[Row]] = defaultdict(list)
    for document in documents:
        found[_key(document, inns)].append(document)
    ordered = [(key, sorted(own, key=_place)) for key, own in found.items()]
    ordered.sort(
        key=lambda one: (one[1][0]["organisation_name"] or "", one[0].scope, one[0].currency)
    )
    return [_series(key, own) for key, own in ordered]


def _place(document: Row) -> tuple[date, date, Any]:
    return document["period_from"], document["period_to"], document["uploaded_at"]


def _key(document: Row, inns: Mapping[str, str]) -> Key:
    words = words_of(document["organisation_name"])
    organisation = document["organisation_inn"] or inns.get(words, words)
    family, account = document["group_schema"], document["account"]
    scope = account or (family if family in _OTHER_CHARTS else "")
    return Key(organisation, scope, (document["currency"] or "RUB").upper())


def _inns(documents: Sequence[Row]) -> dict[str, str]:
    """By the words of a name: the one INN that goes with it; a name with two has none."""
    found: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        if document["organisation_inn"]:
            found[words_of(document["organisation_name"])].add(document["organisation_inn"])
    return {words: next(iter(inns)) for words, inns in found.items() if words and len(inns) == 1}


def words_of(name: str | None) -> str:
    """A name without quotes, case and order: «Ромашка» ООО is ООО "Ромашка"."""
    plain = (name or "").lower().replace("ё", "е")
    for long, short in _FORMS:
        plain = plain.replace(long, short)
    return " ".join(sorted(_WORD.findall(plain)))


def _series(key: Key, documents: list[Row]) -> Series:
    # Of several for one period, the last that was uploaded is the one that goes on.
    last = {(one["period_from"], one["period_to"]): one for one in documents}
    starts: dict[date, list[Row]] = defaultdict(list)
    for document in last.values():
        starts[document["period_from"]].append(document)
    pairs = [
        (earlier, later)
        for earlier in last.values()
        for later in starts.get(earlier["period_to"] + _DAY, ())
    ]
    overlaps = list(islice(_overlaps(documents), MOST_OVERLAPS))
    return Series(key, documents, pairs, _gaps(documents), overlaps)


def _gaps(documents: Sequence[Row]) -> list[tuple[date, date]]:
    gaps, covered = [], documents[0]["period_to"]
    for document in documents[1:]:
        if document["period_from"] > covered + _DAY:
            gaps.append((covered + _DAY, document["period_from"] - _DAY))
        covered = max(covered, document["period_to"])
    return gaps


def _overlaps(documents: Sequence[Row]) -> Iterator[tuple[Row, Row, Overlap]]:
    for number, first in enumerate(documents):
        for second in documents[number + 1 :]:
            if second["period_from"] > first["period_to"]:
                break
            yield first, second, _overlap(first, second)


def _overlap(first: Row, second: Row) -> Overlap:
    one = first["period_from"], first["period_to"]
    other = second["period_from"], second["period_to"]
    if one == other:
        return Overlap.SAME
    is_within = one[0] == other[0] or other[1] <= one[1]
    return Overlap.WITHIN if is_within else Overlap.PARTLY
