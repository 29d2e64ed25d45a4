"""R6 kept up: pairs of documents are compared when either has changed, and read in their order.

A change (mapping, correction, withdrawal, a new attempt) leaves a mark for its client, written by
the database in the same transaction. Whoever takes the marks compares what is not compared yet in
the present revisions: the loop does, and so does whoever looks: nobody sees what was before.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import structlog

from armka.core.continuity import compare as r6
from armka.core.continuity.series import Row, Series, arranged
from armka.core.database.pool import Connection, Database, Record
from armka.core.database.queries import load
from armka.core.errors import FileNotFound

log = structlog.get_logger(__name__)
SQL = load(__package__)

_CLIENTS_AT_ONCE = 20
_PAIRS_AT_ONCE = 50
# Of one client: more are no longer a row of periods that a person looks at.
MOST_DOCUMENTS = 2_000
_DIFFERENCES_SHOWN = 500

PairId = tuple[UUID, UUID]


@dataclass(frozen=True)
class Link:
    """Two documents of which one goes on where the other ended, and what differs.

    `difference_count` leaves out what the year's reformation explains. None: not compared yet.
    """

    earlier: Row
    later: Row
    compared: int | None
    unread: int | None
    difference_count: int | None
    differences: list[Row]

    @property
    def ends(self) -> tuple[UUID, UUID]:
        """The ids of both documents."""
        return self.earlier["id"], self.later["id"]


@dataclass(frozen=True)
class Order:
    """A series with its links, in the order of the later documents."""

    series: Series
    links: list[Link]

    def links_of(self, document_id: UUID) -> list[Link]:
        """The links that a document is part of."""
        return [link for link in self.links if document_id in link.ends]

    def warnings(self, document_id: UUID) -> int:
        """How many accounts of a document do not go on, on either side of it."""
        return sum(link.difference_count or 0 for link in self.links_of(document_id))


class Continuity:
    """Puts documents in order."""

    def __init__(self, database: Database, poll_seconds: float = 2.0) -> None:
        self._database = database
        self._poll_seconds = poll_seconds

    async def run_once(self) -> float:
        """One whole cycle: some of the clients with marks; returns 0 while there may be more."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.marked, _CLIENTS_AT_ONCE)
        for row in rows:
            await self._settle(row["client_ref"])
        return 0.0 if rows else self._poll_seconds

    async def of_client(self, client_ref: str) -> list[Order]:
        """The documents of a client in their order; an unknown client has none."""
        await self._settle(client_ref)
        async with self._database.connection() as connection:
            return await _orders(connection, client_ref)

    async def of_document(self, file_id: UUID, ordinal: int) -> tuple[Order, Row] | None:
        """The series of a document that counts now, and itself; None where it is of none.

        Raises FileNotFound.
        """
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.document, file_id, ordinal)
        if row is None:
            raise FileNotFound(file_id)
        if row["client_ref"] is None or row["id"] is None:
            return None
        for order in await self.of_client(row["client_ref"]):
            for document in order.series.documents:
                if document["id"] == row["id"]:
                    return order, document
        return None

    async def clients(self, beginning: str, limit: int) -> list[str]:
        """Clients whose number begins so."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(SQL.clients, beginning, limit)
        return [row["client_ref"] for row in rows]

    async def _settle(self, client_ref: str) -> None:
        async with self._database.connection() as connection:
            if not await connection.fetchval(SQL.is_marked, client_ref):
                return

        async def work(connection: Connection) -> None:
            await connection.execute(SQL.take_turn, client_ref)
            await connection.execute(SQL.take_marks, client_ref)
            await _compare_new(connection, client_ref)

        await self._database.run(work)


async def _compare_new(connection: Connection, client_ref: str) -> None:
    documents = await _documents(connection, client_ref)
    wanted = {
        (earlier["id"], later["id"]): (earlier, later)
        for series in arranged(documents)
        for earlier, later in series.pairs
    }
    kept = {_id(row): row for row in await connection.fetch(SQL.pairs, client_ref)}
    stale = [
        pair for pair, row in kept.items() if pair not in wanted or _changed(row, wanted[pair])
    ]
    await connection.execute(SQL.forget, [one for one, _ in stale], [other for _, other in stale])
    new = [pair for pair in wanted if pair not in kept or pair in stale]
    lines = _Lines(connection)
    for pair in new[:_PAIRS_AT_ONCE]:
        await _keep(connection, client_ref, wanted[pair], await lines.compared(*wanted[pair]))
    if len(new) > _PAIRS_AT_ONCE:
        await connection.execute(SQL.mark, client_ref)
    log.info("documents put in order", client_ref=client_ref, pairs=len(wanted), compared=len(new))


def _id(row: Record) -> PairId:
    return row["earlier_id"], row["later_id"]


def _changed(row: Record, pair: tuple[Row, Row]) -> bool:
    now = pair[0]["revision"], pair[1]["revision"]
    return (row["earlier_revision"], row["later_revision"]) != now


class _Lines:
    """The account lines of documents, each read once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[UUID, list[Row]] = {}

    async def compared(self, earlier: Row, later: Row) -> r6.Comparison:
        """Compare two documents."""
        ended = r6.closing(await self._of(earlier), earlier["unit"], earlier["account"])
        begun = r6.opening(await self._of(later), later["unit"], later["account"])
        first = later["period_from"]
        is_new_year = (first.month, first.day) == (1, 1)
        step = r6.step_of((earlier["unit"], later["unit"]))
        return r6.compare(ended, begun, step, new_year=is_new_year)

    async def _of(self, document: Row) -> list[Row]:
        if document["id"] not in self._known:
            rows = await self._connection.fetch(SQL.lines, document["id"])
            self._known[document["id"]] = [dict(row) for row in rows]
        return self._known[document["id"]]


async def _keep(
    connection: Connection, client_ref: str, pair: tuple[Row, Row], found: r6.Comparison
) -> None:
    earlier, later = pair
    ids, told = (earlier["id"], later["id"]), found.differences
    count = sum(not one.is_reformation for one in told)
    revisions = earlier["revision"], later["revision"]
    await connection.execute(
        SQL.keep_pair, *ids, client_ref, *revisions, found.compared, found.unread, count
    )
    if told:
        columns = ("account", "name", "closing", "opening", "earlier_line", "later_line")
        values = [[getattr(one, column) for one in told] for column in columns]
        reformed = [one.is_reformation for one in told]
        ordinals = list(range(1, len(told) + 1))
        await connection.execute(SQL.keep_differences, *ids, ordinals, *values, reformed)


async def _documents(connection: Connection, client_ref: str) -> list[Row]:
    rows = await connection.fetch(SQL.documents, client_ref, MOST_DOCUMENTS)
    return [dict(row) for row in rows]


async def _orders(connection: Connection, client_ref: str) -> list[Order]:
    pairs = {_id(row): row for row in await connection.fetch(SQL.pairs, client_ref)}
    found: dict[PairId, list[Row]] = {}
    ids = list(zip(*pairs, strict=True)) or [(), ()]
    for row in await connection.fetch(SQL.differences, *map(list, ids), _DIFFERENCES_SHOWN):
        found.setdefault(_id(row), []).append(_difference(row))
    return [
        Order(series, [_link(pair, pairs, found) for pair in series.pairs])
        for series in arranged(await _documents(connection, client_ref))
    ]


def _difference(row: Record) -> dict[str, Any]:
    amount: Decimal = row["opening"] - row["closing"]
    return {**dict(row), "difference": amount}


def _link(
    pair: tuple[Row, Row], pairs: dict[PairId, Record], found: dict[PairId, list[Row]]
) -> Link:
    key = pair[0]["id"], pair[1]["id"]
    row = pairs.get(key)
    if row is None or _changed(row, pair):
        return Link(*pair, None, None, None, [])
    counts = row["compared"], row["unread"], row["difference_count"]
    return Link(*pair, *counts, found.get(key, []))
